/** Section 9: how long a failed pod's replacement has to wait. */
import { finishTime, indexFailureCount, indexIgnoredFailureCount } from "@jobferry/shared/job/pods.ts";
import type { BackoffRecord, Limits, PodFacts } from "./types.ts";

export const noFailures: BackoffRecord = { failures: 0, lastFailureMs: 0 };

const latest = (times: readonly number[]): number => times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);

/** BO-3, BO-4: the record after these pods finished. Failures ignored by the failure policy delay, too (BO-2). */
export function nextBackoff(
  record: BackoffRecord,
  newSucceeded: readonly PodFacts[],
  newFailed: readonly PodFacts[],
): BackoffRecord {
  const failureTimes = newFailed.map((facts) => finishTime(facts.pod));
  if (newSucceeded.length === 0) {
    if (newFailed.length === 0) return record;
    return { failures: record.failures + newFailed.length, lastFailureMs: latest(failureTimes) };
  }
  const lastSuccess = latest(newSucceeded.map((facts) => finishTime(facts.pod)));
  const since = failureTimes.filter((time) => time > lastSuccess);
  return since.length === 0 ? noFailures : { failures: since.length, lastFailureMs: latest(since) };
}

/** BO-6 */
export function remainingBackoff(record: BackoffRecord, now: number, limits: Limits): number {
  if (record.failures === 0) return 0;
  // Beyond 2^31 every limit is reached; the bound keeps the product finite.
  const doubled = limits.podFailureBackoffMs * 2 ** Math.min(record.failures - 1, 31);
  const wait = Math.min(doubled, limits.maxPodFailureBackoffMs);
  return Math.max(0, wait - (now - record.lastFailureMs));
}

/** BO-8: the state is in the pod's annotations and survives a restart (BO-9). */
export function remainingIndexBackoff(delayed: PodFacts | undefined, now: number, limits: Limits): number {
  if (delayed === undefined) return 0;
  const failures = indexFailureCount(delayed.pod) + indexIgnoredFailureCount(delayed.pod) + 1;
  return remainingBackoff({ failures, lastFailureMs: finishTime(delayed.pod) }, now, limits);
}
