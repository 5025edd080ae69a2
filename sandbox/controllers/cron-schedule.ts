import { Cron } from "croner";

/** When a CronJob is due, in milliseconds since 1970. */
export interface Schedule {
  /** The first time after `after`; undefined when there is none. */
  next(after: number): number | undefined;
  /** The last time at or before `now` that is after `after`; undefined when there is none. */
  latest(after: number, now: number): number | undefined;
}

/** A schedule or time zone that makes no sense; the message says which. */
export class ScheduleError extends Error {}

/** Five fields, `@daily` and the like, or `@every 1h30m`; a zone prefix inside the schedule is not accepted by Kubernetes. */
export function parseSchedule(schedule: string, timeZone?: string): Schedule {
  if (timeZone !== undefined && !isTimeZone(timeZone)) throw new ScheduleError(`unknown time zone ${timeZone}`);
  const every = /^@every\s+(\S+)$/.exec(schedule);
  if (every !== null) return fixedDelay(every[1] ?? "", schedule);
  let cron: Cron;
  try {
    // In Kubernetes `?` is another way to write `*`, and `5/15` means from 5 on.
    cron = new Cron(schedule.replaceAll("?", "*"), {
      paused: true,
      mode: "5-part",
      sloppyRanges: true,
      timezone: timeZone ?? "UTC",
    });
  } catch (error) {
    throw new ScheduleError(error instanceof Error ? error.message : String(error));
  }
  const next = (after: number): number | undefined => cron.nextRun(new Date(after))?.getTime();
  return {
    next,
    latest(after, now) {
      // The search for the run before a moment leaves that moment out: look from the next second.
      const run = cron.previousRuns(1, new Date(now + 1000))[0]?.getTime();
      return run !== undefined && run > after && run <= now ? run : undefined;
    },
  };
}

function fixedDelay(text: string, schedule: string): Schedule {
  const step = goDurationMs(text);
  if (step === undefined) throw new ScheduleError(`failed to parse duration ${schedule}`);
  return {
    next: (after) => Math.floor(after / 1000) * 1000 + step,
    latest(after, now) {
      const base = Math.floor(after / 1000) * 1000;
      const runs = Math.floor((now - base) / step);
      return runs > 0 ? base + runs * step : undefined;
    },
  };
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** `1h30m`; at least a second, as the cron library has it. */
function goDurationMs(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(h|ms|m|s))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g))
    total += Number(amount) * (UNITS[unit] ?? 0);
  return Math.max(1000, Math.floor(total / 1000) * 1000);
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return name !== "" && name.toLowerCase() !== "local";
  } catch {
    return false;
  }
}

/** RFC 3339 with the zone's offset at that moment (K-28). */
export function zonedTimestamp(ms: number, timeZone = "UTC"): string {
  const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }).formatToParts(new Date(ms));
  const zone = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [whole = "Z", sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(zone) ?? [];
  const shift = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === "-" ? -60_000 : 60_000);
  return `${new Date(ms + shift).toISOString().slice(0, 19)}${shift === 0 ? "Z" : whole}`;
}
