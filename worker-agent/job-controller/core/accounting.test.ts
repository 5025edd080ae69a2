import type { Job } from "@jobferry/shared/job/types.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aJob, aPod, at, NOW, type PodBuilder } from "../testing/builders.ts";
import { passOver } from "../testing/pass.ts";
import { afterRelease, planAccounting } from "./accounting.ts";
import { afterScale } from "./after-scale.ts";
import { rules } from "./rules.ts";
import { planScale } from "./scale.ts";
import { moveCounted } from "./tracking.ts";

function account(job: Job, pods: PodBuilder[], { maxUncountedPods = 500, awaited = [] as string[] } = {}) {
  const pass = passOver(job, pods, { limits: { maxUncountedPods }, awaited: new Set(awaited) });
  const plan = planScale(pass);
  const going = plan.kind === "remove" || plan.kind === "terminate" ? plan.pods : [];
  const removals = going.map((facts) => ({ facts, deleted: true, finalizerKept: false }));
  const scaled = afterScale(rules, pass, plan, { removals, notCreated: 0 });
  const accounting = planAccounting(rules, pass, scaled);
  const finish = (released = accounting.release.map(({ uid }) => uid)) =>
    afterRelease(rules, job, accounting, scaled.outcome, accounting.status, new Set(released), NOW);
  return {
    ...accounting,
    released: accounting.release.map(({ pod }) => pod.metadata.name),
    uncounted: accounting.status.uncountedTerminatedPods,
    finish,
  };
}

const three = aJob().spec({ completions: 3, parallelism: 3 });
const stored = { startTime: at(-99), ready: 0, terminating: 0 };

describe("which pods are released (TK-3)", () => {
  const job = three.build();
  it.each([
    ["succeeded", job, aPod(job, "p").succeeded(), ["p"]],
    ["failed", job, aPod(job, "p").failed(), ["p"]],
    ["TK-4 running", job, aPod(job, "p").phase("Running"), []],
    ["TK-1 untracked", job, aPod(job, "p").failed().untracked(), []],
    ["TK-9 running, Job being deleted", aJob().deleting().build(), aPod(job, "p").phase("Running"), ["p"]],
    ["PR-1 marked, TerminatingOrFailed", job, aPod(job, "p").phase("Running").deleting(), ["p"]],
    [
      "PR-3 marked, policy Failed",
      aJob().spec({ podReplacementPolicy: "Failed" }).build(),
      aPod(job, "p").phase("Running").deleting(),
      [],
    ],
  ])("%s", (_, subject, pod, want) => expect(account(subject, [pod]).released).toEqual(want));

  it("TK-1 a pod whose removal is awaited is accounted already", () =>
    expect(account(job, [aPod(job, "p").failed()], { awaited: ["uid-p"] }).released).toEqual([]));

  it("BI-8 the delayed pod stays until its replacement runs", () => {
    const perIndex = aJob().indexed(2).spec({ backoffLimitPerIndex: 1, backoffLimit: 99 }).build();
    const failed = aPod(perIndex, "old").index(0).failed();
    const other = aPod(perIndex).index(1).phase("Running");
    expect(account(perIndex, [failed, other]).released).toEqual([]);
    const replaced = account(perIndex, [failed, other, aPod(perIndex).index(0).phase("Running")]);
    expect(replaced.released).toEqual(["old"]);
    expect(replaced.uncounted).toEqual({ failed: ["uid-old"] });
  });
});

