import { describe, expect, test } from "vitest";
import { checkIndexes, firstOverlap, indexesBelow, indexesOfBoth } from "./index-grammar.ts";

describe("valid index strings", () => {
  const cases: [string, string, number][] = [
    ["IG-1", "", 0],
    ["IG-2", "4", 1],
    ["IG-2", "1,3-5,7", 5],
    ["IG-3", "+1,002", 2],
    ["IG-6", "1,2,3", 3],
    ["IG-6", "1-2", 2],
    ["IG-6", "1-3,4", 4],
  ];
  test.each(cases)("%s %j has %i indexes", (_id, text, count) => {
    expect(checkIndexes(text, 10)).toEqual({ count });
  });
});

describe("invalid index strings", () => {
  const cases: [string, string][] = [
    ["IG-2", "1-2-3"],
    ["IG-2", "1,,2"],
    ["IG-2", ","],
    ["IG-3", "-1"],
    ["IG-3", "1, 2"],
    ["IG-3", "a"],
    ["IG-3", "1-"],
    ["IG-4", "10"],
    ["IG-4", "8-10"],
    ["IG-5", "3-3"],
    ["IG-5", "4-3"],
    ["IG-5", "3,3"],
    ["IG-5", "5,4"],
    ["IG-5", "1-3,3"],
  ];
  test.each(cases)("%s %j", (_id, text) => {
    expect(checkIndexes(text, 10)).toHaveProperty("error");
  });
});

describe("overlap of completed and failed (IG-8)", () => {
  const cases: [string, string, number | undefined][] = [
    ["", "1", undefined],
    ["1", "", undefined],
    ["0-3", "3,5", 3],
    ["0,2,4", "1,3,5", undefined],
    ["0-9", "4-5", 4],
    ["x,3", "3", 3],
    ["3", "y,3", 3],
    ["5", "12", undefined],
    ["4,1", "1", undefined],
  ];
  test.each(cases)("%j and %j -> %s", (completed, failed, want) => {
    expect(firstOverlap(completed, failed, 10)).toBe(want);
  });
});

describe("what is left of an index string when a Job has fewer indexes", () => {
  test.each([
    ["", 5, "", 0],
    ["0-4", 5, "0-4", 5],
    ["0-4", 2, "0,1", 2],
    ["0-4", 1, "0", 1],
    ["0-4", 0, "", 0],
    ["1,3-5,7", 5, "1,3,4", 3],
    ["1,3-5,7", 3, "1", 1],
    ["6-9", 3, "", 0],
  ])("%j of %i: %j", (text, completions, left, count) => {
    expect(indexesBelow(text, completions)).toEqual({ text: left, count });
    expect(checkIndexes(left, completions)).toEqual({ count });
  });
});

describe("indexesOfBoth", () => {
  test.each([
    ["", "", "", 0],
    ["0", "", "0", 1],
    ["0,2", "1", "0-2", 3],
    ["0-3", "2-5,9", "0-5,9", 7],
    ["7", "0,1", "0,1,7", 3],
  ])("of %j and %j is %j", (one, other, text, count) => {
    expect(indexesOfBoth(one, other)).toEqual({ text, count });
    expect(indexesOfBoth(other, one)).toEqual({ text, count });
  });
});
