/** Jobs that run to their end by themselves: every way to succeed and to fail. Scenarios remember, so each run makes its own. */

import { completionIndex } from "@jobferry/shared/job/pods.ts";
import type { JobStatus, Pod } from "@jobferry/shared/job/types.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { IndexSet } from "@jobferry/worker-agent/job-controller/core/index-set.ts";
import type { Seen } from "./invariants.ts";
import { aJob, byIndex, indexed, inOrder, keyOf, QUICK, type Scenario, STOPS_LATE, type Stage } from "./scenario.ts";

const exitCodeOf = (pod: Pod): number | undefined => pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode;

/** SP: index 0 is enough; the others would run for ever. */
const firstIndexIsEnough = {
  behaviour: (pod: Pod) => ({
    runMs: completionIndex(pod) === 0 ? 3_000 : Number.POSITIVE_INFINITY,
    stopMs: STOPS_LATE,
  }),
};

/** Turns a success into a failure the moment the Job has taken note of it. */
function flipsOnceNoted(isNoted: (status: JobStatus, pod: Pod) => boolean): NonNullable<Scenario["reacts"]> {
  let flipped = false;
  return (world: Stage, { kind }: Seen) => {
    if (flipped || kind !== "job") return;
    const noted = world.pods().find((pod) => pod.status?.phase === "Succeeded" && isNoted(world.status, pod));
    if (noted === undefined) return;
    flipped = true;
    const patch = { type: "merge", body: { status: { phase: "Failed" } } } as const;
    void world.api.patch(pods, keyOf(noted), patch, { subresource: "status" });
  };
}

export const finishing: readonly (() => Scenario)[] = [
  () => ({ name: "one pod succeeds (TR-1)", job: aJob() }),
  () => ({
    name: "failures are replaced until enough succeed (BO, CT-8)",
    job: aJob({ completions: 3, parallelism: 2, backoffLimit: 6 }),
    behaviour: inOrder([1, 0, 1, 0, 0, 0]),
    limits: QUICK,
  }),
  () => ({
    name: "back-off limit exceeded (BL-1, TR-3)",
    job: aJob({ completions: 2, parallelism: 1, backoffLimit: 1 }),
    behaviour: inOrder([1]),
    limits: QUICK,
  }),
  () => ({ name: "work queue (M-2)", job: aJob({ parallelism: 3 }), behaviour: () => ({ runMs: 3_000 }) }),
  () => ({ name: "Indexed (IX)", job: aJob(indexed(4, { parallelism: 2 })) }),
  () => ({
    name: "deadline exceeded (DL-1)",
    job: aJob({ activeDeadlineSeconds: 10, parallelism: 2, completions: 2 }),
    behaviour: () => ({ runMs: Number.POSITIVE_INFINITY, stopMs: 2_000 }),
  }),
  () => ({
    // A pod that ended would take its restarts with it (BL-5), and the Job would start another.
    name: "restarts in place exceed the limit (BL-4)",
    job: aJob({ restartPolicy: "OnFailure", backoffLimit: 2 }),
    behaviour: (_pod, _container, attempt) =>
      attempt < 2 ? { runMs: 2_000, exitCode: 1 } : { runMs: Number.POSITIVE_INFINITY, stopMs: STOPS_LATE },
  }),
  () => ({
    name: "limit per index: one index gives up, one recovers (BI, TR-7)",
    job: aJob(indexed(3, { backoffLimitPerIndex: 1 })),
    behaviour: byIndex((index, failures) => (index === 0 || (index === 1 && failures === 0) ? 1 : 0)),
    limits: QUICK,
  }),
  () => ({
    name: "too many failed indexes (BI-9), FailIndex by exit code (PF-11)",
    job: aJob(
      indexed(3, {
        backoffLimitPerIndex: 3,
        maxFailedIndexes: 1,
        podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [42] } }] },
      }),
    ),
    behaviour: (pod) =>
      completionIndex(pod) === 2 ? { runMs: Number.POSITIVE_INFINITY } : { runMs: 2_000, exitCode: 42 },
    limits: QUICK,
  }),
  () => ({
    name: "failure policy: Ignore, Count, then FailJob by exit code (PF, PR-2)",
    job: aJob({
      backoffLimit: 5,
      podFailurePolicy: {
        rules: [
          { action: "Ignore", onExitCodes: { operator: "In", values: [3] } },
          { action: "Count", onExitCodes: { operator: "In", values: [4] } },
          { action: "FailJob", onExitCodes: { operator: "NotIn", values: [3, 4] } },
        ],
      },
    }),
    behaviour: inOrder([3, 4, 3, 9]),
    ignores: (pod) => exitCodeOf(pod) === 3,
    limits: QUICK,
  }),
  () => ({
    name: "success policy stops the rest (SP-6, TR-8)",
    job: aJob(indexed(3, { successPolicy: { rules: [{ succeededIndexes: "0" }] }, podReplacementPolicy: "Failed" })),
    ...firstIndexIsEnough,
  }),
  () => ({
    name: "success policy stops the rest, replaced while terminating (SP-6)",
    job: aJob(indexed(3, { successPolicy: { rules: [{ succeededCount: 1 }] } })),
    ...firstIndexIsEnough,
    mayFailMore: {
      upTo: 2,
      because: "SP-6 [D]: a stopped pod counts when the write that recorded the success got lost",
    },
  }),
  () => ({
    name: "accounted in several rounds (TK-10, K-5)",
    job: aJob({ completions: 5, parallelism: 5 }),
    limits: { ...QUICK, maxUncountedPods: 2, maxPodsPerSync: 3 },
  }),
  () => ({
    name: "indexes accounted in several rounds (TK-10, TK-11)",
    job: aJob(indexed(4, { backoffLimitPerIndex: 1 })),
    behaviour: byIndex((index, failures) => (index === 3 && failures === 0 ? 1 : 0)),
    limits: { ...QUICK, maxUncountedPods: 2, maxPodsPerSync: 3 },
  }),
  () => ({
    name: "a listed success turns into a failure (TK-7)",
    job: aJob({ completions: 2, parallelism: 2, backoffLimit: 0 }),
    reacts: flipsOnceNoted(
      (status, { metadata: { uid = "" } }) => status.uncountedTerminatedPods?.succeeded?.includes(uid) === true,
    ),
  }),
  () => ({
    name: "a completed index turns into a failure (BI-12, VS-17)",
    job: aJob(indexed(2, { backoffLimitPerIndex: 0 })),
    reacts: flipsOnceNoted((status, pod) => IndexSet.parse(status.completedIndexes, 2).has(completionIndex(pod) ?? -1)),
    mayFailMore: { upTo: 1, because: "IX-7: UIDs of succeeded pods are not kept, so the pod counts as a failure, too" },
  }),
  () => ({
    name: "one of a flood, ends before its begin is written",
    job: aJob({ completions: 2, parallelism: 2 }),
    behaviour: () => ({ runMs: 300 }),
    limits: { floodStarts: 0 },
  }),
  () => ({
    name: "one of a flood, a pod fails before its begin is written",
    job: aJob({ completions: 2, parallelism: 2 }),
    behaviour: inOrder([1, 0], 300),
    limits: { ...QUICK, floodStarts: 0 },
  }),
  () => ({ name: "nothing to do (M-12, TR-9)", job: aJob({ completions: 0 }) }),
];
