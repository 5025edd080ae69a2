import { expect, test } from "vitest";
import { semanticEqual } from "./equal.ts";

const cases: [string, string, unknown, unknown, boolean][] = [
  [
    "same amount, other spelling",
    "ResourceRequirements",
    { limits: { m: "1Gi" } },
    { limits: { m: "1073741824" } },
    true,
  ],
  ["other amount", "ResourceRequirements", { limits: { m: "1Gi" } }, { limits: { m: "1G" } }, false],
  ["other resource", "ResourceRequirements", { limits: { m: "1" } }, { limits: { n: "1" } }, false],
  ["empty map is none", "LabelSelector", { matchLabels: {} }, {}, true],
  ["empty list is none", "LabelSelector", { matchExpressions: [] }, {}, true],
  ["absent object is not an empty one", "JobSpec", { selector: {} }, {}, false],
  ["order of a list matters", "Container", { command: ["a", "b"] }, { command: ["b", "a"] }, false],
  ["longer list", "Container", { command: ["a"] }, { command: ["a", "b"] }, false],
  ["zero differs from absent", "JobSpec", { backoffLimit: 0 }, {}, false],
  [
    "order of fields does not matter",
    "SuccessPolicyRule",
    { succeededCount: 1, succeededIndexes: "0" },
    { succeededIndexes: "0", succeededCount: 1 },
    true,
  ],
];
test.each(cases)("%s", (_name, type, left, right, want) => {
  expect(semanticEqual(type, left, right)).toBe(want);
  expect(semanticEqual(type, right, left)).toBe(want);
});
