import { describe, expect, it } from "vitest";
import { readJobsConfig } from "./jobs-command.ts";

describe("readJobsConfig", () => {
  it("takes flags before JOBFERRY_ variables before those of the upstream suite", () => {
    const env = { JOB_SYNC_BATCH_MS: "1", JOBFERRY_MAX_PODS_PER_SYNC: "2", JOB_MAX_PODS_PER_SYNC: "3" };
    const config = readJobsConfig({
      flags: { unmanaged: true, maxUncountedPods: "4" },
      env: { ...env, JOB_MAX_UNCOUNTED_PODS: "5" },
    });
    expect(config).toMatchObject({ syncBatchMs: 1, maxPodsPerSync: 2, maxUncountedPods: 4, workers: 5 });
  });

  it.each([
    ["neither claim", {}, "--managed-by"],
    ["both claims", { unmanaged: true, managedBy: "a/b" }, "--unmanaged"],
    ["a word for a number", { unmanaged: true, workers: "many" }, "--workers"],
    ["no workers", { unmanaged: true, workers: "0" }, "--workers"],
    ["a port out of range", { unmanaged: true, metricsPort: "70000" }, "--metrics-port"],
    ["a managedBy that no Job can have", { managedBy: "x".repeat(64) }, "--managed-by"],
  ])("refuses %s and names the flag", (_, flags, named) => {
    expect(() => readJobsConfig({ flags })).toThrow(named);
    expect(() => readJobsConfig({ flags })).toThrow(expect.objectContaining({ exitCode: 2 }));
  });
});
