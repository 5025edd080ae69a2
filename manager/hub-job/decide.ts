import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { type Epoch, epoch } from "@jobferry/shared/protocol/names.ts";
import type { RefusalReason } from "@jobferry/shared/protocol/report.ts";
import { SILENT_AFTER_MS } from "../clusters/silence.ts";
import type { Desired } from "../delivery/outbox.ts";
import { cut } from "../hub/jobs.ts";
import type { Leaving } from "../hub/leaving.ts";
import { type Assignment, hasOurFinalizer, MAX_EPOCHS_AHEAD, propagationOf } from "../hub/phase.ts";
import { inWords } from "../placement/reasons.ts";
import { judgeStatus, type StatusReport } from "../reports/accept.ts";
import type { Answer, Stuck } from "../reports/inbox.ts";
import { parallelismOf } from "./admission.ts";
import type { Facts } from "./facts.ts";
import { mayLeave } from "./loss-policy.ts";
import { stopAfterSeconds } from "./stop-times.ts";
import { suspendedStatus } from "./suspended-status.ts";

/** One step of a hub Job. Most change what is stored or known; the Job is then decided on again. */
export type Step =
  | { readonly step: "forget" }
  | { readonly step: "rest"; readonly againMs?: number | undefined }
  /** Takes away marks that the manager did not write. */
  | { readonly step: "disown" }
  | { readonly step: "show-suspended"; readonly status: JobStatus }
  /** waiting -> assigned */
  | { readonly step: "assign"; readonly assignment: Assignment; readonly note?: string }
  /** assigned -> assigned, with another number of pods at a time. */
  | { readonly step: "admit"; readonly assignment: Assignment }
  /** `note`: part of the message that is worth an event of its own. */
  | {
      readonly step: "explain";
      readonly message: string;
      readonly never: boolean;
      readonly againMs?: number | undefined;
      readonly note?: string;
      readonly held?: true;
    }
  /** assigned -> assigned, or -> finished */
  | {
      readonly step: "store-status";
      readonly report: StatusReport;
      readonly status: JobStatus;
      readonly finished: boolean;
    }
  | { readonly step: "refuse-status"; readonly report: StatusReport; readonly problems: readonly string[] }
  | { readonly step: "drop-report"; readonly report: StatusReport; readonly why?: string }
  | { readonly step: "drop-answer"; readonly answer: Answer }
  /** In the later epoch that its agent has. */
  | { readonly step: "adopt"; readonly assignment: Assignment; readonly answer: Answer }
  /** The same assignment, marked with the manager's new key. */
  | { readonly step: "grant"; readonly assignment: Assignment }
  /** Marks that it leaves its cluster, before that one is told. */
  | { readonly step: "ask-back"; readonly assignment: Assignment; readonly leaving: Leaving }
  | { readonly step: "drop-stuck"; readonly stuck: Stuck }
  /** assigned -> waiting */
  | { readonly step: "unassign"; readonly assignment: Assignment; readonly why: Departure }
  | {
      readonly step: "deliver";
      readonly assignment: Assignment;
      readonly desired: Desired;
      readonly againMs?: number;
      /** What the submitter would not expect. */
      readonly but?: Surprise;
    }
  | { readonly step: "finish"; readonly dropFinalizer: boolean }
  /** The mirror is gone, or nobody can be asked any more: the deleted Job may go. */
  | { readonly step: "let-go" };

/** `orphans`: pods are deleted although they should stay. `requests`: it leaves its cluster because its pods ask for something else. */
export type Surprise = "orphans" | "requests";

/** Why a Job leaves its cluster. */
export type Departure =
  | { readonly kind: "refused"; readonly reason: RefusalReason; readonly text: string }
  | Leaving
  | { readonly kind: "handed-over" | "removed" | "lost" };

export interface DecideOptions {
  readonly now: number;
  /** How long a cluster that does not answer may hold up a deletion. */
  readonly deletionBoundMs: number;
}

