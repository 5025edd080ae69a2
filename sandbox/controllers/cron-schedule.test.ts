import { expect, test } from "vitest";
import { parseSchedule, ScheduleError, zonedTimestamp } from "./cron-schedule.ts";

const at = (text: string): number => Date.parse(text);
const text = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

test.each([
  ["*/15 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:15:00.000Z"],
  ["5/15 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00.000Z"],
  ["0 3 ? * MON", "2026-01-01T00:00:00Z", "2026-01-05T03:00:00.000Z"],
  ["@daily", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00.000Z"],
  ["@hourly", "2026-01-01T00:30:00Z", "2026-01-01T01:00:00.000Z"],
  ["0 0 13 * 5", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00.000Z"],
  ["@every 1h30m", "2026-01-01T00:00:00Z", "2026-01-01T01:30:00.000Z"],
])("%s after %s is due at %s", (schedule, after, expected) => {
  expect(text(parseSchedule(schedule).next(at(after)))).toBe(expected);
});

test.each(["* * * *", "61 * * * *", "* * * * * *", "often", "@every soon", ""])("%j is not a schedule", (schedule) => {
  expect(() => parseSchedule(schedule)).toThrow(ScheduleError);
});

test("a time zone moves the schedule, also over the change of the clocks", () => {
  const berlin = parseSchedule("0 9 * * *", "Europe/Berlin");
  expect(text(berlin.next(at("2026-03-28T00:00:00Z")))).toBe("2026-03-28T08:00:00.000Z");
  expect(text(berlin.next(at("2026-03-29T00:00:00Z")))).toBe("2026-03-29T07:00:00.000Z");
  expect(() => parseSchedule("0 9 * * *", "Mars/Olympus")).toThrow("unknown time zone Mars/Olympus");
});

test.each(["* * * * *", "@every 1m"])("%s: the latest run is the newest one due, never an older one", (schedule) => {
  const { latest } = parseSchedule(schedule);
  const begin = at("2026-01-01T00:00:00Z");
  expect(latest(begin, begin + 59_999)).toBeUndefined();
  expect(latest(begin, begin + 60_000)).toBe(begin + 60_000);
  expect(latest(begin, begin + 60_001)).toBe(begin + 60_000);
  expect(latest(begin, begin + 3_661_000)).toBe(begin + 3_660_000);
  expect(latest(begin + 60_000, begin + 60_000)).toBeUndefined();
});

test("times carry the zone's offset (K-28)", () => {
  const moment = at("2026-07-01T07:00:00Z");
  expect(zonedTimestamp(moment, undefined)).toBe("2026-07-01T07:00:00Z");
  expect(zonedTimestamp(moment, "Etc/UTC")).toBe("2026-07-01T07:00:00Z");
  expect(zonedTimestamp(at("2026-01-01T07:00:00Z"), "Europe/London")).toBe("2026-01-01T07:00:00Z");
  expect(zonedTimestamp(moment, "Europe/Berlin")).toBe("2026-07-01T09:00:00+02:00");
  expect(zonedTimestamp(moment, "America/St_Johns")).toBe("2026-07-01T04:30:00-02:30");
});
