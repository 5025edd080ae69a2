/**
 * The invariants of one cluster, judged over everything that was ever stored: each version of the Job and of each pod, in the
 * order in which the API server wrote them. The Job's own book is compared with what really happened to the pods.
 */

import {
  completionIndex,
  hasTrackingFinalizer,
  isPodActive,
  isPodTerminal,
  replacesOnlyFailedPods,
} from "@jobferry/shared/job/pods.ts";
import type { Job, JobStatus, Pod } from "@jobferry/shared/job/types.ts";
import { IndexSet } from "@jobferry/worker-agent/job-controller/core/index-set.ts";

export type Seen =
  | { readonly kind: "job"; readonly gone: boolean; readonly object: Job }
  | { readonly kind: "pod"; readonly gone: boolean; readonly object: Pod };

interface Expected {
  /** K-4 of the run. */
  readonly maxUncountedPods: number;
  /** IX-11: elastic scaling may lower `succeeded`. */
  readonly mayFall: boolean;
  /** AD-4: adoption may put more pods into a Job than it wants, for a moment. */
  readonly mayExceedParallelism: boolean;
  /** PF-11: this failure does not count. */
  ignores(pod: Pod): boolean;
}

interface PodHistory {
  pod: Pod;
  gone: boolean;
  /** It was Succeeded while it was tracked, so it counts. */
  succeededTracked: boolean;
}

const COUNTERS = ["succeeded", "failed"] as const;

const versionOf = ({ object }: Seen): number => Number(object.metadata.resourceVersion);
const has = (status: JobStatus, type: string): boolean =>
  status.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
const isFinished = (status: JobStatus): boolean => has(status, "Complete") || has(status, "Failed");

/** What must never be seen, and was. `jobUid`: only this Job and its pods are judged. */
export function violationsOf(history: readonly Seen[], jobUid: string, expected: Expected): string[] {
  const judge = new Judge(jobUid, expected);
  for (const seen of history.toSorted((a, b) => versionOf(a) - versionOf(b))) judge.see(seen);
  return judge.violations;
}

class Judge {
  readonly violations: string[] = [];
  readonly #uid: string;
  readonly #expected: Expected;
  readonly #pods = new Map<string, PodHistory>();
  /** Every UID that was ever on one of the lists. */
  readonly #listed = { succeeded: new Set<string>(), failed: new Set<string>() };
  #job: Job | undefined;
  #status: JobStatus = {};
  #finished = false;
  #jobGone = false;
  /** The most that the Job ever asked for: the controller may not have heard of the last change yet. */
  #parallelism = 0;
  #completions = 0;

  constructor(uid: string, expected: Expected) {
    this.#uid = uid;
    this.#expected = expected;
  }

