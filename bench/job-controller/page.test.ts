import { expect, it } from "vitest";
import { verdictOf } from "./page.ts";

const atLeast1 = (ratio: number): boolean => ratio >= 1;

it.each([
  ["every round meets it", [1.14, 1.18, 1.01], "yes"],
  ["the median meets it, but not every round does", [1.14, 1.18, 0.87, 0.89], "not shown"],
  ["the median misses it", [1.14, 0.87, 0.89], "**no**"],
])("a goal is met where %s: %j", (_, ratios, verdict) => {
  expect(verdictOf(ratios, atLeast1)).toBe(verdict);
});
