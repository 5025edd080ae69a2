/** The Jobs that are run under every fault: each feature of the specification is in at least one of them. */
import { completionIndex, indexFailureCount } from "@jobferry/shared/job/pods.ts";
import type { Job, JobSpec, Pod, PodTemplate } from "@jobferry/shared/job/types.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { KEY, NAMESPACE, type Scenario, type World } from "./world.ts";

interface Shape extends Partial<Omit<JobSpec, "template">> {
  restartPolicy?: string;
}

function aJob({ restartPolicy = "Never", ...spec }: Shape = {}): Job {
  const template: PodTemplate = { spec: { restartPolicy, containers: [{ name: "main", image: "busybox" }] } };
  return { metadata: { name: KEY.name, namespace: NAMESPACE }, spec: { ...spec, template } };
}

const indexed = (completions: number, spec: Shape = {}): Shape => ({
  completionMode: "Indexed",
  completions,
  parallelism: completions,
  ...spec,
});

/** Short back-off, so that a run with a few failures stays short even in virtual time. */
const QUICK = { podFailureBackoffMs: 1_000, maxPodFailureBackoffMs: 4_000 };

/** The pod's rank among all the Job's pods, by what its own annotations and labels cannot tell: how many came before it. */
function inOrder(outcomes: readonly number[]): NonNullable<Scenario["behaviour"]> {
  const ranks = new Map<string, number>();
  return (pod) => {
    const uid = pod.metadata.uid ?? "";
    if (!ranks.has(uid)) ranks.set(uid, ranks.size);
    const exitCode = outcomes[Math.min(ranks.get(uid) ?? 0, outcomes.length - 1)] ?? 0;
    return { runMs: 2_000, exitCode };
  };
}

const byIndex =
  (exitCode: (index: number, failuresBefore: number) => number): NonNullable<Scenario["behaviour"]> =>
  (pod) => ({ runMs: 2_000, exitCode: exitCode(completionIndex(pod) ?? 0, indexFailureCount(pod)) });

async function deleteOnePod(world: World): Promise<void> {
  const [first] = (await world.pods()).filter(isRunning).sort(byCreation);
  if (first !== undefined) await world.api.delete(pods, { namespace: NAMESPACE, name: first.metadata.name ?? "" });
}

const isRunning = (pod: Pod): boolean =>
  pod.status?.phase === "Running" && pod.metadata.deletionTimestamp === undefined;
const byCreation = (a: Pod, b: Pod): number => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion);

