import { expect, it } from "vitest";
import { Starts } from "./starts.ts";

it("is a flood when more Jobs begin within a batch than may", () => {
  const starts = new Starts({ floodStarts: 3, syncBatchMs: 1000 });
  expect([0, 100, 200, 300, 999].map((now) => starts.isFlood(now))).toEqual([false, false, false, true, true]);
});

it("is none when they come one by one, and none any more when they have become few", () => {
  const starts = new Starts({ floodStarts: 2, syncBatchMs: 1000 });
  const times = [0, 600, 1200, 1250, 1300, 2400, 3500];
  expect(times.map((now) => starts.isFlood(now))).toEqual([false, false, false, true, true, false, false]);
});

it("is always one when none may", () =>
  expect(new Starts({ floodStarts: 0, syncBatchMs: 1000 }).isFlood(5)).toBe(true));

it("is never one when nothing is batched", () => {
  const starts = new Starts({ floodStarts: 1, syncBatchMs: 0 });
  expect([5, 5, 5].map((now) => starts.isFlood(now))).toEqual([false, false, false]);
});
