/** Section 9: how long a failed pod's replacement has to wait. */
import { finishTime, indexFailureCount, indexIgnoredFailureCount } from "@jobferry/shared/job/pods.ts";
import type { BackoffRecord, Limits, PodFacts } from "./types.ts";

export const noFailures: BackoffRecord = { failures: 0, lastFailureMs: 0, seenMs: 0 };

const latest = (times: readonly number[]): number => times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);

/**
 * BO-3, BO-4: the record after these pods finished. Failures ignored by the failure policy delay, too (BO-2). A kubelet whose
 * clock is ahead of ours ends its pods in the future: what is waited for is counted from when we saw it.
 */
export function nextBackoff(
  record: BackoffRecord,
  newSucceeded: readonly PodFacts[],
  newFailed: readonly PodFacts[],
  now: number,
): BackoffRecord {
  const failureTimes = newFailed.map((facts) => finishTime(facts.pod));
  const seenMs = newFailed.length === 0 ? record.seenMs : now;
  if (newSucceeded.length === 0) {
    if (newFailed.length === 0) return record;
    return { failures: record.failures + newFailed.length, lastFailureMs: Math.min(latest(failureTimes), now), seenMs };
  }
  const lastSuccess = latest(newSucceeded.map((facts) => finishTime(facts.pod)));
  const since = failureTimes.filter((time) => time > lastSuccess);
  if (since.length === 0) return { ...noFailures, seenMs };
  return { failures: since.length, lastFailureMs: Math.min(latest(since), now), seenMs };
}

/** BO-6 */
export function remainingBackoff(
  record: Pick<BackoffRecord, "failures" | "lastFailureMs">,
  now: number,
  limits: Limits,
): number {
  if (record.failures === 0) return 0;
  // Beyond 2^31 every limit is reached; the bound keeps the product finite.
  const doubled = limits.podFailureBackoffMs * 2 ** Math.min(record.failures - 1, 31);
  const wait = Math.min(doubled, limits.maxPodFailureBackoffMs);
  return Math.max(0, wait - (now - record.lastFailureMs));
}

/** BO-8: the state is in the pod's annotations and survives a restart (BO-9). `seenMs`: see `nextBackoff`. */
export function remainingIndexBackoff(
  delayed: PodFacts | undefined,
  seenMs: number,
  now: number,
  limits: Limits,
): number {
  if (delayed === undefined) return 0;
  const failures = indexFailureCount(delayed.pod) + indexIgnoredFailureCount(delayed.pod) + 1;
  const finishedMs = finishTime(delayed.pod);
  const lastFailureMs = finishedMs > now ? Math.min(finishedMs, seenMs) : finishedMs;
  return remainingBackoff({ failures, lastFailureMs }, now, limits);
}
