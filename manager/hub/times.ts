import type { JobStatus } from "@jobferry/shared/job/types.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";

/**
 * The status with all its times moved by `ms`: from the clock of a worker to that of the hub, or back. A deadline counts from
 * `startTime` and a TTL from `completionTime`, each by the clock of the cluster that looks at them.
 */
export function shiftTimes(status: JobStatus, ms: number): JobStatus {
  if (ms === 0) return status;
  const shift = <T extends string | null | undefined>(time: T): T | string => {
    const at = Date.parse(time ?? "");
    return Number.isNaN(at) ? time : timestamp(at + ms);
  };
  const { startTime, completionTime, conditions, ...rest } = status;
  return {
    ...rest,
    ...(startTime === undefined ? {} : { startTime: shift(startTime) }),
    ...(completionTime === undefined ? {} : { completionTime: shift(completionTime) }),
    ...(conditions === undefined
      ? {}
      : {
          conditions: conditions.map(({ lastProbeTime, lastTransitionTime, ...condition }) => ({
            ...condition,
            ...(lastProbeTime === undefined ? {} : { lastProbeTime: shift(lastProbeTime) }),
            ...(lastTransitionTime === undefined ? {} : { lastTransitionTime: shift(lastTransitionTime) }),
          })),
        }),
  };
}
