import { withCondition } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";

/**
 * The status of a Job that is suspended and on no cluster, as the built-in controller would show it (SU-2, SU-4); undefined
 * when it says so already. Counters of earlier epochs stay.
 */
export function suspendedStatus(job: Job, nowMs: number): JobStatus | undefined {
  const { status = {} } = job;
  const now = timestamp(nowMs);
  const before = status.conditions ?? [];
  const conditions = withCondition(
    before,
    { type: "Suspended", status: "True", reason: "JobSuspended", message: "Job suspended" },
    now,
  );
  const idle = status.ready === 0 && status.terminating === 0 && (status.active ?? 0) === 0;
  if (conditions === before && idle && status.startTime === undefined) return undefined;
  const { startTime: _, active: __, ...rest } = status;
  return {
    ...rest,
    conditions: [...conditions],
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: status.uncountedTerminatedPods ?? {},
  };
}
