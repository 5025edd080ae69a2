/** Section 16: retries counted per index. */

import { INDEX_FAILURE_COUNT, INDEX_IGNORED_FAILURE_COUNT } from "@jobferry/shared/job/keys.ts";
import { finishTime, indexFailureCount, indexIgnoredFailureCount } from "@jobferry/shared/job/pods.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { IndexSet } from "./index-set.ts";
import { countsAsFailure, matchFailurePolicy } from "./pod-failure-policy.ts";
import type { PodFacts } from "./types.ts";

/** BI-2: to be added to what the status says. */
export function newlyFailedIndexes(job: Job, pods: readonly PodFacts[]): number[] {
  const newlyFailed: number[] = [];
  for (const facts of pods) {
    if (facts.index !== undefined && facts.finalizer && facts.failed && failsIndex(job, facts))
      newlyFailed.push(facts.index);
  }
  return newlyFailed;
}

/** BI-3 */
function failsIndex(job: Job, facts: PodFacts): boolean {
  const match = matchFailurePolicy(job, facts.pod);
  if (match?.action === "FailIndex") return true;
  return countsAsFailure(match) && indexFailureCount(facts.pod) >= (job.spec.backoffLimitPerIndex ?? 0);
}

/** BI-7: the pod that carries an index's failure count until its replacement does. */
export function delayedPods(
  pods: readonly PodFacts[],
  activeIndexes: ReadonlySet<number>,
  succeeded: IndexSet,
  failed: IndexSet,
): Map<number, PodFacts> {
  const delayed = new Map<number, PodFacts>();
  for (const facts of pods) {
    const { index } = facts;
    if (index === undefined || !facts.failed || !facts.finalizer || facts.awaited) continue;
    if (succeeded.has(index) || failed.has(index) || activeIndexes.has(index)) continue;
    const current = delayed.get(index);
    if (current === undefined || supersedes(facts, current)) delayed.set(index, facts);
  }
  return delayed;
}

const failuresSoFar = ({ pod }: PodFacts): number => indexFailureCount(pod) + indexIgnoredFailureCount(pod);

const supersedes = (later: PodFacts, current: PodFacts): boolean =>
  failuresSoFar(later) >= failuresSoFar(current) && finishTime(later.pod) >= finishTime(current.pod);

/** BI-6, PC-9: the annotations of the pod that replaces `delayed`. */
export function failureCountAnnotations(job: Job, delayed: PodFacts | undefined): Record<string, string> {
  if (delayed === undefined) return { [INDEX_FAILURE_COUNT]: "0" };
  const counts = countsAsFailure(matchFailurePolicy(job, delayed.pod));
  const failures = indexFailureCount(delayed.pod) + (counts ? 1 : 0);
  const ignored = indexIgnoredFailureCount(delayed.pod) + (counts ? 0 : 1);
  return {
    [INDEX_FAILURE_COUNT]: String(failures),
    ...(ignored > 0 && { [INDEX_IGNORED_FAILURE_COUNT]: String(ignored) }),
  };
}
