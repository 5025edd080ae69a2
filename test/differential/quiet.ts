/**
 * What a side's controller evidently still has to do. It only decides when the next step may be played, so it says less
 * than the specification: a wrong entry shows as a case that never gets quiet, also with the built-in controller on both
 * sides.
 */
import { isConditionTrue, isFinished } from "@jobferry/shared/job/conditions.ts";
import {
  completionIndex,
  hasTrackingFinalizer,
  isPodActive,
  isPodFailed,
  isPodReady,
  isPodTerminating,
  replacesOnlyFailedPods,
  restartCount,
} from "@jobferry/shared/job/pods.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { IndexSet } from "@jobferry/worker-agent/job-controller/core/index-set.ts";
import { isOwned, type World } from "./roles.ts";

export interface Moment {
  now: number;
  /** Replacements are held back by a back-off that the script wants to act in. */
  holding: boolean;
}

export function unsettled(world: World, moment: Moment): string[] {
  const { job } = world;
  const owned = world.pods.filter((pod) => isOwned(world, pod));
  const tracked = owned.filter(hasTrackingFinalizer);
  if (job === undefined || job.metadata.deletionTimestamp !== undefined)
    return [...whileDeleting(world, owned, tracked)];
  if (isFinished(job)) return tracked.length > 0 ? ["pods of a finished Job are tracked (OR-5)"] : [];
  return [
    ...ownership(world, job),
    ...accounting(job, owned, tracked),
    ...finishing(job, owned),
    ...scaling(job, owned, moment),
  ];
}

function* whileDeleting(world: World, owned: readonly Pod[], tracked: readonly Pod[]): Generator<string> {
  if (world.job !== undefined && owned.length === 0) yield "garbage collection has the Job to delete (OR-7)";
  if (tracked.length > 0) yield "pods of a deleted Job are tracked (OR-6)";
  if (owned.some((pod) => pod.metadata.deletionTimestamp === undefined)) yield "garbage collection has pods to delete";
}

function* ownership(world: World, job: Job): Generator<string> {
  const wanted = Object.entries(job.spec.selector?.matchLabels ?? {});
  for (const pod of world.pods) {
    const matches = wanted.every(([key, value]) => pod.metadata.labels?.[key] === value);
    if (isOwned(world, pod) && !matches) yield "a pod is to be released (AD-3)";
    if (!isOwned(world, pod) && matches && pod.metadata.deletionTimestamp === undefined)
      yield "a pod is to be adopted (AD-4)";
  }
}

function* accounting(job: Job, owned: readonly Pod[], tracked: readonly Pod[]): Generator<string> {
  const status = job.status ?? {};
  const active = owned.filter(isPodActive);
  if ((status.active ?? 0) !== active.length) yield "active is not up to date (CT-11)";
  if (status.ready !== active.filter(isPodReady).length) yield "ready is not up to date (CT-13)";
  if (status.terminating !== owned.filter(isPodTerminating).length) yield "terminating is not up to date (CT-12)";
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  if (succeeded.length + failed.length > 0) yield "pods are uncounted (TK-16)";
  const onNoNode = owned.some((pod) => isPodTerminating(pod) && pod.spec.nodeName === undefined);
  if (onNoNode) yield "PodGC has a pod to fail (GC-1)";
  for (const pod of tracked) {
    if (pod.status?.phase === "Succeeded") yield "a succeeded pod is tracked (TK-3)";
    else if (isPodFailed(pod, job) && !mayBeDelayed(job, pod, active)) yield "a failed pod is tracked (TK-3)";
  }
}

/** BI-7 */
function mayBeDelayed(job: Job, pod: Pod, active: readonly Pod[]): boolean {
  const index = completionIndex(pod);
  if (job.spec.backoffLimitPerIndex === undefined || index === undefined) return false;
  const { done, broken } = indexSets(job);
  return !done.has(index) && !broken.has(index) && !active.some((other) => completionIndex(other) === index);
}