  see(seen: Seen): void {
    if (seen.kind === "pod") this.#seePod(seen.object, seen.gone);
    else if (seen.object.metadata.uid === this.#uid) this.#seeJob(seen.object, seen.gone);
  }

  #seeJob(job: Job, gone: boolean): void {
    this.#job = job;
    this.#jobGone = gone;
    this.#parallelism = Math.max(this.#parallelism, job.spec.parallelism ?? 1);
    this.#completions = Math.max(this.#completions, job.spec.completions ?? 0);
    const before = this.#status;
    const after = job.status ?? {};
    if (gone || JSON.stringify(before) === JSON.stringify(after)) return;
    this.#status = after;
    this.#neverBack(before, after);
    this.#booksBalance(before, after);
    if (job.spec.completionMode === "Indexed") this.#indexesAreEarned(job, before, after);
    this.#staysWithin(after);
    if (isFinished(after) && !this.#finished) this.#isOver(after);
  }

  /** E.2 */
  #neverBack(before: JobStatus, after: JobStatus): void {
    for (const counter of COUNTERS) {
      const fell = (after[counter] ?? 0) < (before[counter] ?? 0);
      if (fell && !(counter === "succeeded" && this.#expected.mayFall))
        this.#violated(`${counter} fell from ${before[counter]} to ${after[counter] ?? 0}`);
    }
    for (const { type, status } of before.conditions ?? [])
      if (type !== "Suspended" && status === "True" && !has(after, type))
        this.#violated(`condition ${type} was withdrawn`);
    if (has(after, "Complete") && has(after, "Failed")) this.#violated("Complete and Failed together");
    if (this.#finished && JSON.stringify(before) !== JSON.stringify(after)) this.#violated("changed when finished");
  }

  /** E.1: a UID is listed once, while its pod is held; it leaves the list for the counter once the pod is not held any more. */
  #booksBalance(before: JobStatus, after: JobStatus): void {
    const indexed = this.#job?.spec.completionMode === "Indexed";
    for (const counter of COUNTERS) {
      const was = new Set(before.uncountedTerminatedPods?.[counter]);
      const is = new Set(after.uncountedTerminatedPods?.[counter]);
      for (const uid of is) if (!was.has(uid)) this.#entersList(counter, uid);
      const left = [...was].filter((uid) => !is.has(uid));
      for (const uid of left) if (this.#holds(uid)) this.#violated(`${uid} was counted while its finalizer was on`);
      if (indexed && counter === "succeeded") continue;
      const grown = (after[counter] ?? 0) - (before[counter] ?? 0);
      if (grown !== left.length) this.#violated(`${counter} grew by ${grown} for ${left.length} pods`);
    }
  }

  #entersList(counter: "succeeded" | "failed", uid: string): void {
    if (this.#listed.succeeded.has(uid) || this.#listed.failed.has(uid)) this.#violated(`${uid} was listed twice`);
    if (!this.#holds(uid)) this.#violated(`${uid} was listed after its finalizer was gone`);
    const history = this.#pods.get(uid);
    if (counter === "succeeded" && history !== undefined && !history.succeededTracked)
      this.#violated(`${uid} was listed as succeeded and is not`);
    this.#listed[counter].add(uid);
  }

  /** E.1 for Indexed Jobs: the string is the book of successes (IX-7). */
  #indexesAreEarned(job: Job, before: JobStatus, after: JobStatus): void {
    const size = job.spec.completions ?? 0;
    const was = IndexSet.parse(before.completedIndexes, size);
    const is = IndexSet.parse(after.completedIndexes, size);
    if (!this.#expected.mayFall && is.size !== (after.succeeded ?? 0))
      this.#violated(`succeeded is ${after.succeeded ?? 0}, completedIndexes ${after.completedIndexes ?? ""}`);
    for (let index = 0; index < size; index++) {
      if (!is.has(index) || was.has(index)) continue;
      const earned = this.#ours().some(
        ({ pod, succeededTracked }) => completionIndex(pod) === index && succeededTracked && hasTrackingFinalizer(pod),
      );
      if (!earned) this.#violated(`index ${index} was completed by nobody`);
    }
  }

  #staysWithin(status: JobStatus): void {
    const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
    const listed = succeeded.length + failed.length;
    // TK-10 looks after each pod: lists that were full before take one more.
    if (listed > this.#expected.maxUncountedPods + 1) this.#violated(`${listed} pods on the lists at once (K-4)`);
    if ((status.active ?? 0) > this.#parallelism && !this.#expected.mayExceedParallelism)
      this.#violated(`active ${status.active} above parallelism ${this.#parallelism}`);
  }

  /** VS-21, VS-23, VS-25 and what they stand for. */
  #isOver(status: JobStatus): void {
    this.#finished = true;
    for (const field of ["active", "ready", "terminating"] as const)
      if ((status[field] ?? 0) > 0) this.#violated(`finished with ${field} ${status[field]}`);
    const running = this.#ours().filter(({ pod }) => !isPodTerminal(pod)).length;
    if (running > 0) this.#violated(`finished while ${running} pods were not`);
  }

  #seePod(pod: Pod, gone: boolean): void {
    const uid = pod.metadata.uid ?? "";
    const known = this.#pods.get(uid);
    const tracked = hasTrackingFinalizer(pod) && ownerOf(pod) === this.#uid;
    const succeededTracked = known?.succeededTracked === true || (tracked && pod.status?.phase === "Succeeded");
    this.#pods.set(uid, { pod, gone, succeededTracked });
    if (known === undefined) {
      if (ownerOf(pod) === this.#uid) this.#isWanted(pod);
    } else if (hasTrackingFinalizer(known.pod) && !hasTrackingFinalizer(pod) && ownerOf(known.pod) === this.#uid)
      this.#released(known.pod);
  }

  /** Sections 6 and 10: a pod that the controller has just created. */
  #isWanted(pod: Pod): void {
    if (this.#finished || this.#jobGone) this.#violated("a pod was created for a finished Job");
    const job = this.#job;
    if (job === undefined) return;
    const ours = this.#ours();
    const active = ours.filter((each) => isPodActive(each.pod)).length;
    const unfinished = ours.filter((each) => !isPodTerminal(each.pod)).length;
    if (active > this.#parallelism) this.#violated(`a pod was created above parallelism: ${active} active`);
    if (replacesOnlyFailedPods(job) && unfinished > this.#parallelism)
      this.#violated(`a pod was created before the old one was gone (PR-2): ${unfinished} unfinished`);
    if (job.spec.completionMode === "Indexed") this.#indexIsWanted(pod);
    else this.#successIsWanted(job, active);
  }

  #successIsWanted(job: Job, active: number): void {
    if (job.spec.completions === undefined) {
      const succeeded = (this.#status.succeeded ?? 0) + (this.#status.uncountedTerminatedPods?.succeeded?.length ?? 0);
      if (succeeded > 0) this.#violated("a pod was created after the first success (M-2)");
      return;
    }
    const succeeded = [...this.#pods.values()].filter((each) => each.succeededTracked).length;
    if (succeeded + active > this.#completions)
      this.#violated(`a pod was created beyond completions: ${succeeded} succeeded, ${active} active`);
  }

  #indexIsWanted(pod: Pod): void {
    const index = completionIndex(pod);
    const rivals = this.#ours().filter((each) => isPodActive(each.pod) && completionIndex(each.pod) === index);
    if (rivals.length > 1) this.#violated(`index ${index} runs twice`);
    if (index !== undefined && IndexSet.parse(this.#status.completedIndexes, this.#completions).has(index))
      this.#violated(`index ${index} runs again though completed`);
  }

  /** E.1: what counts must be in the book before it is let go, what does not must not be (TK-3 to TK-9). */
  #released(pod: Pod): void {
    if (this.#jobGone || this.#job === undefined) return;
    const uid = pod.metadata.uid ?? "";
    const listed = this.#listed.succeeded.has(uid) || this.#listed.failed.has(uid);
    if (this.#mustCount(pod) === "yes" && !listed) this.#violated(`${uid} (${pod.status?.phase}) was let go uncounted`);
    if (this.#mustCount(pod) === "no" && listed) this.#violated(`${uid} (${pod.status?.phase}) was counted`);
  }

  #mustCount(pod: Pod): "yes" | "no" | "either" {
    const job = this.#job as Job;
    const index = completionIndex(pod);
    const indexed = job.spec.completionMode === "Indexed";
    if (indexed && (index === undefined || index >= (job.spec.completions ?? 0))) return "no";
    if (pod.status?.phase === "Succeeded") {
      if (!indexed) return "yes";
      const completed = IndexSet.parse(this.#status.completedIndexes, job.spec.completions ?? 0);
      if (index !== undefined && !completed.has(index)) this.#violated(`index ${index} was let go uncounted`);
      return "no";
    }
    if (this.#expected.ignores(pod)) return "no";
    // IX-7: no UID says that this failure was a success, and counted, before.
    if (indexed && this.#pods.get(pod.metadata.uid ?? "")?.succeededTracked === true) return "either";
    if (pod.status?.phase === "Failed" || has(this.#status, "FailureTarget")) return "yes";
    const marked = pod.metadata.deletionTimestamp !== undefined;
    // SP-6 [D]: a pod that success has stopped counts when the write that said so got lost.
    if (has(this.#status, "SuccessCriteriaMet")) return marked ? "either" : "no";
    if (job.metadata.deletionTimestamp !== undefined) return marked && !replacesOnlyFailedPods(job) ? "either" : "no";
    return marked && !replacesOnlyFailedPods(job) ? "yes" : "no";
  }

  #holds(uid: string): boolean {
    const history = this.#pods.get(uid);
    return history !== undefined && !history.gone && hasTrackingFinalizer(history.pod);
  }

  #ours(): PodHistory[] {
    return [...this.#pods.values()].filter(({ pod, gone }) => !gone && ownerOf(pod) === this.#uid);
  }

  #violated(what: string): void {
    this.violations.push(what);
  }
}

const ownerOf = (pod: Pod): string | undefined =>
  pod.metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid;
