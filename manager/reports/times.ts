import type { JobStatus } from "@jobferry/shared/job/types.ts";

/** Clocks of machines differ, by an hour when a time zone was mistaken; not by more than this unless one is broken. */
const AHEAD_MS = 24 * 3_600_000;

/** Times that have not come yet. A finished Job with one would not be cleaned up by `ttlSecondsAfterFinished` for as long. */
export function timesAhead({ startTime, completionTime, conditions = [] }: JobStatus, nowMs: number): string[] {
  const times: [field: string, time: string | null | undefined][] = [
    ["status.startTime", startTime],
    ["status.completionTime", completionTime],
    ...conditions.map(({ type, lastTransitionTime }): [string, string | null | undefined] => [
      `status.conditions[${type}].lastTransitionTime`,
      lastTransitionTime,
    ]),
  ];
  return times
    .filter(([, time]) => Date.parse(time ?? "") > nowMs + AHEAD_MS)
    .map(([field, time]) => `${field}: ${time} lies more than a day ahead: set the worker's clock`);
}
