import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { describe, expect, it } from "vitest";
import { rejectionOf } from "./rejected.ts";

const status = { succeeded: 1, ready: 1, terminating: 1, uncountedTerminatedPods: {} };
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
  it.each([
    ["one field", ["status.terminating"], { succeeded: 1, ready: 1, uncountedTerminatedPods: {} }],
    ["a part of one", ["status.uncountedTerminatedPods.failed[0]"], { succeeded: 1, ready: 1, terminating: 1 }],
    ["two", ["status.ready", "status.terminating"], { succeeded: 1, uncountedTerminatedPods: {} }],
  ])("leaves out %s that the hub can do without", (_, fields, reduced) => {
    expect(rejectionOf(invalid(...fields), status)).toEqual({ fields, reduced });
  });

  it.each([
    ["a counter", ["status.succeeded"]],
    ["a counter beside an optional field", ["status.ready", "status.succeeded"]],
    ["a name that only begins alike", ["status.readyOrNot"]],
    ["nothing by name", []],
  ])("cannot leave out %s", (_, fields) => {
    expect(rejectionOf(invalid(...fields), status)).toEqual({ fields, reduced: undefined });
  });

  it.each([new ApiError(409, "Conflict", ""), new ApiError(500, "InternalError", ""), new Error("x")])(
    "has no opinion on other failures: %s",
    (error) => {
      expect(rejectionOf(error, status)).toBeUndefined();
    },
  );
});
