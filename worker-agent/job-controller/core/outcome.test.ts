import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { describe, expect, it } from "vitest";
import { aJob, aPod, at, NOW } from "../testing/builders.ts";
import { indexState } from "./indexed.ts";
import { decideOutcome, isPlainlyComplete, timeToDeadline } from "./outcome.ts";

const condition = (type: string, status: "True" | "False", reason = "R", message = "M") => ({
  type,
  status,
  reason,
  message,
});

function outcome(job: Job, { status = {}, failed = 0, pods = [] as ReturnType<typeof aPod>[] } = {}) {
  const facts = pods.map((pod) => pod.facts());
  const full: JobStatus = { startTime: at(-10), ...job.status, ...status };
  return decideOutcome({ job, status: full, pods: facts, failed, indexes: indexState(job, full, facts), now: NOW });
}

describe("S-8.1, S-8.2 a recorded fate", () => {
  it.each(["SuccessCriteriaMet", "FailureTarget"] as const)("%s is final, reason and message kept", (interim) => {
    const job = aJob().spec({ backoffLimit: 0 }).build();
    const status = { conditions: [condition(interim, "True")] };
    expect(outcome(job, { status, failed: 9 })).toEqual({ interim, reason: "R", message: "M", recorded: true });
  });

  it("CD-7 ignores entries that are not True, and finds a True one behind them", () => {
    expect(outcome(aJob().build(), { status: { conditions: [condition("FailureTarget", "False")] } })).toBeUndefined();
    const both = [condition("FailureTarget", "False"), condition("FailureTarget", "True", "Real")];
    expect(outcome(aJob().build(), { status: { conditions: both } })?.reason).toBe("Real");
  });
});

describe("backoffLimit", () => {
  it.each([
    ["BL-1 limit 0, no failure", 0, 0, undefined],
    ["BL-1 limit 0, one failure", 0, 1, "BackoffLimitExceeded"],
    ["BL-1 limit 2, two failures", 2, 2, undefined],
    ["BL-1 limit 2, three failures", 2, 3, "BackoffLimitExceeded"],
  ])("%s", (_, backoffLimit, failed, want) =>
    expect(outcome(aJob().spec({ backoffLimit }).build(), { failed })?.reason).toBe(want),
  );

  const restarting = (backoffLimit: number, restartPolicy: "Never" | "OnFailure" = "OnFailure") =>
    aJob().spec({ backoffLimit }).restartPolicy(restartPolicy).build();
  const restarted = (job: Job, count: number) => aPod(job).phase("Running").restarts(count);

  it.each([
    ["BL-4 sum reaches the limit", restarting(3), [2, 1], "BackoffLimitExceeded"],
    ["BL-4 sum below the limit", restarting(3), [1, 1], undefined],
    ["BL-4 limit 0, no restart", restarting(0), [0], undefined],
    ["BL-4 limit 0, one restart", restarting(0), [1], "BackoffLimitExceeded"],
    ["BL-4 restartPolicy Never", restarting(1, "Never"), [9], undefined],
  ])("%s", (_, job, counts, want) =>
    expect(outcome(job, { pods: counts.map((count) => restarted(job, count)) })?.reason).toBe(want),
  );

  it("BL-5 forgets the restarts of finished pods", () => {
    const job = restarting(1);
    const pod = aPod(job).failed().restarts(9);
    expect(outcome(job, { pods: [pod] })).toBeUndefined();
  });
});

describe("activeDeadlineSeconds", () => {
  const job = (seconds: number) => aJob().spec({ activeDeadlineSeconds: seconds }).build();
  it.each([
    ["DL-1 inclusive", job(10), "DeadlineExceeded"],
    ["DL-1 not yet", job(11), undefined],
    ["DL-5 zero", job(0), "DeadlineExceeded"],
    ["DL-3 suspended", aJob().spec({ activeDeadlineSeconds: 1, suspend: true }).build(), undefined],
  ])("%s", (_, deadline, want) => expect(outcome(deadline)?.reason).toBe(want));

  it("DL-2 the back-off limit is looked at first", () =>
    expect(outcome(aJob().spec({ activeDeadlineSeconds: 1, backoffLimit: 0 }).build(), { failed: 1 })?.reason).toBe(
      "BackoffLimitExceeded",
    ));

  it("DL-4 tells how long is left", () => {
    const status = { startTime: at(-10) };
    expect(timeToDeadline({ job: job(15), status, now: NOW })).toBe(5000);
    expect(timeToDeadline({ job: job(15), status: {}, now: NOW })).toBeUndefined();
    expect(timeToDeadline({ job: aJob().build(), status, now: NOW })).toBeUndefined();
  });
});

describe("failed indexes", () => {
  const job = aJob().indexed(4).spec({ backoffLimitPerIndex: 0, maxFailedIndexes: 1 }).build();
  const unlimited = aJob().indexed(4).spec({ backoffLimitPerIndex: 0 }).build();
  it.each([
    ["BI-9 as many as allowed", job, { failedIndexes: "0" }, undefined],
    ["BI-9 one more", job, { failedIndexes: "0,1" }, "MaxFailedIndexesExceeded"],
    ["BI-11 others still run", unlimited, { failedIndexes: "0-2" }, undefined],
    ["BI-10 all finished", unlimited, { failedIndexes: "0", completedIndexes: "1-3" }, "FailedIndexes"],
    ["BI-10 all succeeded", unlimited, { completedIndexes: "0-3" }, undefined],
  ])("%s", (_, indexed, status, want) => expect(outcome(indexed, { status })?.reason).toBe(want));
});

describe("success policy", () => {
  const job = aJob()
    .indexed(3)
    .spec({ successPolicy: { rules: [{ succeededIndexes: "1" }] }, backoffLimit: 0 })
    .build();
  const pods = [aPod(job).index(1).succeeded()];

  it("SP-1 sees pods that are not accounted yet", () =>
    expect(outcome(job, { pods })).toMatchObject({ interim: "SuccessCriteriaMet", reason: "SuccessPolicy" }));

  it("SP-7 a failure found in the same sync wins", () =>
    expect(outcome(job, { pods, failed: 1 })?.reason).toBe("BackoffLimitExceeded"));
});

it("S-8.3 a FailJob match comes before the back-off limit", () => {
  const rules = [{ action: "FailJob" as const, onExitCodes: { operator: "In" as const, values: [7] } }];
  const job = aJob().spec({ podFailurePolicy: { rules }, backoffLimit: 0 }).build();
  expect(outcome(job, { pods: [aPod(job).failed({ exitCode: 7 })], failed: 1 })?.reason).toBe("PodFailurePolicy");
});

describe("isPlainlyComplete (S-12)", () => {
  const queue = aJob().workQueue(3).build();
  const three = aJob().spec({ completions: 3 }).build();
  it.each([
    ["work queue, none succeeded", queue, 0, 0, false],
    ["work queue, one succeeded, others run", queue, 1, 2, false],
    ["work queue, one succeeded, none runs", queue, 1, 0, true],
    ["completions missing", three, 2, 0, false],
    ["completions reached", three, 3, 0, true],
    ["completions reached, one runs", three, 3, 1, false],
    ["M-12 completions 0", aJob().spec({ completions: 0 }).build(), 0, 0, true],
  ])("%s", (_, job, succeeded, active, want) => expect(isPlainlyComplete(job, succeeded, active)).toBe(want));
});
