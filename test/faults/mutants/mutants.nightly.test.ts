/** The search is measured: each known bug, brought back, is found. Prints how many seeds that took, and what is named for it. */
import { afterAll, expect, it } from "vitest";
import { huntFor, isFound, lineOf } from "./hunt.ts";
import { MUTANTS } from "./mutants.ts";

const SEEDS = 2_000;
const table: string[] = [];
afterAll(() => console.log(["mutant | seeds needed | named", ...table].join("\n")));

it.each(MUTANTS)("$name: is found", { timeout: 3_600_000 }, async (mutant) => {
  const found = await huntFor(mutant, SEEDS);
  table.push(lineOf(mutant, found));
  expect(isFound(mutant, found), lineOf(mutant, found)).toBe(true);
});
