import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { expect, it } from "vitest";
import { FailedStarts } from "./failed-starts.ts";
import type { Refusal } from "./refusal.ts";

const quota = 'Error creating: pods "j-x" is forbidden: exceeded quota: none';
const aMirror = (status: JobStatus = {}, uid = "m"): Job => ({
  metadata: { uid },
  spec: { template: { spec: { containers: [] } } },
  status,
});
const notes = (starts: FailedStarts, ...mirrors: Job[]): (Refusal | undefined)[] =>
  mirrors.map((mirror) => starts.note(mirror, quota, 1));

it("is a refusal after four tries without success, each mirror by itself", () => {
  const starts = new FailedStarts();
  expect(notes(starts, aMirror(), aMirror({}, "other"), aMirror(), aMirror())).toEqual(Array(4).fill(undefined));
  expect(starts.note(aMirror(), quota, 1)).toEqual({ reason: "QuotaExceeded", message: quota });
  expect(starts.note(aMirror({}, "other"), quota, 3)).toMatchObject({ reason: "QuotaExceeded" });
});

it.each<[string, JobStatus]>([
  ["a pod that runs", { active: 1 }],
  ["a pod on its way out", { terminating: 1 }],
  ["an end", { conditions: [{ type: "Failed", status: "True" }] }],
])("begins anew after %s", (_, status) => {
  const starts = new FailedStarts();
  notes(starts, aMirror(), aMirror(), aMirror());
  expect(notes(starts, aMirror(status), aMirror())).toEqual([undefined, undefined]);
});

it("leaves alone what is not a refusal", () => {
  expect(new FailedStarts().note(aMirror(), "Error creating: etcdserver: request timed out", 100)).toBeUndefined();
});
