import { INDEX_FAILURE_COUNT, INDEX_IGNORED_FAILURE_COUNT } from "@jobferry/shared/job/keys.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aJob, aPod, NOW } from "../testing/builders.ts";
import { nextBackoff, noFailures, remainingBackoff, remainingIndexBackoff } from "./backoff.ts";
import { defaultLimits } from "./types.ts";

const job = aJob().build();
const failedAt = (...seconds: number[]) => seconds.map((finished) => aPod(job).failed({ finished }).facts());
const succeededAt = (...seconds: number[]) => seconds.map((second) => aPod(job).succeeded(second).facts());
const record = (failures: number, seconds: number, seenMs = NOW) => ({
  failures,
  lastFailureMs: NOW + seconds * 1000,
  seenMs,
});
const reset = { ...noFailures, seenMs: NOW };

describe("nextBackoff", () => {
  it.each([
    ["BO-3 nothing new", record(2, -9), [], [], record(2, -9)],
    ["BO-3 new failures add up", record(2, -9), [], failedAt(-3, -5), record(4, -3)],
    ["BO-4 success resets", record(2, -9), succeededAt(-1), failedAt(-3), reset],
    ["BO-4 failures after the success count", record(2, -9), succeededAt(-4), failedAt(-3, -5), record(1, -3)],
    ["BO-4 equal times do not count", record(2, -9), succeededAt(-4), failedAt(-4), reset],
    ["BO-4 the latest success decides", noFailures, succeededAt(-9, -4), failedAt(-5), reset],
    [
      "a success forgets no time of day",
      record(2, -9, NOW - 9_000),
      succeededAt(-1),
      [],
      { ...noFailures, seenMs: NOW - 9_000 },
    ],
    ["a pod that ended in the future ended when it was seen", noFailures, [], failedAt(900), record(1, 0)],
    ["so did one after a success", noFailures, succeededAt(890), failedAt(900), record(1, 0)],
  ])("%s", (_, before, succeeded, failed, want) => expect(nextBackoff(before, succeeded, failed, NOW)).toEqual(want));
});

describe("remainingBackoff (BO-6)", () => {
  it.each([
    [0, 0, 0],
    [1, 0, 10_000],
    [1, -4, 6_000],
    [1, -10, 0],
    [1, -11, 0],
    [2, 0, 20_000],
    [3, 0, 40_000],
    [6, 0, 320_000],
    [7, 0, 600_000],
    [2_000_000_000, 0, 600_000],
  ])("%i failures, the last at %i s: %i ms", (failures, seconds, want) =>
    expect(remainingBackoff(record(failures, seconds), NOW, defaultLimits)).toBe(want),
  );

  it("is never negative and never above the maximum", () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.integer({ min: -10_000, max: 0 }), (failures, seconds) => {
        const wait = remainingBackoff(record(failures, seconds), NOW, defaultLimits);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(defaultLimits.maxPodFailureBackoffMs);
      }),
    );
  });
});

it("BO-8 counted and ignored failures of an index both delay", () => {
  const delayed = aPod(job)
    .annotations({ [INDEX_FAILURE_COUNT]: "1", [INDEX_IGNORED_FAILURE_COUNT]: "1" })
    .failed({ finished: 0 })
    .facts();
  expect(remainingIndexBackoff(delayed, 0, NOW, defaultLimits)).toBe(40_000);
  expect(remainingIndexBackoff(undefined, 0, NOW, defaultLimits)).toBe(0);
});

it.each([
  ["counts from the moment it was seen", -4_000, 6_000],
  ["does not wait when nobody remembers that moment", Number.NEGATIVE_INFINITY, 0],
])("BO-8 an index that failed in the future %s", (_, seenMs, want) => {
  const delayed = aPod(job).failed({ finished: 900 }).facts();
  expect(remainingIndexBackoff(delayed, NOW + seenMs, NOW, defaultLimits)).toBe(want);
});
