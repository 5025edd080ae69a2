import { COMPLETION_INDEX } from "@jobferry/shared/job/keys.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { describe, expect, it } from "vitest";
import { aJob, aPod, NOW } from "../testing/builders.ts";
import { passOver } from "../testing/pass.ts";
import { desiredActive, planScale, type ScalePlan } from "./scale.ts";

const running = (job: Job, count: number) => Array.from({ length: count }, () => aPod(job).phase("Running"));
const size = (plan: ScalePlan) => ("pods" in plan ? plan.pods.length : 0);
const indexesOf = (plan: ScalePlan) =>
  plan.kind === "create" ? plan.pods.map((pod) => Number(pod.metadata.annotations?.[COMPLETION_INDEX])) : [];

describe("desiredActive", () => {
  it.each([
    ["M-2 work queue", aJob().workQueue(3).build(), 0, 1, 3],
    ["M-2 work queue after a success", aJob().workQueue(3).build(), 1, 2, 2],
    ["M-3 parallelism", aJob().spec({ parallelism: 2, completions: 9 }).build(), 1, 0, 2],
    ["M-3 what is left", aJob().spec({ parallelism: 5, completions: 9 }).build(), 7, 0, 2],
    ["M-3 never negative", aJob().spec({ parallelism: 5, completions: 9 }).build(), 11, 0, 0],
    ["M-11 parallelism 0", aJob().spec({ parallelism: 0, completions: 9 }).build(), 0, 4, 0],
  ])("%s", (_, job, succeeded, active, want) => expect(desiredActive(job, succeeded, active)).toBe(want));
});

describe("planScale", () => {
  const four = aJob().spec({ parallelism: 4, completions: 9 });

  it("creates what is missing", () => {
    const plan = planScale(passOver(four.build(), running(four.build(), 1)));
    expect(plan).toMatchObject({ kind: "create", action: "pods_created", reason: "new" });
    expect(size(plan)).toBe(3);
  });

  it("M-13 does nothing when all run", () =>
    expect(planScale(passOver(four.build(), running(four.build(), 4)))).toEqual({ kind: "none", action: "tracking" }));

  it("M-5, S-16 removes before it creates", () => {
    const plan = planScale(passOver(four.build(), running(four.build(), 6)));
    expect(plan).toMatchObject({ kind: "remove", action: "pods_deleted" });
    expect(size(plan)).toBe(2);
  });

  it("K-5 caps creations and removals", () => {
    const limits = { maxPodsPerSync: 2 };
    expect(size(planScale(passOver(four.build(), [], { limits })))).toBe(2);
    expect(size(planScale(passOver(four.build(), running(four.build(), 9), { limits })))).toBe(2);
  });

  it("SU-3 removes every pod of a suspended Job, without the cap", () => {
    const job = four.spec({ suspend: true }).build();
    const plan = planScale(passOver(job, running(job, 3), { limits: { maxPodsPerSync: 1 } }));
    expect(plan.kind).toBe("remove");
    expect(size(plan)).toBe(3);
  });

  it("SX-8 does nothing while expectations are open, OR-6 or the Job is being deleted", () => {
    const none = { kind: "none", action: "reconciling" };
    const job = aJob().build();
    expect(planScale(passOver(job, [], { satisfied: false }))).toEqual(none);
    expect(planScale(passOver(aJob().deleting().build()))).toEqual(none);
  });

  it("CD-8 deletes all active pods once there is an outcome, without the cap", () => {
    const job = aJob().spec({ backoffLimit: 0, parallelism: 3, completions: 3 }).build();
    const pods = [...running(job, 2), aPod(job).failed(), aPod(job).phase("Running").deleting()];
    const plan = planScale(passOver(job, pods, { limits: { maxPodsPerSync: 1 }, satisfied: false }));
    expect(plan).toMatchObject({ kind: "terminate", action: "reconciling" });
    expect(size(plan)).toBe(2);
  });
});