describe("who enters the lists", () => {
  const job = three.status(stored).build();

  it("TK-5, TK-8 finished pods, by their UID", () =>
    expect(account(job, [aPod(job, "s").succeeded(), aPod(job, "f").failed()]).uncounted).toEqual({
      succeeded: ["uid-s"],
      failed: ["uid-f"],
    }));

  it("TK-5 a UID never twice", () => {
    const listed = three.status({ ...stored, uncountedTerminatedPods: { succeeded: ["uid-s"], failed: ["uid-f"] } });
    const result = account(listed.build(), [aPod(job, "s").succeeded(), aPod(job, "f").failed()]);
    expect(result.uncounted).toEqual({ succeeded: ["uid-s"], failed: ["uid-f"] });
    expect(result.released).toEqual(["s", "f"]);
  });

  it("TK-7 a failure that turns into a success stays a failure", () => {
    const listed = three.status({ ...stored, uncountedTerminatedPods: { failed: ["uid-p"] } }).build();
    expect(account(listed, [aPod(job, "p").succeeded()]).uncounted).toEqual({ failed: ["uid-p"] });
  });

  it("TK-7, VS-10 a success that turns into a failure stays a success", () => {
    const listed = three.status({ ...stored, uncountedTerminatedPods: { succeeded: ["uid-p"] } }).build();
    const result = account(listed, [aPod(job, "p").failed()]);
    expect(result.uncounted).toEqual({ succeeded: ["uid-p"] });
    expect(result.released).toEqual(["p"]);
  });

  it("TK-6 successes of Indexed Jobs go into the index string", () => {
    const indexed = aJob()
      .indexed(3)
      .status({ ...stored, completedIndexes: "2", succeeded: 1 })
      .build();
    const { status, uncounted } = account(indexed, [aPod(indexed).index(0).succeeded()]);
    expect(uncounted).toEqual({});
    expect(status).toMatchObject({ succeeded: 2, completedIndexes: "0,2" });
  });

  it("TK-8 all pods still running when a Job fails", () => {
    const failing = aJob().spec({ backoffLimit: 0, completions: 3, parallelism: 3 }).build();
    const pods = [
      aPod(failing, "f").failed(),
      aPod(failing, "r").phase("Running"),
      aPod(failing, "t").phase("Running").deleting(),
    ];
    const result = account(failing, pods);
    expect(result.uncounted).toEqual({ failed: ["uid-f", "uid-r", "uid-t"] });
    expect(result.status.conditions).toMatchObject([{ type: "FailureTarget", reason: "BackoffLimitExceeded" }]);
  });

  it("SP-6 pods stopped by success do not count", () => {
    const policy = { rules: [{ succeededIndexes: "0" }] };
    const indexed = aJob().indexed(2).spec({ successPolicy: policy }).build();
    const pods = [aPod(indexed, "s").index(0).succeeded(), aPod(indexed, "r").index(1).phase("Running")];
    const result = account(indexed, pods);
    expect(result.released).toEqual(["s", "r"]);
    expect(result.uncounted).toEqual({});
  });

  it("TK-9 running pods of a Job being deleted do not count, finished ones do", () => {
    const deleted = three.status(stored).deleting().build();
    const result = account(deleted, [aPod(job, "r").phase("Running"), aPod(job, "f").failed()]);
    expect(result.released).toEqual(["r", "f"]);
    expect(result.uncounted).toEqual({ failed: ["uid-f"] });
  });

  it("PF-11, PF-15 ignored failures are released and measured, not counted", () => {
    const policy = { rules: [{ action: "Ignore" as const, onExitCodes: { operator: "In" as const, values: [42] } }] };
    const choosy = aJob().spec({ podFailurePolicy: policy }).build();
    const result = account(choosy, [aPod(choosy, "i").failed({ exitCode: 42 }), aPod(choosy, "f").failed()]);
    expect(result.released).toEqual(["i", "f"]);
    expect(result.uncounted).toEqual({ failed: ["uid-f"] });
    expect([...result.policyActions]).toEqual([["Ignore", 1]]);
  });

  it("IX-9 pods without a valid index are released, not counted", () => {
    const indexed = aJob().indexed(2).status(stored).build();
    const result = account(indexed, [aPod(indexed, "x").index("x").failed(), aPod(indexed, "y").index(2).succeeded()]);
    expect(result.released.toSorted()).toEqual(["x", "y"]);
    expect(result.uncounted).toEqual({});
  });
});

describe("the cap (TK-10)", () => {
  it("stops after the pod that reaches it, and does not finish then", () => {
    const job = aJob().spec({ completions: 4, parallelism: 4 }).build();
    const pods = Array.from({ length: 4 }, () => aPod(job).succeeded());
    const result = account(job, pods, { maxUncountedPods: 2 });
    expect(result.released).toHaveLength(2);
    expect(result.cut).toBe(true);
    expect(result.finish().finished).toBeUndefined();
  });

  it("TK-11 writes all succeeded indexes even when cut, lowest released first", () => {
    const job = aJob().indexed(4).build();
    const pods = [3, 1, 2, 0].map((index) => aPod(job, `p${index}`).index(index).succeeded());
    const result = account(job, pods, { maxUncountedPods: 2 });
    expect(result.released).toEqual(["p0", "p1"]);
    expect(result.status.completedIndexes).toBe("0-3");
  });

  it("IX-11 writes when only completions changed what the strings mean", () => {
    const counts = { active: 2, ready: 0, terminating: 0, startTime: at(-9), uncountedTerminatedPods: {} };
    const job = aJob()
      .indexed(2)
      .status({ ...counts, succeeded: 1, completedIndexes: "2" })
      .build();
    const running = [0, 1].map((index) => aPod(job).index(index).phase("Running"));
    const result = account(job, running);
    expect(result.write).toBe(true);
    expect(result.status).toMatchObject({ succeeded: 0, completedIndexes: "" });
  });

  it("pods that add nothing do not count", () => {
    const job = aJob().indexed(4).status({ completedIndexes: "0-2" }).build();
    const pods = [0, 1, 2].map((index) => aPod(job).index(index).succeeded());
    expect(account(job, pods, { maxUncountedPods: 2 })).toMatchObject({ cut: false, release: { length: 3 } });
  });
});

