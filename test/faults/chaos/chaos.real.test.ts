/** Chaos on real parts, for a minute. JOBFERRY_CHAOS_SEED repeats its choices (not its timing). */
import { expect, it } from "vitest";
import { lineOf, runChaos } from "./run.ts";

const { JOBFERRY_CHAOS_SEED = String(Date.now() % 1_000_000) } = process.env;

it("every Job has its one right outcome, whatever goes wrong every second", { timeout: 900_000 }, async () => {
  const result = await runChaos({ seed: Number(JOBFERRY_CHAOS_SEED), jobs: 100, seconds: 60 });
  console.log(lineOf(result));
  expect(result.problems, result.faults.join(", ")).toEqual([]);
});
