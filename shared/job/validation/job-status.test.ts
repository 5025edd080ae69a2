import { describe, expect, test } from "vitest";
import type { Job, JobSpec, JobStatus } from "../types.ts";
import { validateJobStatusUpdate } from "./job-status.ts";

const T0 = "2026-01-01T00:00:00Z";
const T1 = "2026-01-01T00:05:00Z";

const job = (spec: Partial<JobSpec>, status: JobStatus): Job => ({
  metadata: { name: "pi", namespace: "default", uid: "u1", resourceVersion: "1" },
  spec: {
    completionMode: "NonIndexed",
    completions: 3,
    parallelism: 1,
    template: { spec: { containers: [] } },
    ...spec,
  },
  status,
});

const is = (...types: string[]): Pick<JobStatus, "conditions"> => ({
  conditions: types.map((type) => ({ type, status: "True" })),
});

const complete: JobStatus = { startTime: T0, completionTime: T1, ...is("SuccessCriteriaMet", "Complete") };
const failed: JobStatus = { startTime: T0, ...is("FailureTarget", "Failed") };
const indexed: Partial<JobSpec> = { completionMode: "Indexed", completions: 3, parallelism: 1 };
const perIndex: Partial<JobSpec> = { ...indexed, backoffLimitPerIndex: 1 };
const uncounted = (succeeded: string[], podsFailed: string[]): JobStatus => ({
  uncountedTerminatedPods: { succeeded, failed: podsFailed },
});

interface Case {
  id: string;
  spec?: Partial<JobSpec>;
  before?: JobStatus;
  after: JobStatus;
  want?: string[];
}

const errorsOf = ({ spec = {}, before = {}, after }: Case): string[] =>
  validateJobStatusUpdate(job(spec, before), job(spec, after)).map(({ field, kind }) => `${field} ${kind}`);

const CONDITIONS = "status.conditions Invalid";

describe("rejected transitions (section 29)", () => {
  const cases: Case[] = [
    { id: "VS-2", after: { active: -1 }, want: ["status.active Invalid"] },
    { id: "VS-3", after: { succeeded: -1 }, want: ["status.succeeded Invalid", "status.succeeded Invalid"] },
    { id: "VS-4", after: { failed: -1 }, want: ["status.failed Invalid", "status.failed Invalid"] },
    { id: "VS-5", after: { ready: -1 }, want: ["status.ready Invalid"] },
    { id: "VS-6", after: { terminating: -1 }, want: ["status.terminating Invalid"] },
    { id: "VS-7", after: uncounted([""], []), want: ["status.uncountedTerminatedPods.succeeded[0] Invalid"] },
    { id: "VS-8", after: uncounted(["a", "a"], []), want: ["status.uncountedTerminatedPods.succeeded[1] Duplicate"] },
    { id: "VS-9", after: uncounted([], [""]), want: ["status.uncountedTerminatedPods.failed[0] Invalid"] },
    { id: "VS-10", after: uncounted(["a"], ["a"]), want: ["status.uncountedTerminatedPods.failed[0] Duplicate"] },
    {
      id: "VS-11",
      before: failed,
      after: { ...failed, ...is("FailureTarget", "Failed", "SuccessCriteriaMet") },
      want: [CONDITIONS, CONDITIONS],
    },
    { id: "VS-12", after: is("SuccessCriteriaMet", "FailureTarget"), want: [CONDITIONS] },
    {
      id: "VS-13",
      spec: { ...indexed, successPolicy: { rules: [] } },
      before: { ...complete, ...is("Complete") },
      after: { ...complete, ...is("Complete") },
      want: [CONDITIONS],
    },
    { id: "VS-14", before: is("SuccessCriteriaMet"), after: {}, want: [CONDITIONS] },
    { id: "VS-15", before: { ...complete, ...is("Complete") }, after: complete, want: [CONDITIONS] },
    { id: "VS-16", spec: indexed, after: { completedIndexes: "2,1" }, want: ["status.completedIndexes Invalid"] },
    {
      id: "VS-17",
      spec: perIndex,
      after: { completedIndexes: "0,1", failedIndexes: "1" },
      want: ["status.failedIndexes Invalid"],
    },
    { id: "VS-18", spec: perIndex, after: { failedIndexes: "3" }, want: ["status.failedIndexes Invalid"] },
    { id: "VS-19", after: { completedIndexes: "0" }, want: ["status.completedIndexes Invalid"] },
    { id: "VS-20", spec: indexed, after: { failedIndexes: "" }, want: ["status.failedIndexes Invalid"] },
    { id: "VS-21", after: { ...complete, active: 1 }, want: ["status.active Invalid"] },
    { id: "VS-22", after: is("FailureTarget", "Failed"), want: ["status.startTime Required"] },
    { id: "VS-23", after: { ...complete, ...uncounted(["a"], []) }, want: ["status.uncountedTerminatedPods Invalid"] },
    { id: "VS-24", before: { startTime: T0 }, after: { startTime: T1 }, want: ["status.startTime Invalid"] },
    { id: "VS-24", before: { startTime: T0 }, after: {}, want: ["status.startTime Invalid"] },
    { id: "VS-25", after: { ...complete, terminating: 1 }, want: ["status.terminating Invalid"] },
    { id: "VS-26", after: { ...complete, startTime: T1, completionTime: T0 }, want: ["status.completionTime Invalid"] },
    {
      id: "VS-27",
      before: complete,
      after: { ...complete, completionTime: T0 },
      want: ["status.completionTime Invalid"],
    },
    { id: "VS-28", after: { completionTime: T0 }, want: ["status.completionTime Invalid"] },
    {
      id: "VS-29",
      after: { startTime: T0, ...is("SuccessCriteriaMet", "Complete") },
      want: ["status.completionTime Required"],
    },
    {
      id: "VS-48: VS-30, VS-32, VS-33",
      after: { startTime: T0, completionTime: T1, ...is("Complete", "Failed") },
      want: [CONDITIONS, CONDITIONS, CONDITIONS],
    },
    {
      id: "VS-31",
      before: is("FailureTarget"),
      after: { ...complete, ...is("FailureTarget", "Complete") },
      want: [CONDITIONS, CONDITIONS],
    },
    {
      id: "VS-34",
      before: complete,
      after: { ...complete, ...is("SuccessCriteriaMet") },
      want: ["status.completionTime Invalid", CONDITIONS],
    },
    { id: "VS-34", before: failed, after: { startTime: T0 }, want: [CONDITIONS, CONDITIONS] },
    { id: "VS-35", before: { failed: 2 }, after: { failed: 1 }, want: ["status.failed Invalid"] },
    { id: "VS-36", before: { succeeded: 2 }, after: {}, want: ["status.succeeded Invalid"] },
    { id: "VS-37", after: { active: 1, ready: 2 }, want: ["status.ready Invalid"] },
    {
      id: "VS-49",
      spec: perIndex,
      before: { ...failed, ...is("Failed") },
      after: { ...failed, ...is("Failed"), failedIndexes: "0" },
      want: [CONDITIONS],
    },
  ];
  test.each(cases)("$id", (each) => {
    expect(errorsOf(each)).toEqual(each.want);
  });
});