const indexSets = (job: Job): { done: IndexSet; broken: IndexSet } => ({
  done: IndexSet.parse(job.status?.completedIndexes, job.spec.completions ?? 0),
  broken: IndexSet.parse(job.status?.failedIndexes, job.spec.completions ?? 0),
});

const hasOutcome = (job: Job): boolean =>
  isConditionTrue(job.status?.conditions, "SuccessCriteriaMet") ||
  isConditionTrue(job.status?.conditions, "FailureTarget");

function* finishing(job: Job, owned: readonly Pod[]): Generator<string> {
  const { status = {}, spec } = job;
  if (hasOutcome(job)) {
    if (owned.some(isPodActive)) yield "active pods are to be deleted (CD-8)";
    if (!owned.some(isPodTerminating)) yield "the terminal condition is due (CD-4)";
    return;
  }
  if ((status.failed ?? 0) > (spec.backoffLimit ?? 0)) yield "the back-off limit is exceeded (BL-1)";
  if (spec.template.spec.restartPolicy === "OnFailure") {
    const live = owned.filter((pod) => pod.status?.phase === "Running" || pod.status?.phase === "Pending");
    const sum = live.reduce((total, pod) => total + restartCount(pod), 0);
    if (sum > 0 && sum >= (spec.backoffLimit ?? 0)) yield "restarts exceed the back-off limit (BL-4)";
  }
  if (spec.maxFailedIndexes !== undefined && indexSets(job).broken.size > spec.maxFailedIndexes) {
    yield "too many indexes have failed (BI-9)";
  }
  const { completions } = spec;
  const active = owned.filter(isPodActive).length;
  if (completions !== undefined && (status.succeeded ?? 0) >= completions && active === 0)
    yield "completion is due (S-12)";
  if (completions === undefined && (status.succeeded ?? 0) > 0 && active === 0) yield "completion is due (S-12)";
}

function* scaling(job: Job, owned: readonly Pod[], moment: Moment): Generator<string> {
  if (hasOutcome(job)) return;
  const suspended = isConditionTrue(job.status?.conditions, "Suspended");
  if ((job.spec.suspend ?? false) !== suspended) yield "the Suspended condition is not up to date (SU-4, SU-8)";
  const active = owned.filter(isPodActive);
  if (job.spec.suspend) {
    if (active.length > 0) yield "active pods of a suspended Job (SU-3)";
    return;
  }
  const deadline = deadlineOf(job);
  if (deadline === undefined) yield "the start time is due (S-6)";
  else if (deadline <= moment.now) yield "the deadline has passed (DL-1)";
  const desired = desiredPods(job, active.length);
  if (active.length > desired) yield "too many pods are active (M-4)";
  if (!moment.holding && missingPods(job, owned, desired) > 0) yield "pods are missing (M-6)";
}

/** DL-1: undefined when there is no start time, infinity when there is no deadline. */
export function deadlineOf(job: Job): number | undefined {
  const { startTime } = job.status ?? {};
  if (startTime === undefined) return undefined;
  const { activeDeadlineSeconds } = job.spec;
  return activeDeadlineSeconds === undefined
    ? Number.POSITIVE_INFINITY
    : Date.parse(startTime) + activeDeadlineSeconds * 1000;
}

/** M-2, M-3 */
function desiredPods(job: Job, active: number): number {
  const { completions, parallelism = 1 } = job.spec;
  const succeeded = job.status?.succeeded ?? 0;
  if (completions === undefined) return succeeded > 0 ? active : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

/** M-6, M-8, IX-8 */
function missingPods(job: Job, owned: readonly Pod[], desired: number): number {
  const active = owned.filter(isPodActive);
  const terminating = replacesOnlyFailedPods(job) ? owned.filter(isPodTerminating) : [];
  const missing = desired - active.length - terminating.length;
  if (job.spec.completionMode !== "Indexed") return missing;
  const { done, broken } = indexSets(job);
  const held = new Set([...active, ...terminating].map(completionIndex));
  const pending = Array.from({ length: job.spec.completions ?? 0 }, (_, index) => index).filter(
    (index) => !done.has(index) && !broken.has(index) && !held.has(index),
  );
  return Math.min(missing, pending.length);
}
