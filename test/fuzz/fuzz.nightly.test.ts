/** The same as fuzz.test.ts with many more inputs, and others every night. JOBFERRY_FUZZ_SEED repeats a run. */
import { it } from "vitest";
import { fuzz } from "./fuzz.ts";
import { TARGETS } from "./targets.ts";

const { JOBFERRY_FUZZ_SEED: seed = String(Math.floor(Math.random() * 2 ** 31)), JOBFERRY_FUZZ_RUNS: runs = "20000" } =
  process.env;

it.each(Object.entries(TARGETS))(
  "%s",
  (name, target) => {
    const slowest = fuzz(target, { numRuns: Number(runs), seed: Number(seed) });
    console.log(`${name}: ${runs} inputs, seed ${seed}, slowest ${slowest.toFixed(1)} ms of CPU`);
  },
  1_800_000,
);