describe("accepted transitions", () => {
  const elastic: Partial<JobSpec> = { ...indexed, parallelism: 3 };
  const suspendedFalse: JobStatus = { startTime: T1, conditions: [{ type: "Suspended", status: "False" }] };
  const cases: Case[] = [
    { id: "VS-42 straight to Complete", after: complete },
    { id: "VS-42 straight to Failed", after: failed },
    {
      id: "VS-22 suspended with zero completions",
      spec: { suspend: true, completions: 0 },
      after: { completionTime: T1, ...is("SuccessCriteriaMet", "Complete") },
    },
    { id: "VS-24 while suspended", spec: { suspend: true }, before: { startTime: T0 }, after: {} },
    { id: "VS-24 resuming", before: { startTime: T0, ...is("Suspended") }, after: suspendedFalse },
    { id: "VS-24 set from null", after: { startTime: T0 } },
    { id: "VS-45", before: { startTime: T0, completionTime: T1 }, after: { startTime: T0 } },
    {
      id: "VS-36 elastic",
      spec: elastic,
      before: { succeeded: 3, completedIndexes: "0-2" },
      after: { succeeded: 1, completedIndexes: "0" },
    },
    { id: "VS-18 failedIndexes", spec: perIndex, after: { failedIndexes: "0-1", completedIndexes: "2" } },
    { id: "VS-41 unknown and repeated conditions", after: is("Other", "Other") },
    { id: "VS-40 interim on a NonIndexed Job", after: is("SuccessCriteriaMet") },
    {
      id: "unrelated change of a broken status",
      before: { ...is("Failed"), active: 3 },
      after: { ...is("Failed"), active: 3, succeeded: 1 },
    },
    {
      id: "VS-37 only when ready or active change",
      before: { active: 1, ready: 2 },
      after: { active: 1, ready: 2, failed: 1 },
    },
    {
      id: "VS-16 only when completedIndexes change",
      spec: indexed,
      before: { completedIndexes: "9" },
      after: { completedIndexes: "9", failed: 1 },
    },
  ];
  test.each(cases)("$id", (each) => {
    expect(errorsOf(each)).toEqual([]);
  });

  test.each<[string, JobStatus]>([
    ["an empty list for none", { uncountedTerminatedPods: { succeeded: ["a"], failed: [] } }],
    ["nothing", { uncountedTerminatedPods: { succeeded: ["a"] } }],
  ])("VS-23 only when uncountedTerminatedPods change; here %s does", (_change, after) => {
    const finished = { ...complete, uncountedTerminatedPods: { succeeded: ["a"] } };
    expect(errorsOf({ id: "", before: finished, after: { ...complete, ...after } })).toEqual([]);
  });

  test.each<[string, JobStatus]>([
    ["another entry", uncounted(["b"], [])],
    ["one more entry", uncounted(["a", "b"], [])],
    ["an entry of the other list", uncounted(["a"], ["b"])],
  ])("VS-23 sees %s in a finished Job", (_change, after) => {
    const finished = { ...complete, ...uncounted(["a"], []) };
    expect(errorsOf({ id: "", before: finished, after: { ...complete, ...after } })).toEqual([
      "status.uncountedTerminatedPods Invalid",
    ]);
  });

  test("SW-9: a fraction of a second is a change", () => {
    const after = { startTime: "2026-01-01T00:00:00.5Z" };
    expect(errorsOf({ id: "", before: { startTime: T0 }, after })).toEqual(["status.startTime Invalid"]);
  });
});