describe("back-off", () => {
  it("M-7 waits for the Job's back-off, at least a batch long (BO-7)", () => {
    const job = aJob().spec({ parallelism: 2, completions: 5 }).build();
    expect(planScale(passOver(job, [aPod(job).failed({ finished: -4 })]))).toEqual({
      kind: "wait",
      action: "pods_created",
      forMs: 6000,
    });
    expect(
      planScale(passOver(job, [], { backoff: { failures: 1, lastFailureMs: NOW - 9900, seenMs: NOW } })),
    ).toMatchObject({
      forMs: 1000,
    });
    expect(
      planScale(passOver(job, [], { backoff: { failures: 1, lastFailureMs: NOW - 10_000, seenMs: NOW } })).kind,
    ).toBe("create");
  });

  const perIndex = (parallelism: number) =>
    aJob().indexed(3, parallelism).spec({ backoffLimitPerIndex: 5, backoffLimit: 99 }).build();

  it("M-8 starts only indexes whose own back-off is over", () => {
    const job = perIndex(3);
    const pods = [aPod(job).index(0).failed({ finished: -4 }), aPod(job).index(1).failed({ finished: -30 })];
    expect(indexesOf(planScale(passOver(job, pods)))).toEqual([1, 2]);
  });

  it("M-8 waits for the first when none is over", () => {
    const job = perIndex(2);
    const pods = [aPod(job).index(0).failed({ finished: -4 }), aPod(job).index(1).failed({ finished: -7 })];
    expect(planScale(passOver(job, pods))).toMatchObject({ kind: "wait", forMs: 3000 });
  });

  it("M-9 an index that waits keeps its place", () => {
    const job = perIndex(1);
    expect(planScale(passOver(job, [aPod(job).index(0).failed({ finished: -4 })]))).toMatchObject({ kind: "wait" });
  });

  it("M-10 creates nothing when all that is missing has failed", () => {
    const job = aJob().indexed(2).spec({ backoffLimitPerIndex: 0, backoffLimit: 99 }).status({ failedIndexes: "0" });
    const plan = planScale(passOver(job.build(), [aPod(job.build()).index(1).phase("Running")]));
    expect(plan).toMatchObject({ kind: "create", pods: [] });
  });
});

describe("pod replacement policy", () => {
  const job = (policy: "Failed" | "TerminatingOrFailed") =>
    aJob().spec({ parallelism: 2, completions: 2, podReplacementPolicy: policy }).build();
  const leaving = (of: Job) => [aPod(of).phase("Running").deleting(-60)];

  it("PR-2 a terminating pod keeps its place under Failed", () =>
    expect(size(planScale(passOver(job("Failed"), leaving(job("Failed")))))).toBe(1));

  it("PR-1 and is replaced at once otherwise", () => {
    const lenient = job("TerminatingOrFailed");
    expect(size(planScale(passOver(lenient, leaving(lenient))))).toBe(2);
  });

  it("PR-2 a failure policy has the same effect", () => {
    const { podReplacementPolicy: _, ...spec } = job("Failed").spec;
    const policy = { ...job("Failed"), spec: { ...spec, podFailurePolicy: { rules: [] } } };
    expect(size(planScale(passOver(policy, leaving(policy))))).toBe(1);
  });

  it("PR-6 excess pods are removed however many are terminating", () => {
    const strict = job("Failed");
    const pods = [...leaving(strict), ...leaving(strict), ...leaving(strict), ...running(strict, 3)];
    expect(planScale(passOver(strict, pods))).toMatchObject({ kind: "remove", pods: { length: 1 } });
  });
});

it.each([
  ["ME-1 first pods", "TerminatingOrFailed", {}, "new"],
  ["ME-1 after a failure", "TerminatingOrFailed", { failed: 1 }, "recreate_terminating_or_failed"],
  ["ME-1 after a failure under Failed", "Failed", { failed: 1 }, "recreate_failed"],
] as const)("%s", (_, podReplacementPolicy, status, want) => {
  const job = aJob().spec({ podReplacementPolicy }).status(status).build();
  expect(planScale(passOver(job))).toMatchObject({ kind: "create", reason: want });
});
