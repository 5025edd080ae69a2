import { INDEX_FAILURE_COUNT, INDEX_IGNORED_FAILURE_COUNT } from "@jobferry/shared/job/keys.ts";
import { describe, expect, it } from "vitest";
import { aJob, aPod } from "../testing/builders.ts";
import { IndexSet } from "./index-set.ts";
import { delayedPods, failureCountAnnotations, newlyFailedIndexes } from "./per-index.ts";

const policy = {
  rules: [
    { action: "Ignore" as const, onExitCodes: { operator: "In" as const, values: [42] } },
    { action: "FailIndex" as const, onExitCodes: { operator: "In" as const, values: [7] } },
  ],
};
const jobWith = (backoffLimitPerIndex: number) => aJob().indexed(5).spec({ backoffLimitPerIndex });
const counted = (failures: number, ignored = 0) => ({
  [INDEX_FAILURE_COUNT]: String(failures),
  ...(ignored > 0 && { [INDEX_IGNORED_FAILURE_COUNT]: String(ignored) }),
});

describe("newlyFailedIndexes", () => {
  const never = jobWith(0).build();
  const once = jobWith(1).build();
  const choosy = jobWith(1).spec({ podFailurePolicy: policy }).build();

  it.each([
    ["BI-4 limit 0, first failure", never, aPod(never).index(2).failed(), [2]],
    ["BI-4 limit 1, first failure", once, aPod(once).index(2).annotations(counted(0)).failed(), []],
    ["BI-4 limit 1, second failure", once, aPod(once).index(2).annotations(counted(1)).failed(), [2]],
    [
      "BI-5 unparsable count is 0",
      once,
      aPod(once)
        .index(2)
        .annotations({ [INDEX_FAILURE_COUNT]: "x" })
        .failed(),
      [],
    ],
    ["BI-3 FailIndex", choosy, aPod(choosy).index(1).failed({ exitCode: 7 }), [1]],
    ["BI-3 ignored", choosy, aPod(choosy).index(1).annotations(counted(1)).failed({ exitCode: 42 }), []],
    ["BI-3 no finalizer", never, aPod(never).index(2).failed().untracked(), []],
    ["BI-3 out of range", never, aPod(never).index(5).failed(), []],
    ["BI-3 not failed", never, aPod(never).index(2).phase("Running"), []],
    ["CT-4 deleted counts as failed", never, aPod(never).index(2).phase("Running").deleting(), [2]],
  ])("%s", (_, job, pod, want) => expect(newlyFailedIndexes(job, [pod.facts()])).toEqual(want));
});

describe("delayedPods (BI-7)", () => {
  const job = jobWith(3).build();
  const delayed = (pods: ReturnType<typeof aPod>[], { active = [1], succeeded = [2], failed = [3] } = {}) =>
    [
      ...delayedPods(
        pods.map((pod) => pod.facts(new Set(["uid-awaited"]))),
        new Set(active),
        IndexSet.from(succeeded),
        IndexSet.from(failed),
      ).values(),
    ].map(({ pod }) => pod.metadata.name);
  const failed = (name: string, index: number) => aPod(job, name).index(index).failed();

  it("keeps the failed pod of an index that nobody runs or has finished", () =>
    expect(delayed([failed("a", 0), failed("b", 1), failed("c", 2), failed("d", 3), failed("e", 4)])).toEqual([
      "a",
      "e",
    ]));

  it("needs the finalizer, a removal not asked for, and a failure", () =>
    expect(
      delayed([failed("a", 0).untracked(), failed("awaited", 0), aPod(job, "c").index(0).phase("Running")]),
    ).toEqual([]));

  it.each([
    ["more failures, later", counted(0), -9, counted(1), -5, "new"],
    ["equal failures, later", counted(1), -9, counted(1), -5, "new"],
    ["more failures, earlier", counted(0), -5, counted(1), -9, "old"],
    ["fewer failures, later", counted(2), -9, counted(1), -5, "old"],
    ["ignored failures count, too", counted(1), -9, counted(0, 1), -5, "new"],
  ])("of two: %s", (_, oldCounts, oldTime, newCounts, newTime, want) => {
    const older = aPod(job, "old").index(0).annotations(oldCounts).failed({ finished: oldTime });
    const newer = aPod(job, "new").index(0).annotations(newCounts).failed({ finished: newTime });
    expect(delayed([older, newer])).toEqual([want]);
  });
});

describe("failureCountAnnotations (BI-6, PC-9)", () => {
  const job = jobWith(3).spec({ podFailurePolicy: policy }).build();
  it.each([
    ["first pod of an index", undefined, counted(0)],
    ["after a counted failure", aPod(job).annotations(counted(1)).failed().facts(), counted(2)],
    ["after an ignored failure", aPod(job).annotations(counted(1)).failed({ exitCode: 42 }).facts(), counted(1, 1)],
    ["ignored failures are kept", aPod(job).annotations(counted(1, 2)).failed().facts(), counted(2, 2)],
  ])("%s", (_, delayed, want) => expect(failureCountAnnotations(job, delayed)).toEqual(want));
});
