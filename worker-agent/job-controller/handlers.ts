/** Section 2: what each watch event means for expectations, and which Jobs it wakes. */
import { isConditionTrue, isFinished } from "@jobferry/shared/job/conditions.ts";
import { hasTrackingFinalizer, isPodTerminal } from "@jobferry/shared/job/pods.ts";
import { selectorMatches } from "@jobferry/shared/job/selector.ts";
import type { Job, LabelSelector, OwnerReference, Pod } from "@jobferry/shared/job/types.ts";
import { keyOf } from "@jobferry/shared/kube/store.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Batching, UnfinishedPods } from "./batching.ts";
import { type Claim, isClaimed, isClaimedByValue } from "./core/admit.ts";
import { controllerOf } from "./core/claim.ts";
import { uncountedCapMs } from "./core/uncounted-cap.ts";
import type { JobMemory, Memories } from "./memory.ts";
import type { JobMetrics } from "./metrics.ts";
import { isSettled, isUnfinished } from "./pod-cache.ts";

export interface HandlerOptions {
  claim: Claim;
  clock: Clock;
  batching: Batching;
  memories: Memories;
  unfinished: UnfinishedPods;
  metrics: JobMetrics;
  job(namespace: string | undefined, name: string): Job | undefined;
  /** Jobs whose selector may match this orphan. */
  jobsThatMayAdopt(pod: Pod): Job[];
  /** A sync at a given time, apart from batches. */
  syncAfter(key: string, ms: number): void;
  orphans: { addPod(pod: Pod): void; addSelector(namespace: string, selector: LabelSelector, later: boolean): void };
}

export class Handlers {
  readonly #options: HandlerOptions;

  constructor(options: HandlerOptions) {
    this.#options = options;
  }

