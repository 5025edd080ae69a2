import { describe, expect, it } from "vitest";
import { readRoute } from "./routes.ts";

describe("paths", () => {
  it.each([
    ["/api/v1/pods", { group: "", version: "v1", plural: "pods" }],
    ["/api/v1/pods/", { group: "", version: "v1", plural: "pods" }],
    ["/api/v1/namespaces/a/pods/b/log", { plural: "pods", namespace: "a", name: "b", subresource: "log" }],
    ["/api/v1/namespaces/a", { plural: "namespaces", name: "a" }],
    ["/api/v1/namespaces/a/status", { plural: "namespaces", name: "a", subresource: "status" }],
    ["/api/v1/namespaces/a/finalize", { plural: "namespaces", name: "a", subresource: "finalize" }],
    ["/apis/batch/v1/namespaces/a/jobs/b%2Ec", { group: "batch", plural: "jobs", namespace: "a", name: "b.c" }],
    ["/apis/batch/v1/jobs", { group: "batch", plural: "jobs" }],
  ])("%s", (path, wanted) => {
    expect(readRoute(path)).toMatchObject(wanted);
  });

  it.each(["/", "/api", "/apis/batch/v1", "/metrics", "/api/v1/namespaces/a/pods/b/log/c"])("%s is none", (path) => {
    expect(readRoute(path)).toBeUndefined();
  });
});
