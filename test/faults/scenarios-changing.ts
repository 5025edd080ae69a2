/** Jobs that somebody interferes with: edited, suspended, deleted, their pods deleted, relabelled or left behind. */
import { CONTROLLER_UID_LABEL, TRACKING_FINALIZER } from "@jobferry/shared/job/keys.ts";
import { completionIndex, hasTrackingFinalizer } from "@jobferry/shared/job/pods.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import {
  aJob,
  deleteOnePod,
  edit,
  firstRunning,
  indexed,
  KEY,
  keyOf,
  letGo,
  NAMESPACE,
  QUICK,
  running,
  type Scenario,
  type Stage,
  type Step,
} from "./scenario.ts";

const strangers = ["stranger-running", "stranger-finished"] as const;
const holds = { stopMs: 1_000 };

const isSuspended = ({ status }: Stage): boolean =>
  status.conditions?.some(({ type, status: value }) => type === "Suspended" && value === "True") ?? false;
const wasResumed = ({ status }: Stage): boolean =>
  status.conditions?.some(({ type, status: value }) => type === "Suspended" && value === "False") ?? false;
const nothingRuns = running(0);

const deleteJob =
  (propagationPolicy: "Foreground" | "Background" | "Orphan"): Step["act"] =>
  (world) =>
    world.api.delete(jobs, KEY, { propagationPolicy });

const jobIsGone = (world: Stage): boolean => world.job === undefined;
const allIsGone = (world: Stage): boolean => jobIsGone(world) && world.pods().length === 0;

const hasCondition = (pod: Pod, type: string): boolean =>
  pod.status?.conditions?.some((condition) => condition.type === type) ?? false;

const disruptOnePod: Step["act"] = async (world) => {
  const pod = firstRunning(world);
  const conditions = [...(pod.status?.conditions ?? []), { type: "DisruptionTarget", status: "True" }];
  const patch = { type: "merge", body: { status: { conditions } } } as const;
  await world.api.patch(pods, keyOf(pod), patch, { subresource: "status" });
  await world.api.delete(pods, keyOf(pod));
};

const strays = (world: Stage): Pod[] => world.pods().filter((pod) => !world.owned().includes(pod));

async function relabel(world: Stage, pod: Pod, value: string): Promise<void> {
  const body = { metadata: { labels: { [CONTROLLER_UID_LABEL]: value } } };
  await world.api.patch(pods, keyOf(pod), { type: "merge", body });
}

/** A pod that is never scheduled: nobody but a Job controller would write to it. */
const aPod = (name: string, owner?: { name: string; uid: string }): Pod => ({
  metadata: {
    name,
    namespace: NAMESPACE,
    finalizers: [TRACKING_FINALIZER],
    ...(owner !== undefined && {
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", controller: true, ...owner }],
    }),
  },
  spec: {
    containers: [{ name: "main", image: "busybox" }],
    schedulingGates: [{ name: "example.com/held" }],
  } as Pod["spec"],
});

/** CL-3, CL-11: Jobs of another controller, one running and one finished, each with a pod of its own. */
async function bringStrangers(world: Stage): Promise<void> {
  const { spec } = aJob({ managedBy: "example.com/other" });
  for (const name of strangers) {
    const { metadata } = await world.api.create(jobs, NAMESPACE, { metadata: { name, namespace: NAMESPACE }, spec });
    await world.api.create(pods, NAMESPACE, aPod(`${name}-pod`, { name, uid: metadata.uid ?? "" }));
  }
  const time = timestamp(world.clock.now());
  const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True" }));
  const status = { startTime: time, completionTime: time, ready: 0, terminating: 0, conditions };
  const key = { namespace: NAMESPACE, name: strangers[1] };
  await world.api.patch(jobs, key, { type: "merge", body: { status } }, { subresource: "status" });
}

const deleteStrangersPods: Step["act"] = async (world) => {
  for (const name of strangers) await world.api.delete(pods, { namespace: NAMESPACE, name: `${name}-pod` });
};

