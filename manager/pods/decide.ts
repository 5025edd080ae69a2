import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { picturedStatus } from "@jobferry/shared/job/pod-status.ts";
import { completionIndex, isPodTerminal } from "@jobferry/shared/job/pods.ts";
import type { Job, Pod, PodStatus } from "@jobferry/shared/job/types.ts";
import { EPOCH, MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import type { ReportedPod } from "@jobferry/shared/protocol/pod-report.ts";
import type { Assignment, Phase } from "../hub/phase.ts";
import { sameJson } from "../hub/same-json.ts";
import { earlyPlaces } from "./early.ts";
import { type Binding, epochOf, marksOf, newShadow, workerPodUid } from "./projection.ts";
import type { ReportedPods } from "./reported.ts";

/** Everything beside the Job that decides what is shown of its pods. */
export interface ShadowFacts {
  readonly phase: Phase;
  /** At most this many are shown; 0: none. */
  readonly cap: number;
  readonly shadows: readonly Pod[];
  /** What its cluster told of its pods, in whichever epoch. */
  readonly report: ReportedPods | undefined;
  /** The cluster that holds it has not been heard of for too long. */
  readonly isLost: boolean;
  readonly now: number;
  /** When this manager began to hear of pods. */
  readonly since: number;
  /** Shadows may be made before their pods exist. */
  readonly mayBeEarly: boolean;
  /** This manager saw somebody delete it, gracefully, while it lived. */
  sawDeletion(shadow: Pod): boolean;
  /** A shadow showed the end of this pod, and somebody removed it. */
  wasRemoved(workerPodUid: string): boolean;
}

export type ShadowWrite =
  | { readonly write: "create"; readonly pod: Pod }
  | {
      readonly write: "status";
      readonly shadow: Pod;
      readonly labels: Record<string, string>;
      readonly annotations: Record<string, string>;
      readonly status: PodStatus;
    }
  /** At once: nobody else ends a pod of our node. */
  | { readonly write: "remove"; readonly shadow: Pod }
  | { readonly write: "delete-on-worker"; readonly shadow: Pod; readonly pod: ReportedPod };

/** A report on its pods may come this long after the end of a Job. */
export const LATE_REPORT_MS = 60_000;

/** How the shadows of a Job differ from what they should be. */
export function decideShadows(job: Job, facts: ShadowFacts): ShadowWrite[] {
  const { phase, cap } = facts;
  // Who may create pods elsewhere can have them claim to be this Job's.
  const shadows = facts.shadows.filter(({ metadata }) => metadata.namespace === job.metadata.namespace);
  // Let go: the garbage collector marks the pods, and nobody but us ends them.
  if (phase.phase === "foreign") return shadows.filter(isLeaving).map(remove);
  if (cap === 0) return shadows.map(remove);
  const assignment = "assignment" in phase ? phase.assignment : undefined;
  const ours = shadows.filter((shadow) => isOwned(shadow, job) && isOfEpoch(shadow, assignment));
  const stale = shadows.filter((shadow) => !ours.includes(shadow)).map(remove);
  const report = reportOf(assignment, facts.report);
  return [...stale, ...decideCurrent(job, { ...facts, shadows: ours, report }, assignment)];
}

function decideCurrent(job: Job, facts: ShadowFacts, assignment: Assignment | undefined): ShadowWrite[] {
  const { shadows, report, phase } = facts;
  const listed = new Map(report?.pods.map((pod) => [pod.uid, pod]));
  const writes: ShadowWrite[] = [];
  const kept: Pod[] = [];
  for (const shadow of shadows) {
    const pod = listed.get(workerPodUid(shadow) ?? "");
    if (isLeaving(shadow)) {
      const step = decideLeaving(shadow, pod, facts);
      if (step !== undefined) writes.push(step);
      // While it waits for its pod to go, it still stands for it.
      if (step?.write !== "remove") kept.push(shadow);
    } else if (workerPodUid(shadow) !== undefined && pod === undefined && hasVanished(shadow, job, facts))
      writes.push(remove(shadow));
    else kept.push(shadow);
  }
  if (phase.phase === "deleting") return writes;
  const bound = new Set(kept.map((shadow) => workerPodUid(shadow)));
  const free = kept.filter((shadow) => workerPodUid(shadow) === undefined && !isLeaving(shadow));
  if (assignment !== undefined && report !== undefined)
    writes.push(...showPods(job, facts, { assignment, report, listed, kept, bound, free }));
  const claimed = kept.filter((shadow) => workerPodUid(shadow) !== undefined);
  writes.push(...keepEarly(job, facts, free, claimed));
  return writes;
}

interface Matching {
  readonly assignment: Assignment;
  readonly report: ReportedPods;
  readonly listed: ReadonlyMap<string, ReportedPod>;
  readonly kept: readonly Pod[];
  readonly bound: ReadonlySet<string | undefined>;
  /** Those that wait for a pod; what is used is taken out. */
  readonly free: Pod[];
}

/** Every pod that was told gets its shadow, and every shadow the state of its pod. */
function showPods(job: Job, facts: ShadowFacts, matching: Matching): ShadowWrite[] {
  const { assignment, report, listed, kept, bound, free } = matching;
  const { cluster, epoch } = assignment;
  const writes: ShadowWrite[] = [];
  for (const shadow of kept) {
    const pod = listed.get(workerPodUid(shadow) ?? "");
    if (pod !== undefined) writes.push(...mirror(shadow, { cluster, epoch, pod }, pod, facts));
  }
  let room = facts.cap - kept.length;
  const spare = kept.filter((shadow) => !isListed(shadow, listed) && shadow.status?.phase === "Succeeded");
  for (const pod of report.pods) {
    if (bound.has(pod.uid) || facts.wasRemoved(pod.uid)) continue;
    const binding = { cluster, epoch, pod };
    const early = takeFree(free, pod.index);
    if (early !== undefined) {
      writes.push(...mirror(early, binding, pod, facts));
      continue;
    }
    // Somebody may want to know why a pod failed; of those that succeeded one is like the other.
    const given = room > 0 ? undefined : spare.pop();
    if (room <= 0 && given === undefined) continue;
    const shadow = newShadow(job, { key: pod.uid, index: pod.index, binding });
    if (given === undefined) room--;
    else writes.push(remove(given));
    writes.push({ write: "create", pod: shadow });
  }
  return writes;
}

function mirror(shadow: Pod, binding: Binding, pod: ReportedPod, { isLost }: ShadowFacts): ShadowWrite[] {
  const { labels, annotations } = marksOf(binding);
  const status = isLost && !isTerminalStatus(pod.status) ? lostStatus(pod.status, binding.cluster) : pod.status;
  const isMarked =
    Object.entries(labels).every(([key, value]) => shadow.metadata.labels?.[key] === value) &&
    Object.entries(annotations).every(([key, value]) => shadow.metadata.annotations?.[key] === value);
  // A pod does not come back from its end; a report that was overtaken may say so.
  if (isPodTerminal(shadow) && !isTerminalStatus(pod.status)) return [];
  if (isMarked && sameJson(shownOf(shadow.status), shownOf(status))) return [];
  return [{ write: "status", shadow, labels, annotations, status }];
}

/** What a write is made for. Of a pod that has ended the kubelet changes a condition once more, when it has cleared up. */
function shownOf(status: PodStatus = {}): PodStatus {
  const { conditions, ...rest } = picturedStatus(status);
  return isTerminalStatus(status) || conditions === undefined ? rest : { ...rest, conditions };
}

const lostStatus = (status: PodStatus, cluster: string): PodStatus => ({
  ...status,
  reason: "NodeLost",
  message: `cluster ${cluster} is lost: nothing is known of this pod since it was last heard of`,
});

/** Before its pods exist, and no longer than they are awaited. */
function keepEarly(job: Job, facts: ShadowFacts, free: readonly Pod[], bound: readonly Pod[]): ShadowWrite[] {
  const { phase, report, cap, mayBeEarly, now } = facts;
  // The Job was faster than the report on its pods, whose shadows these are.
  if (report === undefined && now - finishedAt(job) < LATE_REPORT_MS) return [];
  const isAwaited = (phase.phase === "waiting" || phase.phase === "assigned") && !isFinished(job);
  const places = isAwaited ? earlyPlaces(job, cap - bound.length) : [];
  const room = Math.max(0, places.length - bound.filter((shadow) => !isPodTerminal(shadow)).length);
  const waiting = free.slice(0, room);
  const writes: ShadowWrite[] = free.slice(room).map(remove);
  const reason = phase.phase === "waiting" ? job.metadata.annotations?.[MESSAGE] : undefined;
  if (reason !== undefined) for (const shadow of waiting) writes.push(...explain(shadow, reason));
  // Once there are pods, a new one is shown when it exists.
  if (!mayBeEarly || report !== undefined) return writes;
  const names = new Set(waiting.map(({ metadata }) => metadata.name));
  const missing = places
    .filter(({ index }) => index === undefined || !waiting.some((shadow) => completionIndex(shadow) === index))
    .map(({ place, index }) => newShadow(job, { key: `${comingEpoch(job, phase)}/${place}`, index }))
    .filter(({ metadata }) => !names.has(metadata.name));
  for (const pod of missing.slice(0, room - waiting.length)) writes.push({ write: "create", pod });
  return writes;
}

/** When the Job ended, in milliseconds; long ago if it has not. */
function finishedAt({ status }: Job): number {
  const ended = status?.conditions?.find(
    ({ type, status: value }) => (type === "Complete" || type === "Failed") && value === "True",
  );
  const at = Date.parse(ended?.lastTransitionTime ?? "");
  return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at;
}

function explain(shadow: Pod, message: string): ShadowWrite[] {
  const conditions = [{ type: "PodScheduled", status: "False" as const, reason: "WaitingForCluster", message }];
  const status: PodStatus = { phase: "Pending", conditions };
  if (sameJson(picturedStatus(shadow.status), status)) return [];
  return [{ write: "status", shadow, labels: {}, annotations: {}, status }];
}

/** The shadow was deleted on the hub. */
function decideLeaving(shadow: Pod, pod: ReportedPod | undefined, facts: ShadowFacts): ShadowWrite | undefined {
  const isGoing = facts.phase.phase === "deleting";
  // Its pod is gone, or never was, or the Job's cluster has nothing to say: nothing holds it.
  if (pod === undefined) return isGoing && isAwaitedEnd(shadow, facts) ? undefined : remove(shadow);
  if (isGoing) return undefined;
  const isMeant = facts.sawDeletion(shadow) && !hasDisruption(shadow);
  // Evicted, collected, or deleted while nobody led: that says nothing about the worker's pod, whose shadow is made again.
  if (!isMeant) return remove(shadow);
  return pod.leaving === true ? undefined : { write: "delete-on-worker", shadow, pod };
}

/** Its pod has still to end on the worker, as far as anybody knows. */
const isAwaitedEnd = (shadow: Pod, { report }: ShadowFacts): boolean =>
  workerPodUid(shadow) !== undefined && report === undefined;

/** Its pod is not among those that were told. */
function hasVanished(shadow: Pod, job: Job, { report, phase, now, since }: ShadowFacts): boolean {
  // Its last report was lost, and with the mirror went whoever could say it again: nothing of a Job that is over runs.
  if (report === undefined)
    return isFinished(job) && !isPodTerminal(shadow) && now - Math.max(finishedAt(job), since) >= LATE_REPORT_MS;
  if (report.more) return false;
  const isOver = isFinished(job) || phase.phase === "finished";
  // With its mirror goes the pod of a finished Job, but not what is known of it.
  return !(isPodTerminal(shadow) && (isOver || report.gone));
}

function takeFree(free: Pod[], index: number | undefined): Pod | undefined {
  const at = free.findIndex((shadow) => completionIndex(shadow) === index);
  return at < 0 ? undefined : free.splice(at, 1)[0];
}

/** Of the present epoch, or not yet anybody's. */
const isOfEpoch = (shadow: Pod, assignment: Assignment | undefined): boolean =>
  workerPodUid(shadow) === undefined || epochOf(shadow) === assignment?.epoch;

const reportOf = (assignment: Assignment | undefined, report: ReportedPods | undefined): ReportedPods | undefined =>
  report !== undefined && report.cluster === assignment?.cluster && report.epoch === assignment.epoch
    ? report
    : undefined;

/** In a new epoch pods are new pods, and so are their shadows: they have names of their own. */
const comingEpoch = (job: Job, phase: Phase): number => {
  if (phase.phase === "assigned") return phase.assignment.epoch;
  return Number(job.metadata.annotations?.[EPOCH] ?? 0) + 1;
};

const isListed = (shadow: Pod, listed: ReadonlyMap<string, ReportedPod>): boolean =>
  listed.has(workerPodUid(shadow) ?? "");

const isOwned = ({ metadata }: Pod, job: Job): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid) ?? false;

const isLeaving = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

const hasDisruption = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === "DisruptionTarget" && value === "True") ?? false;

export const isTerminalStatus = ({ phase }: PodStatus): boolean => phase === "Succeeded" || phase === "Failed";

const remove = (shadow: Pod): ShadowWrite => ({ write: "remove", shadow });
