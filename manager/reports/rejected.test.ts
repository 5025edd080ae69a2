import type { JobStatus } from "@jobferry/shared/job/types.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { describe, expect, it } from "vitest";
import { aCondition } from "../testing/hub-job.ts";
import { forgottenBy, rejectionOf } from "./rejected.ts";

const status: JobStatus = { succeeded: 1, ready: 1, terminating: 1, uncountedTerminatedPods: {} };
const invalid = (...fields: string[]) =>
  new ApiError(422, "Invalid", "no", {
    status: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      details: { causes: fields.map((field) => ({ field })) },
    },
  });

describe("rejectionOf", () => {
  it.each<[string, string[], JobStatus, JobStatus]>([
    ["one field", ["status.terminating"], {}, { succeeded: 1, ready: 1, uncountedTerminatedPods: {} }],
    ["a part of one", ["status.uncountedTerminatedPods.failed[0]"], {}, { succeeded: 1, ready: 1, terminating: 1 }],
    ["two", ["status.ready", "status.terminating"], {}, { succeeded: 1, uncountedTerminatedPods: {} }],
    ["a counter, which stays as it is there", ["status.succeeded"], { succeeded: 3 }, { ...status, succeeded: 3 }],
  ])("leaves the hub's own value of %s", (_, fields, stored, reduced) => {
    expect(rejectionOf(invalid(...fields), status, stored)).toEqual({ fields, reduced });
  });

  it("keeps the terminal condition when the hub does not take the one that announces it", () => {
    const conditions = [aCondition("SuccessCriteriaMet"), aCondition("Complete")];
    const rejection = rejectionOf(invalid("status.conditions"), { ...status, conditions }, {});
    expect(rejection?.reduced).toEqual({ ...status, conditions: [aCondition("Complete")] });
  });

  it.each<[string, string[], JobStatus]>([
    ["a condition that decides", ["status.conditions"], { conditions: [aCondition("Complete")] }],
    ["what the hub has already", ["status.ready"], { ready: 2 }],
    ["something beside the status", ["status.ready", "metadata.finalizers"], status],
    ["nothing by name", [], status],
  ])("cannot do without %s", (_, fields, wanted) => {
    expect(rejectionOf(invalid(...fields), wanted, { ready: 2 })).toEqual({ fields, reduced: undefined });
  });

  it.each([new ApiError(409, "Conflict", ""), new ApiError(500, "InternalError", ""), new Error("x")])(
    "has no opinion on other failures: %s",
    (error) => {
      expect(rejectionOf(error, status, {})).toBeUndefined();
    },
  );
});

describe("forgottenBy", () => {
  it("names what was sent and is not there, but no empty values", () => {
    const sent = { ...status, active: 0, failedIndexes: "1", conditions: [] };
    expect(forgottenBy({ succeeded: 1, ready: 1 }, sent)).toEqual(["status.terminating", "status.failedIndexes"]);
    expect(forgottenBy(sent, sent)).toEqual([]);
    expect(forgottenBy(undefined, { ready: 1 })).toEqual(["status.ready"]);
  });
});