/** Behaviours that remember are made anew for every run. */
export const scenarios: readonly (() => Scenario)[] = [
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
    name: "elastic Indexed: up, then down (IX-11)",
    job: aJob(indexed(2)),
    behaviour: () => ({ runMs: 20_000 }),
    steps: [
      { atMs: 5_000, act: (world) => world.edit({ completions: 4, parallelism: 4 }) },
      { atMs: 10_000, act: (world) => world.edit({ completions: 3, parallelism: 3 }) },
    ],
    mayFall: true,
  }),
  () => ({
    name: "suspended, resumed (SU, TR-6)",
    job: aJob({ completions: 2, parallelism: 2 }),
    behaviour: () => ({ runMs: 15_000, stopMs: 1_000 }),
    steps: [
      { atMs: 5_000, act: (world) => world.edit({ suspend: true }) },
      { atMs: 60_000, act: (world) => world.edit({ suspend: false }) },
    ],
  }),
  () => ({
    name: "deadline exceeded (DL-1)",
    job: aJob({ activeDeadlineSeconds: 10, parallelism: 2, completions: 2 }),
    behaviour: () => ({ runMs: Number.POSITIVE_INFINITY, stopMs: 2_000 }),
  }),
  () => ({
    name: "restarts in place exceed the limit (BL-4)",
    job: aJob({ restartPolicy: "OnFailure", backoffLimit: 2 }),
    behaviour: () => ({ runMs: 2_000, exitCode: 1 }),
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
      indexed(4, {
        parallelism: 2,
        backoffLimitPerIndex: 3,
        maxFailedIndexes: 1,
        podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [42] } }] },
      }),
    ),
    behaviour: byIndex(() => 42),
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
    limits: QUICK,
  }),
  () => ({
    name: "failure policy: a disruption is ignored by condition (PF-9, GC-2)",
    job: aJob({
      backoffLimit: 0,
      podFailurePolicy: {
        rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
      },
    }),
    behaviour: () => ({ runMs: 20_000, stopMs: 1_000 }),
    steps: [{ atMs: 5_000, act: disruptOnePod }],
    limits: QUICK,
  }),
  () => ({
    name: "success policy stops the rest (SP-6, TR-8)",
    job: aJob(indexed(3, { successPolicy: { rules: [{ succeededIndexes: "0" }] } })),
    behaviour: (pod) => ({ runMs: completionIndex(pod) === 0 ? 3_000 : Number.POSITIVE_INFINITY, stopMs: 2_000 }),
  }),
  () => ({
    name: "a deleted pod is replaced at once (PR-1, TR-4)",
    job: aJob({ parallelism: 2, completions: 2 }),
    behaviour: () => ({ runMs: 30_000, stopMs: 5_000 }),
    steps: [{ atMs: 5_000, act: deleteOnePod }],
    limits: QUICK,
  }),
  () => ({
    name: "a deleted pod is replaced when it has failed (PR-2, TR-5)",
    job: aJob({ podReplacementPolicy: "Failed" }),
    behaviour: () => ({ runMs: 30_000, stopMs: 5_000 }),
    steps: [{ atMs: 5_000, act: deleteOnePod }],
    limits: QUICK,
  }),
  () => ({
    name: "scaled down, then up (RM-1)",
    job: aJob({ parallelism: 4, completions: 6 }),
    behaviour: () => ({ runMs: 20_000, stopMs: 1_000 }),
    steps: [
      { atMs: 5_000, act: (world) => world.edit({ parallelism: 1 }) },
      { atMs: 12_000, act: (world) => world.edit({ parallelism: 3 }) },
    ],
  }),
  () => ({
    name: "a pod is released by its label, another adopted (AD-3, AD-4)",
    job: aJob({ parallelism: 2, completions: 2 }),
    behaviour: () => ({ runMs: 20_000 }),
    steps: [
      { atMs: 5_000, act: (world) => relabel(world, "someone-else") },
      { atMs: 10_000, act: (world) => relabel(world, undefined) },
    ],
  }),
  () => ({
    name: "deleted in the foreground (OR-6)",
    job: aJob({ parallelism: 2, completions: 2 }),
    behaviour: () => ({ runMs: 60_000, stopMs: 1_000 }),
    steps: [{ atMs: 5_000, act: (world) => world.api.delete(jobs, KEY, { propagationPolicy: "Foreground" }) }],
    endsDeleted: true,
  }),
  () => ({
    name: "deleted in the background (OR-2)",
    job: aJob({ parallelism: 2, completions: 2 }),
    behaviour: () => ({ runMs: 60_000, stopMs: 1_000 }),
    steps: [{ atMs: 5_000, act: (world) => world.api.delete(jobs, KEY, { propagationPolicy: "Background" }) }],
    endsDeleted: true,
  }),
  () => ({
    name: "accounted in several rounds (TK-10, K-5)",
    job: aJob(indexed(9)),
    behaviour: byIndex((index) => (index === 8 ? 1 : 0)),
    limits: { ...QUICK, maxUncountedPods: 3, maxPodsPerSync: 4 },
  }),
  () => ({ name: "nothing to do (M-12, TR-9)", job: aJob({ completions: 0 }) }),
];

async function disruptOnePod(world: World): Promise<void> {
  const [first] = (await world.pods()).filter(isRunning).sort(byCreation);
  if (first === undefined) return;
  const key = { namespace: NAMESPACE, name: first.metadata.name ?? "" };
  const conditions = [...(first.status?.conditions ?? []), { type: "DisruptionTarget", status: "True" }];
  await world.api.patch(pods, key, { type: "merge", body: { status: { conditions } } }, { subresource: "status" });
  await world.api.delete(pods, key);
}

/** Moves the first running pod out of the Job's selector, or the pod that was moved out back in. */
async function relabel(world: World, value: string | undefined): Promise<void> {
  const label = "batch.kubernetes.io/controller-uid";
  const uid = (await world.job())?.metadata.uid ?? "";
  const all = (await world.pods()).sort(byCreation);
  const pod =
    value === undefined
      ? all.find(({ metadata }) => metadata.labels?.[label] !== uid)
      : all.find((candidate) => isRunning(candidate));
  if (pod === undefined) return;
  const body = { metadata: { labels: { [label]: value ?? uid } } };
  await world.api.patch(pods, { namespace: NAMESPACE, name: pod.metadata.name ?? "" }, { type: "merge", body });
}
