import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { SEQ } from "@jobferry/shared/protocol/marks.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aCondition, aHubJob, anAssignedJob, EAST, epochOf, phases, WEST } from "../testing/hub-job.ts";
import { judgeStatus as judge, type StatusReport } from "./accept.ts";

const startTime = "2026-01-01T00:00:00Z";
const running: JobStatus = { startTime, active: 1, ready: 1, terminating: 0, uncountedTerminatedPods: {} };
const report = (status: JobStatus, over: Partial<StatusReport> = {}): StatusReport => ({
  cluster: EAST,
  epoch: epochOf(2),
  seq: 10,
  status,
  ...over,
});

const NOW = Date.parse("2026-01-02T00:00:00Z");
const judgeStatus = (job: Job, news: StatusReport) =>
  judge(job, news, { phase: phases.of(job), storedSeq: phases.storedSeq(job), now: NOW });

describe("judgeStatus", () => {
  it("writes the present assignment's news as it is", () => {
    expect(judgeStatus(anAssignedJob(), report(running))).toEqual({ verdict: "write", status: running });
  });

  it("knows what it has, whatever the order of its fields", () => {
    const same = { ...running, startTime };
    expect(judgeStatus(anAssignedJob({ status: running }), report(same)).verdict).toBe("known");
  });

  it.each<[string, Job, Partial<StatusReport>]>([
    ["another cluster", anAssignedJob(), { cluster: WEST }],
    ["an older epoch", anAssignedJob(), { epoch: epochOf(1) }],
    ["an epoch that never was", anAssignedJob(), { epoch: epochOf(3) }],
    ["a report that was stored", anAssignedJob({ metadata: { annotations: { [SEQ]: "2:10" } } }), {}],
    ["a Job that waits", aHubJob(), {}],
    ["a finished Job", anAssignedJob({ status: { conditions: [aCondition("Failed")] } }), {}],
    ["somebody else's Job", anAssignedJob({ spec: { managedBy: "example.com/other" } }), {}],
  ])("drops %s", (_, job, over) => {
    expect(judgeStatus(job, report(running, over)).verdict).toBe("stale");
  });

  it.each<[string, JobStatus]>([
    ["a falling counter", { ...running, failed: 1 }],
    [
      "Complete and Failed together",
      { ...running, failed: 2, conditions: [aCondition("Complete"), aCondition("Failed")] },
    ],
    ["a bare Complete", { ...running, failed: 2, active: 0, ready: 0, conditions: [aCondition("Complete")] }],
    ["indexes of a Job without", { ...running, failed: 2, completedIndexes: "0" }],
    ["more ready than active", { ...running, failed: 2, ready: 5 }],
  ])("refuses %s and says why", (_, status) => {
    const verdict = judgeStatus(anAssignedJob({ status: { ...running, failed: 2 } }), report(status));
    expect(verdict).toMatchObject({
      verdict: "invalid",
      problems: expect.arrayContaining([expect.stringContaining("status.")]),
    });
  });

  it.each([
    ["its start", { ...running, startTime: "2026-01-03T00:00:01Z" }, "status.startTime"],
    [
      "a condition",
      { ...running, conditions: [{ ...aCondition("Odd"), lastTransitionTime: "2999-01-01T00:00:00Z" }] },
      "status.conditions[Odd].lastTransitionTime",
    ],
  ])("refuses a status with the time of %s more than a day ahead", (_, status, field) => {
    const problems = [expect.stringContaining(`${field}: `)];
    expect(judgeStatus(anAssignedJob(), report(status))).toMatchObject({ verdict: "invalid", problems });
  });

  it("takes a worker's word for its clock within a day", () => {
    const status = { ...running, startTime: "2026-01-02T23:59:59Z" };
    expect(judgeStatus(anAssignedJob(), report(status)).verdict).toBe("write");
  });

  it("VS-24 keeps the first start time of a Job whose worker started anew", () => {
    const job = anAssignedJob({ status: running });
    const later = { ...running, active: 2, startTime: "2026-01-01T01:00:00Z" };
    expect(judgeStatus(job, report(later))).toEqual({ verdict: "write", status: { ...later, startTime } });
  });

  it.each<[string, Job, JobStatus, string | undefined]>([
    ["of a mirror that has no pod yet", anAssignedJob(), { startTime, ready: 0, terminating: 0 }, undefined],
    ["of one with a pod", anAssignedJob(), { startTime, active: 1, ready: 0 }, startTime],
    ["of one whose pod is ending", anAssignedJob(), { startTime, active: 0, terminating: 1 }, startTime],
    ["of one whose pod failed", anAssignedJob(), { startTime, failed: 1 }, startTime],
    ["of one that should have none", anAssignedJob({ spec: { parallelism: 0 } }), { startTime, ready: 0 }, startTime],
    [
      "of one that ended without a pod",
      anAssignedJob(),
      { startTime, conditions: [aCondition("FailureTarget"), aCondition("Failed", "True", "DeadlineExceeded")] },
      startTime,
    ],
  ])("the start time %s", (_, job, status, want) => {
    const verdict = judgeStatus(job, report(status));
    expect(verdict.verdict === "write" && verdict.status.startTime).toBe(want);
  });

  it("AG-14 takes the new start time of a resumed Job", () => {
    const job = anAssignedJob({ status: { ready: 0, terminating: 0, conditions: [aCondition("Suspended")] } });
    const resumed = { ...running, conditions: [aCondition("Suspended", "False")] };
    expect(judgeStatus(job, report(resumed))).toEqual({ verdict: "write", status: resumed });
  });

  it("takes what a Job achieved that its worker stopped, but not the stop", () => {
    const job = anAssignedJob({ status: running });
    const stopped = { succeeded: 1, ready: 0, terminating: 0, conditions: [aCondition("Suspended")] };
    expect(judgeStatus(job, report(stopped))).toEqual({
      verdict: "write",
      status: { succeeded: 1, ready: 0, terminating: 0, conditions: [], startTime },
    });
  });

  describe("of an elastic Job that was given fewer indexes on the hub", () => {
    const elastic = (completions: number, parallelism: number, succeeded: number, generation = 2): Job =>
      anAssignedJob({
        metadata: { generation },
        spec: { completionMode: "Indexed", completions, parallelism },
        status: { ...running, succeeded, completedIndexes: `0-${succeeded - 1}` },
      });
    const done = { startTime, completionTime: startTime, ready: 0, terminating: 0, uncountedTerminatedPods: {} };
    const conditions = [aCondition("SuccessCriteriaMet"), aCondition("Complete")];
    const all = { ...done, succeeded: 5, completedIndexes: "0-4", conditions };

    it.each<[string, Job, JobStatus, JobStatus]>([
      ["finishes with those that are left", elastic(2, 2, 4), all, { ...all, succeeded: 2, completedIndexes: "0,1" }],
      [
        "keeps a counter that may not fall, because its parallelism was changed since",
        elastic(2, 1, 4),
        all,
        { ...all, succeeded: 4, completedIndexes: "0,1" },
      ],
      [
        "runs on with those that are left",
        elastic(3, 3, 4),
        { ...running, succeeded: 3, completedIndexes: "1,3,4" },
        { ...running, succeeded: 1, completedIndexes: "1" },
      ],
    ])("%s", (_, job, reported, status) => {
      expect(judgeStatus(job, report(reported))).toEqual({ verdict: "write", status });
    });

    it("refuses indexes that it never had, because nobody edited it", () => {
      const status = { ...running, succeeded: 4, completedIndexes: "0-3" };
      expect(judgeStatus(elastic(3, 3, 2, 1), report(status)).verdict).toBe("invalid");
    });

    it("refuses indexes that are not well-formed", () => {
      const status = { ...running, succeeded: 3, completedIndexes: "1,x,4" };
      expect(judgeStatus(elastic(3, 3, 4), report(status)).verdict).toBe("invalid");
    });
  });

  describe("of a worker that was put back to a backup", () => {
    const spec = { completionMode: "Indexed", completions: 4, parallelism: 4 } as const;
    const stored = { ...running, active: 1, succeeded: 3, completedIndexes: "0-2" };
    const less: JobStatus = { ...running, active: 3, succeeded: 1, completedIndexes: "1" };

    it("keeps the indexes that the hub knows to be completed", () => {
      const verdict = judgeStatus(anAssignedJob({ spec, status: stored }), report(less));
      expect(verdict).toMatchObject({ verdict: "write", status: { succeeded: 3, completedIndexes: "0-2", active: 3 } });
    });

    it("adds to them what the worker completes", () => {
      const more = { ...less, succeeded: 2, completedIndexes: "1,3" };
      const verdict = judgeStatus(anAssignedJob({ spec, status: stored }), report(more));
      expect(verdict).toMatchObject({ status: { succeeded: 4, completedIndexes: "0-3" } });
    });

    it("lets a Job that was edited go on with fewer: it may have had fewer in between", () => {
      const job = anAssignedJob({ spec, status: stored, metadata: { generation: 2 } });
      expect(judgeStatus(job, report(less))).toMatchObject({ status: { succeeded: 1, completedIndexes: "1" } });
    });
  });

  it("ends a Job no earlier than it started, however its worker's clock was read meanwhile", () => {
    const job = anAssignedJob({ status: running });
    const conditions = [aCondition("SuccessCriteriaMet"), aCondition("Complete")];
    const done = { ...running, active: 0, ready: 0, succeeded: 1, conditions };
    const turned = { ...done, startTime: "2025-12-31T23:59:40Z", completionTime: "2025-12-31T23:59:50Z" };
    expect(judgeStatus(job, report(turned))).toEqual({
      verdict: "write",
      status: { ...done, completionTime: startTime },
    });
  });

  it("writes a well-formed status exactly when neither of its counters falls", () => {
    const upTo = (max: number, min = 0) => fc.integer({ min, max });
    const before = fc.record({ active: upTo(5), succeeded: upTo(5), failed: upTo(5), terminating: upTo(2) });
    /** What the report adds: one counter in five falls, so that most cases are written. */
    const news = fc.record({ active: upTo(5), succeeded: upTo(3, -1), failed: upTo(3, -1), terminating: upTo(2) });
    const tally = { write: 0, known: 0, invalid: 0, stale: 0 };
    fc.assert(
      fc.property(before, news, (stored, added) => {
        const { succeeded, failed } = added;
        const counted = { succeeded: stored.succeeded + succeeded, failed: stored.failed + failed };
        fc.pre(counted.succeeded >= 0 && counted.failed >= 0);
        const reported = { ...added, ...counted, ready: added.active, startTime };
        const job = anAssignedJob({ status: { ...stored, ready: stored.active, startTime } });
        const { verdict } = judgeStatus(job, report(reported));
        tally[verdict]++;
        const falls = succeeded < 0 || failed < 0;
        expect(verdict === "known" ? "write" : verdict).toBe(falls ? "invalid" : "write");
      }),
      { numRuns: 200 },
    );
    // Else the property would say little.
    expect(tally.write).toBeGreaterThan(100);
    expect(tally.invalid).toBeGreaterThan(30);
  });

  it("never throws, whatever the status says", () => {
    const count = fc.option(fc.integer({ min: -1, max: 5 }), { nil: undefined });
    const counters = { active: count, ready: count, succeeded: count, failed: count, terminating: count };
    const status = fc.record({ ...counters, completedIndexes: fc.string() }, { requiredKeys: [] });
    const verdicts = ["write", "known", "stale", "invalid"];
    fc.assert(
      fc.property(status, status, (before, after) => {
        const job = anAssignedJob({ status: JSON.parse(JSON.stringify(before)) as JobStatus });
        const { verdict } = judgeStatus(job, report(JSON.parse(JSON.stringify(after)) as JobStatus));
        expect(verdicts).toContain(verdict);
      }),
    );
  });
});
