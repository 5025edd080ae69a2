import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { describe, expect, it } from "vitest";
import { podRefusalOf, refusalOf } from "./refusal.ts";

const failure = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" } as const;
const terminating = {
  status: { ...failure, details: { causes: [{ reason: "NamespaceTerminating" }] } },
};

describe("refusalOf", () => {
  it.each([
    ["a missing namespace", new ApiError(404, "NotFound", 'namespaces "team" not found'), "NamespaceMissing"],
    [
      "a namespace that goes",
      new ApiError(403, "Forbidden", "is being terminated", terminating),
      "NamespaceTerminating",
    ],
    ["a quota", new ApiError(403, "Forbidden", "exceeded quota: small, requested: pods=1"), "QuotaExceeded"],
    ["a webhook", new ApiError(400, "BadRequest", 'admission webhook "x.y" denied the request: no'), "AdmissionDenied"],
    ["a policy", new ApiError(422, "Invalid", "ValidatingAdmissionPolicy 'p' denied request"), "AdmissionDenied"],
    ["an admission plugin", new ApiError(403, "Forbidden", "is forbidden: no PriorityClass"), "AdmissionDenied"],
    ["missing rights", new ApiError(403, "Forbidden", 'User "x" cannot create resource "jobs"'), "Other"],
    ["an invalid spec", new ApiError(422, "Invalid", "spec.completions: Invalid value"), "Invalid"],
    ["a Job that is too large", new ApiError(413, "RequestEntityTooLarge", "limit is 3145728"), "Other"],
    ["a Job too large for etcd", new ApiError(500, "Unknown", "etcdserver: request is too large"), "Invalid"],
  ])("%s is a typed refusal", (_, error, reason) => {
    expect(refusalOf(error, "team")).toMatchObject({ reason });
  });

  it.each([
    ["a timeout", new ApiError(504, "Timeout", "")],
    ["too many requests", new ApiError(429, "TooManyRequests", "")],
    ["an expired token", new ApiError(401, "Unauthorized", "")],
    ["no answer", new ApiError(0, "NotSent", "")],
    ["a defect of ours", new TypeError("x is not a function")],
  ])("%s is tried again here", (_, error) => {
    expect(refusalOf(error, "team")).toBeUndefined();
  });
});

describe("podRefusalOf", () => {
  it.each([
    ['pods "j-x" is forbidden: exceeded quota: none, requested: pods=1', "QuotaExceeded"],
    [
      'pods "j-x" is forbidden: error looking up service account a/b: serviceaccount "b" not found',
      "ServiceAccountMissing",
    ],
    ["unable to create new content in namespace a because it is being terminated", "NamespaceTerminating"],
    ['admission webhook "x.y" denied the request: no', "AdmissionDenied"],
    ['pods "j-x" is forbidden: violates PodSecurity "restricted:latest"', "AdmissionDenied"],
    ["etcdserver: request timed out", undefined],
  ])("%s", (message, reason) => {
    expect(podRefusalOf(`Error creating: ${message}`)?.reason).toBe(reason);
  });
});
