/**
 * Validation of a status update (section 29): the same for every controller, built-in or not (VS-47). The rules of metadata
 * (VS-1) are the API server's own matter and not among them.
 */
import { hasCondition, isComplete, isConditionTrue, isFailed, isFinished } from "../conditions.ts";
import { checkIndexes, firstOverlap } from "../index-grammar.ts";
import type { Job, JobStatus, UncountedTerminatedPods } from "../types.ts";
import { type FieldError, Violations } from "./errors.ts";

/** `proposed` must carry the stored spec. */
export function validateJobStatusUpdate(stored: Job, proposed: Job): FieldError[] {
  const v = new Violations();
  const transition = describeTransition(stored, proposed);
  validateCounters(v, transition.after);
  validateUncounted(v, transition.after);
  validateFinishedState(v, transition);
  validateIndexStrings(v, transition);
  validateTimes(v, transition);
  validateConditions(v, transition);
  validateMonotony(v, transition);
  return v.errors;
}

interface View {
  readonly job: Job;
  readonly status: JobStatus;
  readonly finished: boolean;
  readonly complete: boolean;
  readonly failed: boolean;
  readonly failureTarget: boolean;
  readonly successCriteriaMet: boolean;
}

interface Transition {
  readonly before: View;
  readonly after: View;
  /** Most rules look only at what changes, so that unrelated writes pass on Jobs that already break them. */
  changed(part: Exclude<keyof View, "job" | "status">): boolean;
  fieldChanged(field: keyof JobStatus): boolean;
}

function view(job: Job): View {
  const status = job.status ?? {};
  return {
    job,
    status,
    finished: isFinished(job),
    complete: isComplete(job),
    failed: isFailed(job),
    failureTarget: isConditionTrue(status.conditions, "FailureTarget"),
    successCriteriaMet: isConditionTrue(status.conditions, "SuccessCriteriaMet"),
  };
}

function describeTransition(stored: Job, proposed: Job): Transition {
  const before = view(stored);
  const after = view(proposed);
  return {
    before,
    after,
    changed: (part) => before[part] !== after[part],
    fieldChanged: (field) => {
      if (field === "uncountedTerminatedPods") {
        return !sameUncounted(before.status[field], after.status[field]);
      }
      // Counters and completedIndexes have no null; for pointers absent differs from zero.
      const zero = { active: 0, succeeded: 0, failed: 0, completedIndexes: "" } as Partial<JobStatus>;
      return (before.status[field] ?? zero[field]) !== (after.status[field] ?? zero[field]);
    },
  };
}

/** For the API server a list without entries is none, but a record without lists is one. */
function sameUncounted(left: UncountedTerminatedPods | undefined, right: UncountedTerminatedPods | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return sameList(left.succeeded, right.succeeded) && sameList(left.failed, right.failed);
}

const sameList = (left: readonly string[] = [], right: readonly string[] = []): boolean =>
  left.length === right.length && left.every((item, index) => item === right[index]);

/** VS-2 to VS-6 */
function validateCounters(v: Violations, { status }: View): void {
  for (const field of ["active", "succeeded", "failed", "ready", "terminating"] as const) {
    v.nonNegative(`status.${field}`, status[field]);
  }
}

/** VS-7 to VS-10 */
function validateUncounted(v: Violations, { status }: View): void {
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"] as const) {
    status.uncountedTerminatedPods?.[list]?.forEach((uid, index) => {
      const field = `status.uncountedTerminatedPods.${list}[${index}]`;
      if (uid === "") v.invalid(field, uid, "must not be empty");
      else if (seen.has(uid)) v.duplicate(field, uid);
      seen.add(uid);
    });
  }
}

/** VS-21 to VS-23, VS-25, VS-37 */
function validateFinishedState(v: Violations, { after, changed, fieldChanged }: Transition): void {
  const { status, job } = after;
  const active = status.active ?? 0;
  const finishedNow = changed("finished");
  if (after.finished && (finishedNow || fieldChanged("active")) && active > 0) {
    v.invalid("status.active", active, "a finished Job has no active pods");
  }
  const neverStarts = job.spec.suspend === true && job.spec.completions === 0;
  if (after.finished && (finishedNow || fieldChanged("startTime")) && !neverStarts && status.startTime === undefined) {
    v.required("status.startTime", "a finished Job has a startTime");
  }
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const uncounted = succeeded.length + failed.length;
  if (after.finished && (finishedNow || fieldChanged("uncountedTerminatedPods")) && uncounted > 0) {
    v.invalid("status.uncountedTerminatedPods", status.uncountedTerminatedPods, "must be empty for a finished Job");
  }
  const terminating = status.terminating ?? 0;
  if (after.finished && (finishedNow || fieldChanged("terminating")) && terminating > 0) {
    v.invalid("status.terminating", terminating, "a finished Job has no terminating pods");
  }
  if ((fieldChanged("ready") || fieldChanged("active")) && (status.ready ?? Number.NEGATIVE_INFINITY) > active) {
    v.invalid("status.ready", status.ready, "there cannot be more ready than active pods");
  }
}

