/** Section 6: how many pods should run, and what one sync does about it. Deletes win over creates (S-16). */
import { replacesOnlyFailedPods } from "@jobferry/shared/job/pods.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { remainingBackoff, remainingIndexBackoff } from "./backoff.ts";
import { pendingIndexes } from "./indexed.ts";
import { hasPerIndexLimit, isBeingDeleted, isSuspended, parallelism } from "./job-spec.ts";
import { podFor, podForIndex } from "./pod-template.ts";
import { podsToRemove } from "./removal.ts";
import type { Pass, PodFacts } from "./types.ts";

/** M-13 */
export type SyncAction = "reconciling" | "tracking" | "pods_created" | "pods_deleted";
/** ME-1 */
export type CreationReason = "new" | "recreate_terminating_or_failed" | "recreate_failed";

export type ScalePlan =
  | { readonly kind: "none"; readonly action: "reconciling" | "tracking" }
  | { readonly kind: "wait"; readonly action: "pods_created"; readonly forMs: number }
  | {
      readonly kind: "create";
      readonly action: "pods_created";
      readonly pods: readonly Pod[];
      readonly reason: CreationReason;
    }
  /** RM-1: finalizer first, then delete; deletions are expected. */
  | { readonly kind: "remove"; readonly action: "pods_deleted"; readonly pods: readonly PodFacts[] }
  /** CD-8: delete with the finalizer on, so that accounting sees the pod. */
  | { readonly kind: "terminate"; readonly action: "reconciling"; readonly pods: readonly PodFacts[] };

/** S-10, S-11 */
export function planScale(pass: Pass): ScalePlan {
  if (pass.outcome !== undefined) return { kind: "terminate", action: "reconciling", pods: pass.active };
  if (!pass.satisfied || isBeingDeleted(pass.job)) return { kind: "none", action: "reconciling" };
  // SU-3: everything, without the cap.
  if (isSuspended(pass.job)) return { kind: "remove", action: "pods_deleted", pods: pass.active };
  const desired = desiredActive(pass.job, pass.succeeded, pass.active.length);
  const excess = podsToRemove(pass.job, pass.active, pass.active.length - desired);
  if (excess.length > 0)
    return { kind: "remove", action: "pods_deleted", pods: excess.slice(0, pass.limits.maxPodsPerSync) };
  return planCreation(pass, desired - pass.active.length - terminatingSlots(pass));
}

/** M-2, M-3 */
export function desiredActive(job: Job, succeeded: number, active: number): number {
  const { completions } = job.spec;
  if (completions === undefined) return succeeded > 0 ? active : parallelism(job);
  return Math.max(0, Math.min(completions - succeeded, parallelism(job)));
}

/** M-6: under PR-2 a pod on its way out still takes its place. */
const terminatingSlots = (pass: Pass): number => (replacesOnlyFailedPods(pass.job) ? pass.terminating : 0);

function planCreation(pass: Pass, missing: number): ScalePlan {
  if (missing <= 0) return { kind: "none", action: "tracking" };
  if (!hasPerIndexLimit(pass.job)) {
    const wait = remainingBackoff(pass.backoff, pass.now, pass.limits);
    if (wait > 0) return waitFor(pass, wait);
  }
  const count = Math.min(missing, pass.limits.maxPodsPerSync);
  if (pass.indexes === undefined) return create(pass, Array<Pod>(count).fill(podFor(pass.job)));
  return planIndexes(pass, pass.indexes, count);
}

/** M-8, M-9: an index that waits keeps its place, so the candidates are chosen before the filter. */
function planIndexes(pass: Pass, indexes: NonNullable<Pass["indexes"]>, count: number): ScalePlan {
  const { job, now, limits } = pass;
  const candidates = pendingIndexes(job, indexes, pass.pods, replacesOnlyFailedPods(job), count);
  const { seenMs } = pass.backoff;
  const waits = candidates.map((index) => remainingIndexBackoff(indexes.delayed.get(index), seenMs, now, limits));
  const due = candidates.filter((_, position) => waits[position] === 0);
  if (due.length === 0 && candidates.length > 0) return waitFor(pass, Math.min(...waits));
  const base = podFor(job);
  return create(
    pass,
    due.map((index) => podForIndex(job, base, index, indexes.delayed.get(index))),
  );
}

/** Q-13, BO-7 */
const waitFor = (pass: Pass, ms: number): ScalePlan => ({
  kind: "wait",
  action: "pods_created",
  forMs: Math.max(ms, pass.limits.syncBatchMs),
});

const create = (pass: Pass, pods: readonly Pod[]): ScalePlan => ({
  kind: "create",
  action: "pods_created",
  pods,
  reason: creationReason(pass),
});

function creationReason({ job, failed, terminating }: Pass): CreationReason {
  if (job.spec.podReplacementPolicy === "Failed" && failed > 0) return "recreate_failed";
  return failed > 0 || terminating > 0 ? "recreate_terminating_or_failed" : "new";
}
