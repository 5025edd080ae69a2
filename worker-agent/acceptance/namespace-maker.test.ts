import { expect, it } from "vitest";
import { matchesPattern } from "./namespace-maker.ts";

it.each([
  ["team-*", "team-a", true],
  ["team-*", "team-", true],
  ["team-*", "my-team-a", false],
  ["team-*", "team", false],
  ["*-ci", "web-ci", true],
  ["a*b*c", "axxbyyc", true],
  ["a*b*c", "axxc", false],
  ["ci", "ci", true],
  ["ci", "cix", false],
  ["*", "anything", true],
])("%s and %s: %s", (pattern, name, matches) => {
  expect(matchesPattern(["none", pattern], name)).toBe(matches);
});

it("no pattern, no namespace", () => {
  expect(matchesPattern([], "team-a")).toBe(false);
});
