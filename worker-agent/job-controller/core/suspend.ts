/** Section 12: the Suspended condition. Removing the pods is part of the scale logic. */
import { type ConditionChange, withCondition } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { isSuspended } from "./job-spec.ts";
import type { EventNote } from "./types.ts";

const SUSPENDED: ConditionChange = {
  type: "Suspended",
  status: "True",
  reason: "JobSuspended",
  message: "Job suspended",
};
const RESUMED: ConditionChange = { type: "Suspended", status: "False", reason: "JobResumed", message: "Job resumed" };

/** SU-2, SU-4, SU-8: undefined when the condition is as it should be. */
export function suspendChange(
  job: Job,
  status: JobStatus,
  now: string,
): { status: JobStatus; event: EventNote } | undefined {
  const suspended = isSuspended(job);
  const before = status.conditions ?? [];
  const conditions = withCondition(before, suspended ? SUSPENDED : RESUMED, now);
  if (conditions === before) return undefined;
  // DL-3: the deadline counts one continuous active period.
  const { startTime: _, ...rest } = status;
  return {
    status: { ...rest, conditions: [...conditions], ...(!suspended && { startTime: now }) },
    event: suspended
      ? { type: "Normal", reason: "Suspended", message: "Job suspended" }
      : { type: "Normal", reason: "Resumed", message: "Job resumed" },
  };
}
