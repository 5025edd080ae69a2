/** Section 13: which indexes have succeeded, are running, or are to run next. */

import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { IndexSet } from "./index-set.ts";
import { hasPerIndexLimit, indexCount, isIndexed } from "./job-spec.ts";
import { delayedPods, newlyFailedIndexes } from "./per-index.ts";
import type { IndexState, PodFacts } from "./types.ts";

const none: ReadonlyMap<number, PodFacts> = new Map();

/** S-9 */
export function indexState(job: Job, status: JobStatus, pods: readonly PodFacts[]): IndexState | undefined {
  if (!isIndexed(job)) return undefined;
  const previous = IndexSet.parse(status.completedIndexes, indexCount(job));
  const succeededNow = indexesOf(pods, (facts) => facts.succeeded && facts.finalizer);
  if (!hasPerIndexLimit(job))
    return { previous, succeeded: previous.with(succeededNow), failed: undefined, delayed: none };
  // BI-12: an index stays what it was first, or the status is refused for ever (VS-17) when a pod's phase flips.
  const failedBefore = IndexSet.parse(status.failedIndexes, indexCount(job));
  const succeeded = previous.with(succeededNow.filter((index) => !failedBefore.has(index)));
  const failed = failedBefore.with(newlyFailedIndexes(job, pods).filter((index) => !succeeded.has(index)));
  const active = new Set(indexesOf(pods, (facts) => facts.active));
  return { previous, succeeded, failed, delayed: delayedPods(pods, active, succeeded, failed) };
}

function indexesOf(pods: readonly PodFacts[], filter: (facts: PodFacts) => boolean): number[] {
  const indexes: number[] = [];
  for (const facts of pods) if (facts.index !== undefined && filter(facts)) indexes.push(facts.index);
  return indexes;
}

/** IX-8: the lowest `count` indexes that nobody runs and that need running. */
export function pendingIndexes(
  job: Job,
  indexes: IndexState,
  pods: readonly PodFacts[],
  terminatingHoldIndex: boolean,
  count: number,
): number[] {
  const held = indexesOf(pods, (facts) => facts.active || (terminatingHoldIndex && facts.terminating));
  const taken = indexes.succeeded.union(indexes.failed ?? IndexSet.empty).with(held);
  return taken.lowestMissing(count, indexCount(job));
}
