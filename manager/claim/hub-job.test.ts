import type { Job } from "@jobferry/shared/job/types.ts";
import { CLUSTER, EPOCH, SEQ } from "@jobferry/shared/protocol/marks.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aCondition, aHubJob, anAssignedJob, EAST, epochOf } from "../testing/hub-job.ts";
import { assignmentOf, formatSeq, mirroredSeq, nextEpoch, phaseOf, propagationOf } from "./hub-job.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";
const complete = { conditions: [aCondition("Complete")] };

describe("phaseOf", () => {
  it.each<[string, Job, string]>([
    ["no managedBy", aHubJob({ spec: { managedBy: undefined as unknown as string } }), "foreign"],
    ["a managedBy with a typo", aHubJob({ spec: { managedBy: "jobferry.dev/manger" } }), "foreign"],
    ["a mirror's managedBy", aHubJob({ spec: { managedBy: "jobferry.dev/worker-agent" } }), "foreign"],
    ["new", aHubJob(), "waiting"],
    ["new and suspended", aHubJob({ spec: { suspend: true } }), "held"],
    ["assigned", anAssignedJob(), "assigned"],
    ["assigned and suspended", anAssignedJob({ spec: { suspend: true } }), "assigned"],
    ["complete", anAssignedJob({ status: complete }), "finished"],
    ["complete and never assigned", aHubJob({ status: complete }), "finished"],
    ["about to be complete", anAssignedJob({ status: { conditions: [aCondition("SuccessCriteriaMet")] } }), "assigned"],
    ["deleted while assigned", anAssignedJob({ metadata: { deletionTimestamp } }), "deleting"],
    [
      "finished and deleted, still held",
      anAssignedJob({ status: complete, metadata: { deletionTimestamp } }),
      "deleting",
    ],
    ["deleted while it waited", aHubJob({ metadata: { deletionTimestamp } }), "foreign"],
    ["handed over", aHubJob({ metadata: { annotations: { [EPOCH]: "3" } } }), "waiting"],
    ["a scribbled epoch", anAssignedJob({ metadata: { annotations: { [EPOCH]: "two" } } }), "waiting"],
    ["a scribbled cluster", anAssignedJob({ metadata: { annotations: { [CLUSTER]: "../x" } } }), "waiting"],
  ])("%s", (_, job, phase) => {
    expect(phaseOf(job).phase).toBe(phase);
  });

  it("finds some phase for whatever stands in the annotations", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(CLUSTER, EPOCH, SEQ), fc.string()), (annotations) => {
        const job = aHubJob({ metadata: { annotations } });
        expect(["waiting", "assigned"]).toContain(phaseOf(job).phase);
        expect(mirroredSeq(job)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("epochs", () => {
  it("begin with 1 and grow, assigned or not", () => {
    expect(nextEpoch(aHubJob())).toBe(1);
    expect(nextEpoch(anAssignedJob())).toBe(3);
    expect(nextEpoch(aHubJob({ metadata: { annotations: { [EPOCH]: "3" } } }))).toBe(4);
    expect(assignmentOf(anAssignedJob())).toEqual({ cluster: EAST, epoch: 2 });
  });

  it("mirroredSeq counts only reports of the present epoch", () => {
    const at = (seq: string) => mirroredSeq(anAssignedJob({ metadata: { annotations: { [SEQ]: seq } } }));
    expect(at(formatSeq(epochOf(2), 41))).toBe(41);
    expect(at(formatSeq(epochOf(1), 41))).toBe(0);
  });

  it("mirroredSeq does not count a number that the cluster cannot have reached", () => {
    const stored = anAssignedJob({ metadata: { annotations: { [SEQ]: formatSeq(epochOf(2), 41, "one") } } });
    expect(mirroredSeq(stored, "one", 41)).toBe(41);
    expect(mirroredSeq(stored, "one", 40)).toBe(0);
  });

  it("mirroredSeq counts only reports of the cluster that speaks now", () => {
    const at = (seq: string, origin?: string) =>
      mirroredSeq(anAssignedJob({ metadata: { annotations: { [SEQ]: seq } } }), origin);
    expect(at(formatSeq(epochOf(2), 41, "one"), "one")).toBe(41);
    expect(at(formatSeq(epochOf(2), 41, "one"), "other")).toBe(0);
    expect(at(formatSeq(epochOf(2), 41), "one")).toBe(41);
    expect(at(formatSeq(epochOf(2), 41, "one"))).toBe(41);
    expect([at(""), at("2"), at("2:x"), at("2:-1")]).toEqual([0, 0, 0, 0]);
  });
});

it("OR-7 the way of deletion is read off the finalizers", () => {
  expect(propagationOf(anAssignedJob({ metadata: { finalizers: ["orphan"] } }))).toBe("Orphan");
  expect(propagationOf(anAssignedJob({ metadata: { finalizers: ["foregroundDeletion"] } }))).toBe("Foreground");
  expect(propagationOf(anAssignedJob())).toBe("Foreground");
});