describe("after the release", () => {
  const job = three.status(stored).build();

  it("TK-16, TK-19 UIDs become counters", () => {
    const { status, write, finished } = account(job, [aPod(job, "s").succeeded(), aPod(job, "f").failed()]).finish();
    expect(status).toMatchObject({ succeeded: 1, failed: 1, uncountedTerminatedPods: {} });
    expect({ write, finished }).toEqual({ write: true, finished: undefined });
  });

  it("TK-17 what could not be released stays listed, and the Job does not finish", () => {
    const single = aJob().status(stored).build();
    const result = account(single, [aPod(single, "a").succeeded(), aPod(single, "b").succeeded()]);
    const partly = result.finish(["uid-a"]);
    expect(partly.status).toMatchObject({ succeeded: 1, uncountedTerminatedPods: { succeeded: ["uid-b"] } });
    expect(partly).toMatchObject({ write: true, finished: undefined });
    expect(result.finish([])).toMatchObject({ write: false, finished: undefined });
  });

  it("TK-18, CD-6 finishes with the interim condition's reason", () => {
    const single = aJob().status(stored).build();
    const { status, finished } = account(single, [aPod(single).succeeded()]).finish();
    expect(finished?.reason).toBe("CompletionsReached");
    expect(status).toMatchObject({ completionTime: at(0), succeeded: 1 });
    expect(status.conditions?.map(({ type, reason }) => [type, reason])).toEqual([
      ["SuccessCriteriaMet", "CompletionsReached"],
      ["Complete", "CompletionsReached"],
    ]);
  });

  it("CD-4, CD-5 waits for terminating pods", () => {
    const failing = aJob().spec({ backoffLimit: 0, completions: 2, parallelism: 2 }).build();
    const result = account(failing, [aPod(failing).failed(), aPod(failing).phase("Running")]).finish();
    expect(result).toMatchObject({ write: true, finished: undefined });
    expect(result.status.conditions?.map(({ type }) => type)).toEqual(["FailureTarget"]);
  });
});

describe("moveCounted (TK-2)", () => {
  it("returns the same status when nothing moved", () => {
    const status = { succeeded: 1, uncountedTerminatedPods: { succeeded: ["a"] } };
    expect(moveCounted(status, new Set(["a"]))).toBe(status);
  });

  it("TK-22 loses and invents nothing", () => {
    const uids = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 20 });
    fc.assert(
      fc.property(uids, fc.nat(20), fc.nat(5), fc.nat(5), fc.func(fc.boolean()), (all, split, s, f, holds) => {
        const lists = { succeeded: all.slice(0, split), failed: all.slice(split) };
        const holding = new Set(all.filter((uid) => holds(uid)));
        const after = moveCounted({ succeeded: s, failed: f, uncountedTerminatedPods: lists }, holding);
        const left = after.uncountedTerminatedPods ?? {};
        expect((after.succeeded ?? 0) + (left.succeeded?.length ?? 0)).toBe(s + lists.succeeded.length);
        expect((after.failed ?? 0) + (left.failed?.length ?? 0)).toBe(f + lists.failed.length);
        for (const uid of [...(left.succeeded ?? []), ...(left.failed ?? [])]) expect(holding.has(uid)).toBe(true);
      }),
    );
  });

  it("TK-21 a successor counts what its predecessor had listed", () => {
    const listed = three.status({ ...stored, uncountedTerminatedPods: { succeeded: ["gone"], failed: ["uid-p"] } });
    const job = listed.build();
    const result = account(job, [aPod(job, "p").failed().untracked()]);
    expect(result.status).toMatchObject({ succeeded: 1, failed: 1, uncountedTerminatedPods: {} });
    expect(result.write).toBe(true);
  });
});