export const changing: readonly (() => Scenario)[] = [
  () => ({
    name: "elastic Indexed: up, then down (IX-11)",
    job: aJob(indexed(2)),
    holds,
    steps: [
      { when: running(2), act: edit({ completions: 4, parallelism: 4 }) },
      { when: running(4), act: edit({ completions: 3, parallelism: 3 }) },
      { when: running(3), act: letGo },
    ],
    mayFall: true,
  }),
  () => ({
    name: "suspended, resumed (SU, TR-6)",
    job: aJob({ completions: 2, parallelism: 2 }),
    holds,
    steps: [
      { when: running(2), act: edit({ suspend: true }) },
      { when: (world) => isSuspended(world) && nothingRuns(world), act: edit({ suspend: false }) },
      { when: (world) => wasResumed(world) && running(2)(world), act: letGo },
    ],
  }),
  () => ({
    name: "suspended, then scaled down to what is done (SU-12, IX-12)",
    job: aJob(indexed(2)),
    behaviour: (pod) => ({ runMs: completionIndex(pod) === 0 ? 2_000 : Number.POSITIVE_INFINITY }),
    steps: [
      { when: ({ status }) => status.completedIndexes === "0", act: edit({ suspend: true }) },
      { when: (world) => isSuspended(world) && nothingRuns(world), act: edit({ completions: 1, parallelism: 1 }) },
    ],
    mayFall: true,
  }),
  () => ({
    name: "failure policy: a disruption is ignored by condition (PF-9, GC-2)",
    job: aJob({
      backoffLimit: 0,
      podFailurePolicy: {
        rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
      },
    }),
    holds,
    steps: [
      { when: running(1), act: disruptOnePod },
      { when: (world) => running(1)(world) && !hasCondition(firstRunning(world), "DisruptionTarget"), act: letGo },
    ],
    ignores: (pod) => hasCondition(pod, "DisruptionTarget"),
    limits: QUICK,
  }),
  () => ({
    name: "a deleted pod is replaced at once (PR-1, TR-4)",
    job: aJob({ parallelism: 2, completions: 2 }),
    holds: { stopMs: 5_000 },
    steps: [
      { when: running(2), act: deleteOnePod },
      { when: (world) => world.status.failed === 1 && running(2)(world), act: letGo },
    ],
    limits: QUICK,
  }),
  () => ({
    name: "a deleted pod is replaced when it has failed (PR-2, TR-5)",
    job: aJob({ podReplacementPolicy: "Failed" }),
    holds: { stopMs: 5_000 },
    steps: [
      { when: running(1), act: deleteOnePod },
      { when: (world) => world.status.failed === 1 && running(1)(world), act: letGo },
    ],
    limits: QUICK,
  }),
  () => ({
    name: "scaled down, then up (RM-1)",
    job: aJob({ parallelism: 3, completions: 3 }),
    holds,
    steps: [
      { when: running(3), act: edit({ parallelism: 1 }) },
      { when: running(1), act: edit({ parallelism: 2 }) },
      { when: running(2), act: letGo },
    ],
  }),
  () => ({
    name: "a pod is released by its label and adopted again (AD-3, AD-4)",
    job: aJob({ parallelism: 2, completions: 2 }),
    holds,
    steps: [
      { when: running(2), act: (world) => relabel(world, firstRunning(world), "someone-else") },
      {
        when: (world) => strays(world).length === 1 && running(2)(world),
        act: async (world) => {
          for (const pod of strays(world)) await relabel(world, pod, world.job?.metadata.uid ?? "");
        },
      },
      { when: (world) => strays(world).length === 0 && running(2)(world), act: letGo },
    ],
    mayExceedParallelism: true,
  }),
  () => ({
    name: "deleted in the foreground (OR-6)",
    job: aJob({ parallelism: 2, completions: 2 }),
    holds,
    steps: [{ when: running(2), act: deleteJob("Foreground") }],
    isOver: allIsGone,
  }),
  () => ({
    name: "deleted in the background (OR-2)",
    job: aJob({ parallelism: 2, completions: 2 }),
    holds,
    steps: [{ when: running(2), act: deleteJob("Background") }],
    isOver: allIsGone,
  }),
  () => ({
    name: "deleted, its pods kept (OR-7)",
    job: aJob({ parallelism: 2, completions: 2 }),
    holds,
    steps: [{ when: running(2), act: deleteJob("Orphan") }],
    isOver: (world) => jobIsGone(world) && !world.pods().some(hasTrackingFinalizer),
  }),
  () => ({
    name: "orphans with the finalizer are let go, before and during the run (OR-2)",
    job: aJob(),
    holds,
    prepare: (world) => world.api.create(pods, NAMESPACE, aPod("orphan-before")),
    steps: [
      { when: running(1), act: (world) => world.api.create(pods, NAMESPACE, aPod("orphan-during")) },
      { when: (world) => !strays(world).some(hasTrackingFinalizer), act: letGo },
    ],
  }),
  () => ({
    name: "another controller's Jobs and their pods are not touched (CL-3, CL-11)",
    job: aJob(),
    prepare: bringStrangers,
    holds,
    steps: [
      { when: running(1), act: deleteStrangersPods },
      { when: running(1), act: letGo },
    ],
  }),
];
