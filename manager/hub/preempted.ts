import type { Job } from "@jobferry/shared/job/types.ts";
import { PREEMPTED } from "@jobferry/shared/protocol/marks.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";

/** A Job that was displaced is left alone for this long, and for twice as long after every further time: in the end it ends. */
const GRACE_MS = 10 * 60_000;
const MOST_DOUBLINGS = 20;

/** How often a Job was displaced, and when last, from `2 2026-01-01T00:00:00Z`. */
function read(job: Job): { times: number; at: number } {
  const [, times = "0", at = ""] = /^(\d{1,6}) (\S+)$/.exec(job.metadata.annotations?.[PREEMPTED] ?? "") ?? [];
  return { times: Number(times), at: Date.parse(at) || 0 };
}

/** What the Job says once it has been displaced again. */
export const nextPreempted = (job: Job, nowMs: number): string => `${read(job).times + 1} ${timestamp(nowMs)}`;

/** Until when nobody may displace it, in ms of the hub's clock; 0: it never was. */
export function protectedUntil(job: Job): number {
  const { times, at } = read(job);
  return times === 0 ? 0 : at + GRACE_MS * 2 ** Math.min(times - 1, MOST_DOUBLINGS);
}
