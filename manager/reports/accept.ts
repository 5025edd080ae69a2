import { checkIndexes, indexesBelow, indexesOfBoth } from "@jobferry/shared/job/index-grammar.ts";
import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { formatFieldError } from "@jobferry/shared/job/validation/errors.ts";
import { validateJobStatusUpdate } from "@jobferry/shared/job/validation/job-status.ts";
import type { ClusterName, Epoch } from "@jobferry/shared/protocol/names.ts";
import type { Phase } from "../hub/phase.ts";
import { sameJson } from "../hub/same-json.ts";
import { timesAhead } from "./times.ts";

/** A status as its worker reported it. */
export interface StatusReport {
  readonly cluster: ClusterName;
  readonly epoch: Epoch;
  readonly seq: number;
  /** UID of the cluster that speaks. */
  readonly clusterID?: string | undefined;
  readonly status: JobStatus;
}

export type Verdict =
  | { readonly verdict: "write"; readonly status: JobStatus }
  /** Nothing to write: the hub says so already. */
  | { readonly verdict: "known" }
  /** Not the present assignment's word, or not news: dropped without a trace on the Job. */
  | { readonly verdict: "stale"; readonly why: string }
  /** The assigned cluster says something no Job may say: shown on the Job, never written. */
  | { readonly verdict: "invalid"; readonly problems: readonly string[] };

/** How the Job stands that the report is about. */
export interface Judged {
  readonly phase: Phase;
  /** The last report that was stored in this epoch. */
  readonly storedSeq: number;
  readonly now: number;
}

/** May this report become the hub Job's status? The hub's own spec, stored status and clock decide (AG-13, AG-16). */
export function judgeStatus(job: Job, report: StatusReport, { phase, storedSeq, now }: Judged): Verdict {
  if (phase.phase === "finished") return { verdict: "stale", why: "the Job is finished" };
  if (phase.phase !== "assigned" && phase.phase !== "deleting")
    return { verdict: "stale", why: `the Job is ${phase.phase}` };
  const { assignment } = phase;
  if (assignment === undefined || assignment.cluster !== report.cluster)
    return { verdict: "stale", why: `assigned to ${assignment?.cluster ?? "nobody"}, reported by ${report.cluster}` };
  if (assignment.epoch !== report.epoch)
    return { verdict: "stale", why: `epoch ${report.epoch} reported, ${assignment.epoch} is current` };
  if (report.seq <= storedSeq) return { verdict: "stale", why: `report ${report.seq} is not new` };

  const told = keepRunning(job, keepCompleted(job, withinCompletions(job, report.status)));
  const status = inOrder(keepStartTime(job, withoutMereTry(job, told)));
  if (sameJson(status, job.status ?? {})) return { verdict: "known" };
  const problems = [
    ...validateJobStatusUpdate(job, { ...job, status }).map(formatFieldError),
    ...timesAhead(status, now),
  ];
  return problems.length > 0 ? { verdict: "invalid", problems } : { verdict: "write", status };
}

/**
 * An elastic Indexed Job may have been given fewer indexes on the hub while its mirror went on with, or had finished, more of
 * them. Those beyond count no longer, as with the built-in controller (IX-11); otherwise the hub would refuse the whole status.
 */
function withinCompletions({ metadata, spec, status: stored }: Job, status: JobStatus): JobStatus {
  // A Job that nobody edited never had more.
  if ((metadata.generation ?? 1) <= 1) return status;
  const { completionMode, completions, parallelism } = spec;
  const { completedIndexes = "", failedIndexes } = status;
  if (completionMode !== "Indexed" || completions === undefined) return status;
  const isWithin = (text: string): boolean => "count" in checkIndexes(text, completions);
  const isSound = (text: string): boolean => "count" in checkIndexes(text, Number.POSITIVE_INFINITY);
  const named = [completedIndexes, failedIndexes ?? ""];
  if (named.every(isWithin) || !named.every(isSound)) return status;
  const completed = indexesBelow(completedIndexes, completions);
  // The API server lets it fall only while both are the same (VS-36).
  const least = completions === parallelism ? 0 : (stored?.succeeded ?? 0);
  return {
    ...status,
    succeeded: Math.max(completed.count, least),
    completedIndexes: completed.text,
    ...(failedIndexes === undefined ? {} : { failedIndexes: indexesBelow(failedIndexes, completions).text }),
  };
}

