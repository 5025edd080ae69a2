import { describe, expect, test } from "vitest";
import { findCondition, isComplete, isFailed, isFinished, newCondition, withCondition } from "./conditions.ts";
import type { ConditionStatus, Job, JobCondition } from "./types.ts";

const jobWith = (...conditions: JobCondition[]): Job => ({
  metadata: {},
  spec: { template: { spec: { containers: [] } } },
  status: { conditions },
});

describe("finished (CL-7)", () => {
  const cases: [string, ConditionStatus, boolean][] = [
    ["Complete", "True", true],
    ["Failed", "True", true],
    ["Complete", "False", false],
    ["Failed", "Unknown", false],
    ["SuccessCriteriaMet", "True", false],
    ["FailureTarget", "True", false],
    ["Suspended", "True", false],
  ];
  test.each(cases)("%s=%s -> %s", (type, status, want) => {
    expect(isFinished(jobWith({ type, status }))).toBe(want);
  });

  test("a later True entry of the same type counts", () => {
    const job = jobWith({ type: "Failed", status: "False" }, { type: "Failed", status: "True" });
    expect(isFailed(job)).toBe(true);
    expect(isComplete(job)).toBe(false);
  });

  test("a Job without status is not finished", () => {
    expect(isFinished({ metadata: {}, spec: { template: { spec: { containers: [] } } } })).toBe(false);
  });
});

describe("condition update rule (SU-9)", () => {
  const now = "2026-01-01T00:00:00Z";
  const suspended = { type: "Suspended", reason: "JobSuspended", message: "Job suspended" } as const;
  const other: JobCondition = { type: "Custom", status: "True" };
  const before: JobCondition = { ...suspended, status: "True", lastProbeTime: "x", lastTransitionTime: "x" };

  test("appends True with both timestamps (CD-3)", () => {
    const change = { ...suspended, status: "True" } as const;
    expect(withCondition([other], change, now)).toEqual([other, newCondition(change, now)]);
    expect(newCondition(change, now)).toMatchObject({ lastProbeTime: now, lastTransitionTime: now });
  });

  test("never appends False", () => {
    const list = [other];
    expect(withCondition(list, { ...suspended, status: "False" }, now)).toBe(list);
  });

  test("replaces in place when status, reason or message differ", () => {
    for (const change of [
      { ...suspended, status: "False" },
      { ...suspended, status: "True", reason: "R" },
      { ...suspended, status: "True", message: "M" },
    ] as const) {
      expect(withCondition([before, other], change, now)).toEqual([newCondition(change, now), other]);
    }
  });

  test("returns the same list when nothing differs", () => {
    const list = [other, before];
    expect(withCondition(list, { ...suspended, status: "True" }, now)).toBe(list);
    expect(findCondition(list, "Suspended")).toBe(before);
  });
});
