/** What a Job controller needs to know about one pod (section 5, BO-10, IX-1, BI-5). */
import { INT32_MAX, parseGoInt } from "./go-int.ts";
import { COMPLETION_INDEX, INDEX_FAILURE_COUNT, INDEX_IGNORED_FAILURE_COUNT, TRACKING_FINALIZER } from "./keys.ts";
import type { ContainerStatus, Job, ObjectMeta, Pod } from "./types.ts";

/** The pod has reached a final phase. */
export const isPodTerminal = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";

/** CT-1 */
export const isPodActive = (pod: Pod): boolean => !isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined;

/** CT-2 */
export const isPodTerminating = (pod: Pod): boolean =>
  !isPodTerminal(pod) && pod.metadata.deletionTimestamp !== undefined;

/** The Ready condition is True; CT-3 counts this among active pods only. */
export const isPodReady = (pod: Pod): boolean =>
  pod.status?.conditions?.find((condition) => condition.type === "Ready")?.status === "True";

/** PR-2: pods are replaced, and counted as failed, only once they reach phase Failed. */
export const replacesOnlyFailedPods = (job: Job): boolean =>
  job.spec.podReplacementPolicy === "Failed" || job.spec.podFailurePolicy !== undefined;

/** CT-4 */
export function isPodFailed(pod: Pod, job: Job): boolean {
  if (pod.status?.phase === "Failed") return true;
  if (replacesOnlyFailedPods(job)) return false;
  return pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== "Succeeded";
}

export const hasTrackingFinalizer = (pod: Pod): boolean =>
  pod.metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;

/** IX-1: undefined when missing, unparsable or negative (K-12). */
export function completionIndex(pod: Pod): number | undefined {
  const index = parseGoInt(pod.metadata.annotations?.[COMPLETION_INDEX] ?? "");
  return index === undefined || index < 0 ? undefined : index;
}

/** K-23 */
export const indexFailureCount = (pod: Pod): number => countAnnotation(pod.metadata, INDEX_FAILURE_COUNT);
/** K-24 */
export const indexIgnoredFailureCount = (pod: Pod): number =>
  countAnnotation(pod.metadata, INDEX_IGNORED_FAILURE_COUNT);

/** BI-5 */
function countAnnotation(metadata: ObjectMeta, key: string): number {
  const count = parseGoInt(metadata.annotations?.[key] ?? "");
  return count === undefined || count < 0 || count > INT32_MAX ? 0 : count;
}

/** Restarts of all init and app containers (BL-4 looks at pods in phase Running or Pending only). */
export function restartCount(pod: Pod): number {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return statuses.reduce((sum, status) => sum + status.restartCount, 0);
}

/** BO-10: when the pod finished, in milliseconds since the epoch. */
export function finishTime(pod: Pod): number {
  return (
    containersFinishTime(pod) ??
    notReadySince(pod) ??
    deletionRequestTime(pod) ??
    parseTime(pod.metadata.creationTimestamp) ??
    0
  );
}

function containersFinishTime(pod: Pod): number | undefined {
  const sidecars = new Set(
    (pod.spec.initContainers ?? [])
      .filter((container) => container.restartPolicy === "Always")
      .map((container) => container.name),
  );
  const apps = latestFinish(pod.status?.containerStatuses ?? [], undefined);
  // BO-11: app containers that still run do not hide finished sidecars.
  return latestFinish(
    (pod.status?.initContainerStatuses ?? []).filter((status) => sidecars.has(status.name)),
    apps,
  );
}

/** Undefined as soon as one container has not finished, or when there is nothing to look at. */
function latestFinish(statuses: readonly ContainerStatus[], earlier: number | undefined): number | undefined {
  let latest = earlier;
  for (const status of statuses) {
    const finishedAt = parseTime(status.state?.terminated?.finishedAt);
    if (finishedAt === undefined) return undefined;
    if (latest === undefined || finishedAt > latest) latest = finishedAt;
  }
  return latest;
}

function notReadySince(pod: Pod): number | undefined {
  const ready = pod.status?.conditions?.find((condition) => condition.type === "Ready");
  return ready?.status === "False" ? parseTime(ready.lastTransitionTime) : undefined;
}

function deletionRequestTime(pod: Pod): number | undefined {
  const deletion = parseTime(pod.metadata.deletionTimestamp);
  return deletion === undefined ? undefined : deletion - (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000;
}

function parseTime(time: string | null | undefined): number | undefined {
  const milliseconds = Date.parse(time ?? "");
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
