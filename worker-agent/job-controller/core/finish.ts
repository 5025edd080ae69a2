/** Section 19: interim and terminal conditions. */
import { newCondition, withCondition } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import { isSuspended } from "./job-spec.ts";
import type { EventNote, Outcome } from "./types.ts";

/** CD-2, CD-7: appended even beside an entry of the same type that is not True. */
export function withInterim(status: JobStatus, outcome: Outcome | undefined, now: number): JobStatus {
  if (outcome === undefined || outcome.recorded) return status;
  const { interim: type, reason, message } = outcome;
  const condition = newCondition({ type, status: "True", reason, message }, timestamp(now));
  return { ...status, conditions: [...(status.conditions ?? []), condition] };
}

/** CD-4 */
export function mayFinish(outcome: Outcome | undefined, status: JobStatus, cut: boolean): outcome is Outcome {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  return outcome !== undefined && !cut && succeeded.length + failed.length === 0 && (status.terminating ?? 0) === 0;
}

/** CD-3, CD-6 */
export function withTerminal(job: Job, status: JobStatus, outcome: Outcome, now: number): JobStatus {
  const complete = outcome.interim === "SuccessCriteriaMet";
  const { reason, message } = outcome;
  const conditions = withCondition(
    status.conditions ?? [],
    { type: complete ? "Complete" : "Failed", status: "True", reason, message },
    timestamp(now),
  );
  // SU-12: suspension cleared startTime, but a finished Job must have one, unless it never had anything to run (VS-22).
  const neverStarts = isSuspended(job) && job.spec.completions === 0;
  const startTime = status.startTime ?? (neverStarts ? undefined : timestamp(now));
  return {
    ...status,
    conditions: [...conditions],
    ...(startTime !== undefined && { startTime }),
    ...(complete && { completionTime: notBefore(startTime, timestamp(now)) }),
  };
}

/** VS-26: another machine's clock may have set startTime ahead of ours. Both are RFC 3339 with whole seconds. */
const notBefore = (startTime: string | undefined, time: string): string =>
  startTime !== undefined && startTime > time ? startTime : time;

/** CD-9, CD-10, EV-3 */
export function terminalEvents(job: Job, status: JobStatus, outcome: Outcome): EventNote[] {
  if (outcome.interim === "FailureTarget")
    return [{ type: "Warning", reason: outcome.reason, message: outcome.message }];
  const completed: EventNote = { type: "Normal", reason: "Completed", message: "Job completed" };
  const { completions } = job.spec;
  if (completions === undefined || (status.succeeded ?? 0) <= completions) return [completed];
  const tooMany: EventNote = {
    type: "Warning",
    reason: "TooManySucceededPods",
    message: "Too many succeeded pods running after completion count reached",
  };
  return [tooMany, completed];
}
