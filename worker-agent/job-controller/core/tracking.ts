/** Section 20, the two decisions that every crash-safe step rests on. */
import type { JobStatus, UncountedTerminatedPods } from "@jobferry/shared/job/types.ts";
import { isBeingDeleted } from "./job-spec.ts";
import type { Outcome, Pass, PodFacts } from "./types.ts";

/** TK-3, TK-4 */
export function mayRelease(pass: Pass, outcome: Outcome | undefined, facts: PodFacts): boolean {
  if (isBeingDeleted(pass.job) || outcome !== undefined || facts.succeeded) return true;
  if (!facts.failed) return false;
  // BI-8: its replacement still has to read the failure count from it.
  return facts.index === undefined || pass.indexes?.delayed.get(facts.index)?.uid !== facts.uid;
}

/** TK-2, TK-16: UIDs whose pod no longer holds the finalizer become part of the counters. */
export function moveCounted(status: JobStatus, holding: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const stillSucceeded = succeeded.filter((uid) => holding.has(uid));
  const stillFailed = failed.filter((uid) => holding.has(uid));
  if (stillSucceeded.length === succeeded.length && stillFailed.length === failed.length) return status;
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - stillSucceeded.length,
    failed: (status.failed ?? 0) + failed.length - stillFailed.length,
    uncountedTerminatedPods: uncountedLists(stillSucceeded, stillFailed),
  };
}

export const uncountedLists = (succeeded: string[], failed: string[]): UncountedTerminatedPods => ({
  ...(succeeded.length > 0 && { succeeded }),
  ...(failed.length > 0 && { failed }),
});
