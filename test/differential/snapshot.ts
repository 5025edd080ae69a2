/** One side's Job and pods without what may differ: names, UIDs, times, and who manages the Job. */
import { completionIndex } from "@jobferry/shared/job/pods.ts";
import type { Job, JobStatus, ObjectMeta, Pod } from "@jobferry/shared/job/types.ts";
import { epoch, isOwned, type World } from "./roles.ts";

export interface Snapshot {
  job: unknown;
  pods: unknown[];
}

export interface Blur {
  /** OR-6, CT-4: whether garbage collection or the controller reaches a pod first decides if it counts. */
  statusOfDeletedJob: boolean;
  /** PF-12: several FailJob matches at once; which one is told is not defined. */
  failJobMessage: boolean;
}

export function snapshot(world: World, blur: Blur): Snapshot {
  return {
    job: world.job === undefined ? "gone" : describeJob(world.job, blur),
    pods: world.pods
      .map((pod) => describePod(world, pod))
      .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
  };
}

function describeJob(job: Job, blur: Blur): unknown {
  const { deletionTimestamp, finalizers, generation, labels } = job.metadata;
  const { managedBy: _, selector: __, template: ___, ...spec } = job.spec;
  const deleting = deletionTimestamp !== undefined;
  if (deleting && blur.statusOfDeletedJob) return { deleting, finalizers };
  return { deleting, finalizers, generation, labels: anonymous(labels, job), spec, status: describeStatus(job, blur) };
}

function describeStatus(job: Job, blur: Blur): unknown {
  const { startTime, completionTime, uncountedTerminatedPods, conditions, ...counters } = job.status ?? {};
  return {
    ...counters,
    startTime: startTime !== undefined,
    completionTime: completionTime !== undefined,
    uncounted: describeUncounted(uncountedTerminatedPods),
    conditions: (conditions ?? []).map((condition) => describeCondition(condition, blur)),
  };
}

const describeUncounted = (uncounted: JobStatus["uncountedTerminatedPods"]): unknown =>
  uncounted && Object.fromEntries(Object.entries(uncounted).map(([outcome, uids]) => [outcome, uids?.length]));

export function describeCondition(
  condition: { type: string; status: string; reason?: string; message?: string },
  blur: Blur,
): string {
  const { type, status, reason = "", message = "" } = condition;
  const told = blur.failJobMessage && reason === "PodFailurePolicy" ? "(PF-12)" : nameless(message);
  return `${type}=${status} ${reason}: ${told}`;
}

/** `pod ns/job-0-x7k2p` becomes `pod <pod>`, whatever the pod's name. */
export const nameless = (message: string): string => message.replace(/\b(pod) [^\s/]+\/\S+/gi, "$1 <pod>");

const VOLATILE_META = new Set([
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "deletionTimestamp",
  "managedFields",
  "generation",
]);

function describePod(world: World, pod: Pod): unknown {
  const { phase, conditions, containerStatuses } = pod.status ?? {};
  const metadata = Object.fromEntries(Object.entries(pod.metadata).filter(([key]) => !VOLATILE_META.has(key)));
  return {
    index: completionIndex(pod) ?? null,
    phase,
    terminating: pod.metadata.deletionTimestamp !== undefined,
    owned: isOwned(world, pod),
    firstSeen: epoch(world, pod),
    conditions: (conditions ?? []).map(({ type, status }) => `${type}=${status}`),
    restarts: (containerStatuses ?? []).map(({ restartCount }) => restartCount),
    metadata: anonymous(metadata, world.job, world.jobUid),
    spec: pod.spec,
  };
}

/** The Job's UID stands in labels, selectors and owner references. */
function anonymous(
  value: Partial<ObjectMeta> | Record<string, string> | undefined,
  job: Job | undefined,
  jobUid?: string,
): unknown {
  const uid = jobUid ?? job?.metadata.uid;
  if (value === undefined || uid === undefined) return value;
  return JSON.parse(JSON.stringify(value).replaceAll(uid, "<job uid>"));
}
