import { expect, it } from "vitest";
import { aCondition, aHubJob } from "../testing/hub-job.ts";
import { suspendedStatus } from "./suspended-status.ts";

const now = Date.parse("2026-01-02T03:04:05.678Z");
const held = (status = {}) => aHubJob({ spec: { suspend: true }, status });

it("SU-2 a Job that never ran shows Suspended, in whole seconds", () => {
  const status = suspendedStatus(held(), now);
  expect(status).toMatchObject({ ready: 0, terminating: 0, uncountedTerminatedPods: {} });
  expect(status?.conditions).toEqual([
    expect.objectContaining({ type: "Suspended", status: "True", lastTransitionTime: "2026-01-02T03:04:05Z" }),
  ]);
});

it("says nothing twice", () => {
  const status = suspendedStatus(held(), now);
  expect(suspendedStatus(held(status), now + 60_000)).toBeUndefined();
});

it("SU-4 keeps what was achieved elsewhere, and drops what ran there", () => {
  const before = { succeeded: 2, failed: 1, completedIndexes: "0,1", active: 3, startTime: "2026-01-01T00:00:00Z" };
  const status = suspendedStatus(held({ ...before, conditions: [aCondition("Suspended", "False")] }), now);
  expect(status).toMatchObject({ succeeded: 2, failed: 1, completedIndexes: "0,1" });
  expect(status).not.toHaveProperty("active");
  expect(status).not.toHaveProperty("startTime");
  expect(status?.conditions?.[0]).toMatchObject({ type: "Suspended", status: "True" });
});