/**
 * A worker whose etcd was put back to a backup has forgotten indexes that the hub knows to be completed. The API server would let
 * them go where `completions` equals `parallelism` (VS-36): they stay. A Job that was edited may have had fewer in between.
 */
function keepCompleted({ metadata, spec, status: stored }: Job, status: JobStatus): JobStatus {
  const { completedIndexes: known = "" } = stored ?? {};
  if (known === "" || spec.completionMode !== "Indexed" || (metadata.generation ?? 1) > 1) return status;
  const { completedIndexes = "" } = status;
  const both = indexesOfBoth(known, completedIndexes);
  const isSound = "count" in checkIndexes(completedIndexes, spec.completions ?? 0);
  if (!isSound || both.text === completedIndexes) return status;
  return { ...status, completedIndexes: both.text, succeeded: both.count };
}

/** Further apart than any two moments at which a worker's clock was judged differently. */
const MAX_TURNED_MS = 3_600_000;

/** Times are translated from the worker's clock by what was known of it at each moment: that may turn two of them round. */
function inOrder(status: JobStatus): JobStatus {
  const { startTime, completionTime } = status;
  if (startTime === undefined || completionTime === undefined) return status;
  const turnedMs = Date.parse(startTime) - Date.parse(completionTime);
  return turnedMs > 0 && turnedMs <= MAX_TURNED_MS ? { ...status, completionTime: startTime } : status;
}

/**
 * A worker that runs the mirror with the cluster's own Job controller cannot be given a start time; the hub's first one
 * stands (VS-24) unless the Job is being suspended or resumed, which resets it by right.
 */
function keepStartTime(job: Job, status: JobStatus): JobStatus {
  const first = job.status?.startTime;
  if (first === undefined || status.startTime === undefined || status.startTime === first) return status;
  if (job.spec.suspend === true || isResuming(job.status, status)) return status;
  return { ...status, startTime: first };
}

/**
 * A Job controller notes the start before it has created a pod, and a worker may turn out not to have one. Such a try is no
 * start: the hub could not take it back (VS-24), and `activeDeadlineSeconds` would count it on the next cluster.
 */
function withoutMereTry({ spec, status: stored }: Job, status: JobStatus): JobStatus {
  if (status.startTime === undefined || stored?.startTime !== undefined || spec.parallelism === 0) return status;
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const pods = [status.active, status.terminating, status.succeeded, status.failed, succeeded.length + failed.length];
  if (pods.some((count = 0) => count > 0) || hasOutcome(status)) return status;
  const { startTime: _, ...rest } = status;
  return rest;
}

const OUTCOMES: ReadonlySet<string> = new Set(["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"]);
const hasOutcome = ({ conditions = [] }: JobStatus): boolean =>
  conditions.some(({ type, status }) => status === "True" && OUTCOMES.has(type));

/**
 * A worker stops a Job on its own account when it hands it over or is cut off. On the hub nobody suspended it: what was
 * achieved is written, the suspension is not.
 */
function keepRunning(job: Job, status: JobStatus): JobStatus {
  if (job.spec.suspend === true || suspended(status) !== "True") return status;
  const { startTime: _, conditions = [], ...rest } = status;
  const before = job.status?.conditions?.filter(({ type }) => type === "Suspended") ?? [];
  const startTime = job.status?.startTime;
  return {
    ...rest,
    conditions: conditions.flatMap((condition) => (condition.type === "Suspended" ? before : [condition])),
    ...(startTime === undefined ? {} : { startTime }),
  };
}

const suspended = (status: JobStatus | undefined): string | undefined =>
  status?.conditions?.find(({ type }) => type === "Suspended")?.status;

const isResuming = (before: JobStatus | undefined, after: JobStatus): boolean =>
  suspended(before) === "True" && suspended(after) === "False";
