import { describe, expect, it } from "vitest";
import { aJob } from "../testing/builders.ts";
import { finishedDelta, shapeStatus, withStatus } from "./status.ts";

it("SW-4 leaves out zeros and empty strings, except where absence means unknown", () =>
  expect(
    shapeStatus({
      active: 0,
      succeeded: 0,
      failed: 0,
      ready: 0,
      terminating: 0,
      completedIndexes: "",
      failedIndexes: "",
      uncountedTerminatedPods: {},
    }),
  ).toEqual({ ready: 0, terminating: 0, failedIndexes: "", uncountedTerminatedPods: {} }));

it("SW-1 sends the whole object with its resourceVersion, but not the managed fields", () => {
  const job = aJob().build();
  const cached = { ...job, metadata: { ...job.metadata, managedFields: [{}], labels: { a: "b" } } };
  const sent = withStatus(cached, { ready: 0 });
  expect(sent.metadata).toEqual({ ...job.metadata, labels: { a: "b" } });
  expect(sent).toMatchObject({ apiVersion: "batch/v1", kind: "Job", spec: job.spec, status: { ready: 0 } });
});

describe("finishedDelta", () => {
  const plain = aJob().build();
  const indexed = aJob().indexed(10).spec({ backoffLimitPerIndex: 1 }).build();
  it.each([
    ["counters", plain, { succeeded: 1, failed: 1 }, { succeeded: 3, failed: 2 }, [2, 1, 0]],
    ["indexes", indexed, { completedIndexes: "0" }, { completedIndexes: "0-3", failedIndexes: "4,5" }, [3, 0, 2]],
    ["IX-11 forgotten indexes", indexed, { completedIndexes: "0-5" }, { completedIndexes: "0-3" }, [0, 0, 0]],
  ])("%s", (_, job, before, after, [succeeded, failed, failedIndexes]) =>
    expect(finishedDelta(job, before, after)).toEqual({ succeeded, failed, failedIndexes }),
  );
});