/** What to do about a hub Job, from what is stored on it and what is known beside it. */
export function decide(job: Job, facts: Facts, options: DecideOptions): Step {
  const { phase } = facts;
  switch (phase.phase) {
    case "foreign":
      return { step: "forget" };
    case "suspended": {
      if (phase.forged !== undefined) return decideForged(facts);
      const status = suspendedStatus(job, options.now);
      return status === undefined ? { step: "rest" } : { step: "show-suspended", status };
    }
    case "waiting":
      return phase.forged === undefined ? decideWaiting(job, facts) : decideForged(facts);
    case "assigned":
      return decideReported(job, facts, options) ?? decideAssigned(job, phase.assignment, facts);
    case "finished":
      return { step: "finish", dropFinalizer: hasOurFinalizer(job) };
    case "deleting":
      return decideReported(job, facts, options) ?? decideDeleting(job, phase.assignment, facts, options);
  }
}

/**
 * A manager that was given the wrong key must not take every Job off its cluster. While the cluster that the marks name does
 * not take our messages, it may be running the Job: nothing is done.
 */
const decideForged = ({ cluster }: Facts): Step =>
  cluster === undefined || cluster.isConnected ? { step: "disown" } : { step: "rest" };

function decideWaiting(job: Job, { placement, policy, nextEpoch, priorityNote }: Facts): Step {
  const note = priorityNote === undefined ? {} : { note: priorityNote };
  if (placement === undefined || "notYet" in placement) return { step: "rest", againMs: placement?.againMs };
  if ("cluster" in placement) {
    if (nextEpoch === undefined) return explain(job, "cannot be placed again: its epochs are used up", true);
    const { cluster, queue, lostAfterMs } = placement;
    const stops = policy === "StopThenRedispatch" && lostAfterMs !== undefined;
    const stop = stops ? { stopAfterSeconds: stopAfterSeconds(job, lostAfterMs) } : {};
    const admitted = parallelismOf(job);
    return { step: "assign", assignment: { cluster, epoch: nextEpoch, queue, ...stop, admitted }, ...note };
  }
  const reason = priorityNote === undefined ? placement.reason : `${placement.reason}; ${priorityNote}`;
  const step = explain(job, reason, placement.never, placement.againMs);
  const isSaid = priorityNote !== undefined && job.metadata.annotations?.[MESSAGE]?.includes(priorityNote) === true;
  return step.step === "explain" && !isSaid ? { ...step, ...note } : step;
}

/** What the worker says of the Job's status comes first: nothing that is decided afterwards may lose it. */
function decideReported(job: Job, { phase, pending, storedSeq }: Facts, { now }: DecideOptions): Step | undefined {
  const { status: report } = pending;
  if (report === undefined) return undefined;
  const verdict = judgeStatus(job, report, { phase, storedSeq, now });
  switch (verdict.verdict) {
    case "write": {
      const finished = isFinished({ ...job, status: verdict.status });
      return { step: "store-status", report, status: verdict.status, finished };
    }
    case "invalid":
      return { step: "refuse-status", report, problems: verdict.problems };
    case "stale":
      return { step: "drop-report", report, why: verdict.why };
    case "known":
      return { step: "drop-report", report };
  }
}

function decideAssigned(job: Job, assignment: Assignment, facts: Facts): Step {
  const { cluster, policy, fitsElsewhere, leaving } = facts;
  const { answer } = facts.pending;
  if (answer !== undefined) return decideAnswered(assignment, answer, leaving);
  if (facts.needsGrant) return { step: "grant", assignment };
  const leave = (kind: "removed" | "lost"): Step => ({ step: "unassign", assignment, why: { kind } });
  if (cluster === undefined) return leave("removed");
  if (cluster.isLost && mayLeave(job, assignment, policy, cluster.silentMs)) {
    if (fitsElsewhere === true) return leave("lost");
    return explain(job, `cluster ${assignment.cluster} is lost, and no other cluster can take the Job now`, false);
  }
  // An agent that is away is told everything when it returns.
  if (cluster.isRebuilt || !cluster.isConnected) return { step: "rest" };
  if (leaving !== undefined || cluster.isDraining)
    return { step: "deliver", assignment, desired: { desired: "hand-over" } };
  const { admission, displaced } = facts;
  if (displaced !== undefined) return { step: "ask-back", assignment, leaving: { kind: "preempted", text: displaced } };
  if (admission?.is === "changed")
    return { step: "deliver", assignment, desired: { desired: "hand-over" }, but: "requests" };
  if (admission?.is === "other")
    return { step: "admit", assignment: { ...assignment, admitted: admission.parallelism } };
  if (admission?.is === "held") {
    const step = explain(job, admission.message, false);
    if (step.step === "explain") return { ...step, held: true };
    const held = { ...assignment, admitted: admission.parallelism };
    return { step: "deliver", assignment: held, desired: { desired: "run" } };
  }
  return decideStaying(job, assignment, facts) ?? { step: "deliver", assignment, desired: { desired: "run" } };
}