  /** Q-2, CL-4 */
  jobAdded(job: Job): void {
    if (this.#isOurs(job)) this.#options.batching.now(keyOf(job));
    else if (job.spec.managedBy !== undefined) this.#options.metrics.externalJob(job.spec.managedBy);
  }

  /** */
  jobUpdated(before: Job, after: Job): void {
    if (!this.#isOurs(after)) return;
    const memory = this.#memory(after);
    if (isFinished(after)) {
      this.#options.memories.drop(after.metadata.uid ?? "");
      this.#queueSelector(after, memory !== undefined && memory.awaited.size > 0);
      return;
    }
    const key = keyOf(after);
    const generationChanged = before.metadata.generation !== after.metadata.generation;
    if (generationChanged || this.#caughtUp(after)) this.#now(after);
    else this.#options.batching.batched(key);
    this.#followDeadline(before, after, key);
  }

  /** Also one that was held back: nobody else takes the finalizer from its pods. */
  jobDeleted(job: Job): void {
    this.#options.memories.drop(job.metadata.uid ?? "");
    if (!isClaimedByValue(job, this.#options.claim)) return;
    this.#queueSelector(job, false);
    this.#options.batching.now(keyOf(job));
  }

  /** */
  podAdded(pod: Pod): void {
    this.#countTerminated(undefined, pod);
    const owner = controllerOf(pod);
    this.#options.unfinished.change(owner?.uid, isUnfinished(pod) ? 1 : 0);
    if (pod.metadata.deletionTimestamp !== undefined) this.#podGoing(pod, undefined, pod);
    else if (owner === undefined) this.#orphanSeen(pod, true);
    else {
      const job = this.#ownerJob(pod, owner);
      if (job === undefined) return;
      this.#memory(job)?.creationsSeen(1);
      this.#wake(job, undefined, pod);
    }
  }

  /** */
  podUpdated(before: Pod, after: Pod): void {
    this.#countTerminated(before, after);
    if (before.metadata.resourceVersion === after.metadata.resourceVersion) return;
    const oldOwner = controllerOf(before);
    const owner = controllerOf(after);
    this.#options.unfinished.change(oldOwner?.uid, isUnfinished(before) ? -1 : 0);
    this.#options.unfinished.change(owner?.uid, isUnfinished(after) ? 1 : 0);
    if (after.metadata.deletionTimestamp !== undefined) {
      this.#podGoing(after, before, after);
      return;
    }
    const ownerChanged = oldOwner?.uid !== owner?.uid;
    if (ownerChanged && oldOwner !== undefined) this.#podChanged(this.#ownerJob(after, oldOwner), before, after);
    if (owner !== undefined) this.#podChanged(this.#ownerJob(after, owner), before, after);
    else this.#orphanSeen(after, ownerChanged || !sameLabels(before, after));
  }

  /** */
  podDeleted(pod: Pod): void {
    this.#countTerminated(pod, undefined);
    this.#options.unfinished.change(controllerOf(pod)?.uid, isUnfinished(pod) ? -1 : 0);
    this.#podGoing(pod, pod, undefined);
  }

  #podChanged(job: Job | undefined, before: Pod, after: Pod): void {
    if (job === undefined) return;
    const memory = this.#memory(job);
    if (memory !== undefined) {
      if (!hasTrackingFinalizer(after)) memory.awaited.delete(after.metadata.uid ?? "");
      if (isSettled(after) && !sameLabels(before, after)) memory.settledUnchecked = true;
    }
    this.#wake(job, before, after);
  }

  /** Marked for deletion or, without `after`, gone. */
  #podGoing(pod: Pod, before: Pod | undefined, after: Pod | undefined): void {
    const owner = controllerOf(pod);
    const job = owner && this.#ownerJob(pod, owner);
    const gone = after === undefined;
    if (job === undefined || isFinished(job)) {
      if (!gone && hasTrackingFinalizer(pod)) this.#options.orphans.addPod(pod);
      return;
    }
    const memory = this.#memory(job);
    memory?.deletionsSeen(1);
    if (gone || !hasTrackingFinalizer(pod)) memory?.awaited.delete(pod.metadata.uid ?? "");
    this.#wake(job, before, after);
  }

  #orphanSeen(pod: Pod, mayBeAdopted: boolean): void {
    if (hasTrackingFinalizer(pod)) this.#options.orphans.addPod(pod);
    if (!mayBeAdopted || Object.keys(pod.metadata.labels ?? {}).length === 0) return;
    for (const job of this.#options.jobsThatMayAdopt(pod))
      if (this.#isOurs(job) && selectorMatches(job.spec.selector, pod.metadata.labels))
        this.#options.batching.batched(keyOf(job));
  }

  /** See batching.ts. Without `before` the pod is new to us, without `after` it is gone. */
  #wake(job: Job, before: Pod | undefined, after: Pod | undefined): void {
    if (!this.#isOurs(job)) return;
    const { batching } = this.#options;
    const key = keyOf(job);
    const memory = this.#memory(job);
    const created = (memory?.expectations?.creations ?? 0) <= 0;
    const ended = hasEnded(job, before, after);
    const goesOn = memory?.wantsMorePods === true && created;
    const urgent = ended && created && this.#nothingRuns(job) && !mayBeRetried(job, after);
    if (urgent || goesOn || this.#caughtUp(job)) this.#now(job);
    else if (ended) batching.podEnded(key, uncountedCapMs(job));
    else batching.batched(key);
  }

  #followDeadline(before: Job, after: Job, key: string): void {
    const { activeDeadlineSeconds: seconds } = after.spec;
    const { startTime } = after.status ?? {};
    if (seconds === undefined || startTime === undefined || seconds === before.spec.activeDeadlineSeconds) return;
    this.#options.syncAfter(key, seconds * 1000 - (this.#options.clock.now() - Date.parse(startTime)));
  }

  /** Entering or leaving "terminal with the tracking finalizer", whoever owns the pod. */
  #countTerminated(before: Pod | undefined, after: Pod | undefined): void {
    const was = before !== undefined && isPodTerminal(before) && hasTrackingFinalizer(before);
    const is = after !== undefined && isPodTerminal(after) && hasTrackingFinalizer(after);
    if (was !== is) this.#options.metrics.terminatedPod(is ? "add" : "delete");
  }

  /** `later`: the cache still shows finalizers that we have just taken; a look at once would take them again. */
  #queueSelector(job: Job, later: boolean): void {
    if (job.spec.selector !== undefined)
      this.#options.orphans.addSelector(job.metadata.namespace ?? "", job.spec.selector, later);
  }

  #isOurs(job: Job): boolean {
    return isClaimed(job, this.#options.claim);
  }

  #now(job: Job): void {
    const memory = this.#memory(job);
    if (memory !== undefined) memory.urgent = true;
    this.#options.batching.now(keyOf(job));
  }

  /** An event may have closed the gap for which an urgent sync was refused. */
  #caughtUp(job: Job): boolean {
    const memory = this.#memory(job);
    return memory?.waitsForCache === true && memory.urgent && this.#nothingRuns(job);
  }

  #nothingRuns(job: Job): boolean {
    return this.#options.unfinished.count(job.metadata.uid ?? "") === 0;
  }

  #memory(job: Job): JobMemory | undefined {
    return this.#options.memories.find(job.metadata.uid ?? "");
  }

  /** by kind, name, then UID. */
  #ownerJob(pod: Pod, owner: OwnerReference): Job | undefined {
    if (owner.kind !== "Job") return undefined;
    const job = this.#options.job(pod.metadata.namespace, owner.name);
    return job?.metadata.uid === owner.uid ? job : undefined;
  }
}

/** Its containers ended; or it is gone, and the Job waits for just that. Other deletions are batched: see batching.ts. */
function hasEnded(job: Job, before: Pod | undefined, after: Pod | undefined): boolean {
  if (before !== undefined && isPodTerminal(before)) return false;
  return after === undefined ? isFinishing(job) : isPodTerminal(after);
}

/** It failed, and another may take its place: after a back-off, so there is no hurry. */
const mayBeRetried = (job: Job, pod: Pod | undefined): boolean => pod?.status?.phase === "Failed" && !isFinishing(job);

function isFinishing({ status }: Job): boolean {
  const { conditions } = status ?? {};
  return isConditionTrue(conditions, "FailureTarget") || isConditionTrue(conditions, "SuccessCriteriaMet");
}

function sameLabels(a: Pod, b: Pod): boolean {
  const left = a.metadata.labels ?? {};
  const right = b.metadata.labels ?? {};
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
}
