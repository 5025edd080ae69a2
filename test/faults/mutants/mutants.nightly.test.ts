/** The search is measured: each known bug that it can express, brought back, is found. Prints by what, and after how many runs. */
import { afterAll, expect, it } from "vitest";
import { huntFor } from "./hunt.ts";
import { MUTANTS } from "./mutants.ts";

const SEEDS = 2_000;
const table: string[] = [];
afterAll(() => console.log(["mutant | found by | runs", ...table].join("\n")));

it.each(MUTANTS)("$name: is found", { timeout: 3_600_000 }, async (mutant) => {
  const { by, runs } = await huntFor(mutant, SEEDS);
  table.push(`${mutant.name} | ${by ?? "nothing"} | ${runs}`);
  expect(by).toBeDefined();
});
