import { expect, it } from "vitest";
import { aJob } from "../testing/builders.ts";
import { IndexSet } from "./index-set.ts";
import { successPolicyMessage } from "./success-policy.ts";

type Rule = { succeededIndexes?: string; succeededCount?: number };

it.each<[string, Rule[], number[], number | undefined]>([
  ["SP-2 nothing succeeded", [{ succeededCount: 0 }], [], undefined],
  ["SP-2 count 0 needs one success", [{ succeededCount: 0 }], [3], 0],
  ["SP-4 all indexes", [{ succeededIndexes: "0-2" }], [0, 1, 2], 0],
  ["SP-4 one missing", [{ succeededIndexes: "0-2" }], [0, 2, 5], undefined],
  ["SP-4 count among indexes", [{ succeededIndexes: "0-4", succeededCount: 2 }], [1, 3], 0],
  ["SP-4 count outside the indexes", [{ succeededIndexes: "0-4", succeededCount: 2 }], [1, 7, 8], undefined],
  ["SP-4 clamped to completions", [{ succeededIndexes: "8-20" }], [8, 9], 0],
  ["SP-4 empty string", [{ succeededIndexes: "" }], [0], undefined],
  ["SP-4 unparsable", [{ succeededIndexes: "x" }], [0], undefined],
  ["SP-5 count", [{ succeededCount: 2 }], [4, 9], 0],
  ["SP-5 count not reached", [{ succeededCount: 3 }], [4, 9], undefined],
  ["SP-3 first met rule", [{ succeededIndexes: "1" }, { succeededCount: 1 }], [0], 1],
  ["SP-1 no policy", [], [0], undefined],
])("%s", (_, rules, succeeded, want) => {
  const job = aJob().indexed(10).spec({ successPolicy: { rules } }).build();
  const message = want === undefined ? undefined : `Matched rules at index ${want}`;
  expect(successPolicyMessage(job, IndexSet.from(succeeded))).toBe(message);
});