/** VS-16 to VS-20 */
function validateIndexStrings(v: Violations, { after, fieldChanged }: Transition): void {
  const { completions, completionMode, backoffLimitPerIndex } = after.job.spec;
  const { completedIndexes = "", failedIndexes } = after.status;
  const [completedChanged, failedChanged] = [fieldChanged("completedIndexes"), fieldChanged("failedIndexes")];
  const checkGrammar = (field: string, text: string): void => {
    const check = completions === undefined ? undefined : checkIndexes(text, completions);
    if (check && "error" in check) v.invalid(field, text, check.error);
  };
  if (completedChanged) {
    checkGrammar("status.completedIndexes", completedIndexes);
    if (completedIndexes !== "" && completionMode !== "Indexed") {
      v.invalid("status.completedIndexes", completedIndexes, "requires completionMode Indexed");
    }
  }
  if (failedChanged && failedIndexes !== undefined) {
    if (backoffLimitPerIndex !== undefined) checkGrammar("status.failedIndexes", failedIndexes);
    else v.invalid("status.failedIndexes", failedIndexes, "requires backoffLimitPerIndex");
  }
  if ((completedChanged || failedChanged) && completions !== undefined && failedIndexes !== undefined) {
    const overlap = firstOverlap(completedIndexes, failedIndexes, completions);
    if (overlap !== undefined) v.invalid("status.failedIndexes", failedIndexes, `index ${overlap} is also completed`);
  }
}

/** VS-24, VS-26 to VS-29 */
function validateTimes(v: Violations, { before, after, changed, fieldChanged }: Transition): void {
  const { startTime, completionTime } = after.status;
  const [startChanged, completionChanged] = [fieldChanged("startTime"), fieldChanged("completionTime")];
  const resuming =
    isConditionTrue(before.status.conditions, "Suspended") &&
    hasCondition(after.status.conditions, "Suspended", "False");
  if (startChanged && !resuming && before.status.startTime !== undefined && !after.job.spec.suspend) {
    v.invalid("status.startTime", startTime, "cannot change while the Job is not suspended");
  }
  const bothSet = startTime !== undefined && completionTime !== undefined;
  if ((startChanged || completionChanged) && bothSet && Date.parse(completionTime) < Date.parse(startTime)) {
    v.invalid("status.completionTime", completionTime, "must not be before startTime");
  }
  if (completionChanged && completionTime !== undefined && before.status.completionTime !== undefined) {
    v.invalid("status.completionTime", completionTime, "field is immutable");
  }
  if (changed("complete") || completionChanged) {
    if (completionTime !== undefined && !after.complete) {
      v.invalid("status.completionTime", completionTime, "only a Complete Job has a completionTime");
    }
    if (completionTime === undefined && after.complete) {
      v.required("status.completionTime", "a Complete Job has a completionTime");
    }
  }
}

/** VS-11 to VS-15, VS-30 to VS-34 */
function validateConditions(v: Violations, { before, after, changed, fieldChanged }: Transition): void {
  const refuse = (applies: boolean, detail: string): void => {
    if (applies) v.invalid("status.conditions", undefined, detail);
  };
  const { complete, failed, failureTarget, successCriteriaMet } = after;
  const completeChanged = changed("complete");
  refuse(successCriteriaMet && failed, "SuccessCriteriaMet and Failed exclude each other");
  refuse(successCriteriaMet && failureTarget, "SuccessCriteriaMet and FailureTarget exclude each other");
  refuse(
    after.job.spec.successPolicy !== undefined && complete && !successCriteriaMet,
    "with a successPolicy, Complete needs SuccessCriteriaMet",
  );
  refuse(before.successCriteriaMet && !successCriteriaMet, "SuccessCriteriaMet is final");
  refuse(
    before.complete && !before.successCriteriaMet && successCriteriaMet,
    "SuccessCriteriaMet cannot be added to a Complete Job",
  );
  refuse((completeChanged || changed("failed")) && complete && failed, "Complete and Failed exclude each other");
  refuse(
    (completeChanged || changed("failureTarget")) && complete && failureTarget,
    "Complete and FailureTarget exclude each other",
  );
  refuse(
    (changed("failed") || fieldChanged("failedIndexes")) && failed && !failureTarget,
    "Failed needs FailureTarget",
  );
  refuse(
    (completeChanged || changed("successCriteriaMet")) && complete && !successCriteriaMet,
    "Complete needs SuccessCriteriaMet",
  );
  refuse(before.failed && !failed, "Failed is final");
  refuse(before.complete && !complete, "Complete is final");
  refuse(before.failureTarget && !failureTarget, "FailureTarget is final");
}

/** VS-35, VS-36: an elastic Indexed Job may be scaled down below what has succeeded. */
function validateMonotony(v: Violations, { before, after }: Transition): void {
  const { completionMode, completions, parallelism } = after.job.spec;
  const elastic = completionMode === "Indexed" && completions === parallelism;
  for (const field of elastic ? (["failed"] as const) : (["failed", "succeeded"] as const)) {
    const count = after.status[field] ?? 0;
    if (count < (before.status[field] ?? 0)) v.invalid(`status.${field}`, count, "must not decrease");
  }
}
