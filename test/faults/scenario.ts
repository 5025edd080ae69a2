import type { VirtualBehaviour } from "@jobferry/sandbox/nodes/virtual-runtime.ts";
import { completionIndex, indexFailureCount, isPodTerminal } from "@jobferry/shared/job/pods.ts";
import type { Job, JobSpec, JobStatus, Pod, PodTemplate } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Limits } from "@jobferry/worker-agent/job-controller/core/types.ts";
import type { Seen } from "./invariants.ts";

export const NAMESPACE = "default";
export const KEY = { namespace: NAMESPACE, name: "job" } as const;

/** What a script sees of the world it acts in. */
export interface Stage {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly job: Job | undefined;
  readonly status: JobStatus;
  pods(): Pod[];
  owned(): Pod[];
  edit(spec: object): Promise<void>;
  /** Ends the pods that were held, and holds no more. */
  letGo(): undefined;
}

/** Something that happens to the Job from outside, as soon as the world is ready for it. */
export interface Step {
  when(world: Stage): boolean;
  act(world: Stage): Promise<unknown> | undefined;
}

export interface Scenario {
  readonly name: string;
  readonly job: Job;
  /** How its pods run; what is left out succeeds after 2 s. */
  readonly behaviour?: VirtualBehaviour;
  /** Pods run until the script lets them go; when asked to stop, they take this long. */
  readonly holds?: { readonly stopMs: number };
  /** What the script does; it waits for conditions, not for times, so that a fault cannot change what it does. */
  readonly steps?: readonly Step[];
  /** Objects that are there before the controller starts. */
  prepare?(world: Stage): Promise<unknown>;
  /** What happens the very moment something is stored, before the controller goes on. */
  reacts?(world: Stage, seen: Seen): void;
  readonly limits?: Partial<Limits>;
  /** Elastic scaling may lower `succeeded` (IX-11). */
  readonly mayFall?: boolean;
  /** Adoption may give the Job more pods than it wants, until it removes one (AD-4). */
  readonly mayExceedParallelism?: boolean;
  /** Failures that do not count (PF-11). */
  readonly ignores?: (pod: Pod) => boolean;
  /** The behaviour id that lets `failed` be larger than in the undisturbed run, and by how much. */
  readonly mayFailMore?: { readonly upTo: number; readonly because: string };
  /** How the run ends when the Job does not finish. */
  readonly isOver?: (world: Stage) => boolean;
}

interface Shape extends Partial<Omit<JobSpec, "template">> {
  restartPolicy?: string;
}

export function aJob({ restartPolicy = "Never", ...spec }: Shape = {}): Job {
  const template: PodTemplate = { spec: { restartPolicy, containers: [{ name: "main", image: "busybox" }] } };
  return { metadata: { name: KEY.name, namespace: NAMESPACE }, spec: { ...spec, template } };
}

export const indexed = (completions: number, spec: Shape = {}): Shape => ({
  completionMode: "Indexed",
  completions,
  parallelism: completions,
  ...spec,
});

/** Short back-off, so that a run with a few failures stays short even in virtual time. */
export const QUICK = { podFailureBackoffMs: 1_000, maxPodFailureBackoffMs: 4_000 };

/** Within the grace period, and longer than any fault lasts: who is told to stop does not end before everybody knows. */
export const STOPS_LATE = 28_000;

/** By how many pods came before it, which nothing on the pod itself can tell. */
export function inOrder(outcomes: readonly number[], runMs = 2_000): VirtualBehaviour {
  const ranks = new Map<string, number>();
  return (pod) => {
    const uid = pod.metadata.uid ?? "";
    if (!ranks.has(uid)) ranks.set(uid, ranks.size);
    const exitCode = outcomes[Math.min(ranks.get(uid) ?? 0, outcomes.length - 1)] ?? 0;
    return { runMs, exitCode };
  };
}

export const byIndex =
  (exitCode: (index: number, failuresBefore: number) => number): VirtualBehaviour =>
  (pod) => ({ runMs: 2_000, exitCode: exitCode(completionIndex(pod) ?? 0, indexFailureCount(pod)) });

const isRunning = (pod: Pod): boolean =>
  pod.status?.phase === "Running" && pod.metadata.deletionTimestamp === undefined;

/** Exactly this many pods run, and no other is on its way in or out. */
export const running =
  (count: number) =>
  (world: Stage): boolean => {
    const unfinished = world.owned().filter((pod) => !isPodTerminal(pod));
    return unfinished.length === count && unfinished.every(isRunning);
  };

export const letGo: Step["act"] = (world) => world.letGo();

export const edit =
  (spec: object): Step["act"] =>
  (world) =>
    world.edit(spec);

export const keyOf = (pod: Pod) => ({ namespace: NAMESPACE, name: pod.metadata.name ?? "" });

export const firstRunning = (world: Stage): Pod => {
  const [first] = world.owned().filter(isRunning);
  if (first === undefined) throw new Error("no pod runs");
  return first;
};

export const deleteOnePod: Step["act"] = (world) => world.api.delete(pods, keyOf(firstRunning(world)));
