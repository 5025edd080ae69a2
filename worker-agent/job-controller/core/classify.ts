/** Section 5: what each claimed pod is to its Job, and which have finished since the last accounting. */
import {
  completionIndex,
  hasTrackingFinalizer,
  isPodActive,
  isPodFailed,
  isPodReady,
  isPodTerminating,
} from "@jobferry/shared/job/pods.ts";
import type { Job, JobStatus, Pod } from "@jobferry/shared/job/types.ts";
import { indexCount, isIndexed } from "./job-spec.ts";
import type { Pass, PodFacts } from "./types.ts";

export function factsOf(job: Job, pod: Pod, awaited: ReadonlySet<string>): PodFacts {
  const uid = pod.metadata.uid ?? "";
  return {
    pod,
    uid,
    active: isPodActive(pod),
    terminating: isPodTerminating(pod),
    ready: isPodReady(pod),
    succeeded: pod.status?.phase === "Succeeded",
    failed: isPodFailed(pod, job),
    finalizer: hasTrackingFinalizer(pod),
    awaited: awaited.has(uid),
    index: isIndexed(job) ? validIndex(job, pod) : undefined,
  };
}

/** IX-9: an index outside `[0, completions)` counts for nothing. */
function validIndex(job: Job, pod: Pod): number | undefined {
  const index = completionIndex(pod);
  return index !== undefined && index < indexCount(job) ? index : undefined;
}

/** CT-6: may this pod be counted at all? */
const isCountable = (job: Job, facts: PodFacts): boolean =>
  facts.finalizer && !facts.awaited && (!isIndexed(job) || facts.index !== undefined);

export const uncountedOf = (status: JobStatus): Pass["uncounted"] => ({
  succeeded: new Set(status.uncountedTerminatedPods?.succeeded),
  failed: new Set(status.uncountedTerminatedPods?.failed),
});

/** CT-6. A listed success that has turned into a failure since is not a failure: its UID may not be listed twice (VS-10). */
export function newlyFinished(
  job: Job,
  pods: readonly PodFacts[],
  uncounted: Pass["uncounted"],
): { succeeded: PodFacts[]; failed: PodFacts[] } {
  const countable = pods.filter((facts) => isCountable(job, facts));
  const unlisted = countable.filter(({ uid }) => !uncounted.succeeded.has(uid));
  return {
    succeeded: unlisted.filter((facts) => facts.succeeded),
    failed: unlisted.filter((facts) => facts.failed && !uncounted.failed.has(facts.uid)),
  };
}
