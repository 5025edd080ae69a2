import { describe, expect, test } from "vitest";
import { compileSelector, formatSelector, selectorMatches } from "./selector.ts";
import type { LabelSelector } from "./types.ts";

const labels = { app: "web", tier: "front" };

describe("matching", () => {
  const cases: [string, LabelSelector | undefined, boolean][] = [
    ["null selects nothing", undefined, false],
    ["empty selects everything", {}, true],
    ["matchLabels", { matchLabels: { app: "web" } }, true],
    ["every matchLabel", { matchLabels: { app: "web", tier: "back" } }, false],
    ["In", { matchExpressions: [{ key: "app", operator: "In", values: ["db", "web"] }] }, true],
    ["In, absent", { matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }, false],
    ["NotIn", { matchExpressions: [{ key: "app", operator: "NotIn", values: ["web"] }] }, false],
    ["NotIn, absent", { matchExpressions: [{ key: "zone", operator: "NotIn", values: ["a"] }] }, true],
    ["Exists", { matchExpressions: [{ key: "app", operator: "Exists" }] }, true],
    ["DoesNotExist", { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, false],
    ["both kinds", { matchLabels: { app: "web" }, matchExpressions: [{ key: "x", operator: "Exists" }] }, false],
    ["a key that objects inherit", { matchExpressions: [{ key: "constructor", operator: "Exists" }] }, false],
  ];
  test.each(cases)("%s", (_name, selector, want) => {
    expect(selectorMatches(selector, labels)).toBe(want);
  });
});

describe("malformed selectors do not compile", () => {
  const cases: LabelSelector[] = [
    { matchLabels: { "a b": "x" } },
    { matchLabels: { a: "x y" } },
    { matchExpressions: [{ key: "a", operator: "In", values: [] }] },
    { matchExpressions: [{ key: "a", operator: "Exists", values: ["x"] }] },
    { matchExpressions: [{ key: "a", operator: "Near" as "In", values: ["x"] }] },
  ];
  test.each(cases)("%j", (selector) => expect(compileSelector(selector)).toBeUndefined());
});

test("query form", () => {
  const selector: LabelSelector = {
    matchLabels: { a: "1" },
    matchExpressions: [
      { key: "b", operator: "In", values: ["x", "y"] },
      { key: "c", operator: "NotIn", values: ["z"] },
      { key: "d", operator: "Exists" },
      { key: "e", operator: "DoesNotExist" },
    ],
  };
  expect(formatSelector(selector)).toBe("a=1,b in (x,y),c notin (z),d,!e");
});