/** Undefined: nothing speaks against its staying where it is. */
function decideStaying(job: Job, assignment: Assignment, facts: Facts): Step | undefined {
  const { cluster } = assignment;
  const { stuck } = facts.pending;
  const message = job.metadata.annotations?.[MESSAGE] ?? "";
  if (stuck === undefined) {
    const isOver = message.startsWith(noNode(cluster)) && (job.status?.ready ?? 0) > 0;
    return isOver ? explain(job, `dispatched to ${cluster}`, false) : undefined;
  }
  const isCurrent = stuck.cluster === cluster && stuck.epoch === assignment.epoch;
  if (!isCurrent || facts.isStuck !== true) return { step: "drop-stuck", stuck };
  if (facts.fitsElsewhere === true)
    return { step: "ask-back", assignment, leaving: { kind: "unschedulable", text: stuck.text } };
  const stays = `${noNode(cluster)}, and no other cluster can take the Job now: ${stuck.text}`;
  return inWords(message) === inWords(cut(stays)) ? { step: "drop-stuck", stuck } : explain(job, stays, false);
}

const noNode = (cluster: string): string => `no node of ${cluster} takes its pods`;

function decideAnswered(assignment: Assignment, answer: Answer, leaving?: Leaving): Step {
  const { kind } = answer;
  if (!isAnswerTo(answer, assignment)) return { step: "drop-answer", answer };
  switch (kind) {
    case "refused": {
      const { reason, message } = answer;
      return { step: "unassign", assignment, why: { kind, reason, text: `${reason}: ${message}` } };
    }
    case "withdrawn":
      return { step: "unassign", assignment, why: leaving ?? { kind: "handed-over" } };
    case "newer": {
      const has = laterEpoch(assignment.epoch, answer.has);
      if (has === undefined) return { step: "drop-answer", answer };
      return { step: "adopt", assignment: { ...assignment, epoch: has }, answer };
    }
  }
}

function laterEpoch(stored: Epoch, has: Epoch): Epoch | undefined {
  return has > stored && has - stored <= MAX_EPOCHS_AHEAD ? epoch.parse(has) : undefined;
}

const isAnswerTo = (answer: Answer, { cluster, epoch: current }: Assignment): boolean =>
  answer.cluster === cluster && answer.epoch === current;

function decideDeleting(job: Job, assignment: Assignment | undefined, facts: Facts, options: DecideOptions): Step {
  const { cluster, pending } = facts;
  if (assignment === undefined || cluster === undefined) return { step: "let-go" };
  if (pending.answer !== undefined) {
    const step = decideAnswered(assignment, pending.answer);
    return step.step === "unassign" ? { step: "let-go" } : step;
  }
  const asked = propagationOf(job);
  // Pods that no Job of the hub stands for are beyond every quota, and beyond the reach of who submitted them.
  const orphans = asked === "Orphan" && facts.allowsOrphans !== true ? { but: "orphans" as const } : {};
  const propagationPolicy = "but" in orphans ? "Foreground" : asked;
  const desired: Desired = { desired: "delete", propagationPolicy };
  if (cluster.isConnected && !cluster.isRebuilt)
    return { step: "deliver", assignment, desired, againMs: SILENT_AFTER_MS, ...orphans };
  // Not the loss timer, which stands still when all clusters are silent: the user's deletion does not.
  return cluster.unheardMs < options.deletionBoundMs ? { step: "rest", againMs: 1_000 } : { step: "let-go" };
}

/** Said once: a Job that shows the reason already is left alone. */
function explain(job: Job, message: string, never: boolean, againMs?: number): Step {
  if (job.metadata.annotations?.[MESSAGE] === cut(message)) return { step: "rest", againMs };
  return { step: "explain", message, never, againMs };
}
