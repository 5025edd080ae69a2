import type { JobStatus } from "@jobferry/shared/job/types.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { describe, expect, it } from "vitest";
import type { HubJobs } from "../hub/jobs.ts";
import { aCondition, anAssignedJob, anAssignment } from "../testing/hub-job.ts";
import { storeStatus } from "./status-write.ts";

const startTime = "2026-01-01T00:00:00Z";
const complete: JobStatus = {
  startTime,
  completionTime: startTime,
  succeeded: 1,
  ready: 0,
  terminating: 0,
  uncountedTerminatedPods: {},
  conditions: [aCondition("SuccessCriteriaMet"), aCondition("Complete")],
};

const refusal = (field: string): ApiError =>
  ApiError.fromStatus({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code: 422,
    reason: "Invalid",
    message: `${field}: Invalid value`,
    details: { causes: [{ field }] },
  });

/** Stores one Complete on a hub which judges every write; what was written at last, and what is said of it. */
async function storeOn(store: (status: JobStatus, attempt: number) => JobStatus) {
  const said: string[] = [];
  const attempts: JobStatus[] = [];
  const jobs: Pick<HubJobs, "writeStatus"> = {
    async writeStatus(job, status) {
      attempts.push(status);
      return { ...job, status: store(status, attempts.length) };
    },
  };
  const report = { ...anAssignment(), seq: 10, status: complete };
  const job = anAssignedJob({ status: { startTime, active: 1 } });
  const written = await storeStatus(jobs, job, complete, report, true, (what) => said.push(what));
  return { status: written.status, said, attempts: attempts.length, isUnchanged: written === job };
}

describe("a hub of another version", () => {
  it("that rejects fields, one after the other, gets the rest, and it is said which and why", async () => {
    const { status, said } = await storeOn((sent) => {
      if (sent.terminating !== undefined) throw refusal("status.terminating");
      if (sent.conditions?.length === 2) throw refusal("status.conditions");
      return sent;
    });
    const { terminating: _, ...rest } = complete;
    expect(status).toEqual({ ...rest, conditions: [aCondition("Complete")] });
    expect(said).toEqual([
      expect.stringContaining("rejects status.terminating, the rest is written"),
      expect.stringContaining("rejects status.conditions, the rest is written"),
    ]);
  });

  it.each([
    ["everything", "status.conditions"],
    ["a field that is not in the status", "metadata.annotations"],
  ])("that rejects %s is asked a bounded number of times, and the Job stays as it was", async (_, field) => {
    const { said, attempts, isUnchanged } = await storeOn(() => {
      throw refusal(field);
    });
    expect(isUnchanged).toBe(true);
    expect(said.at(-1)).toContain("nothing was written");
    expect(attempts).toBeLessThanOrEqual(4);
  });

  it("that drops a field is named", async () => {
    const { said } = await storeOn(({ completionTime: _, ...sent }) => sent);
    expect(said).toEqual(["does not know status.completionTime: stored without"]);
  });

  it("that fails otherwise fails the step", async () => {
    await expect(
      storeOn(() => {
        throw new ApiError(409, "Conflict", "somebody was faster");
      }),
    ).rejects.toThrow("somebody was faster");
  });
});
