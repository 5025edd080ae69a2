import type { Job } from "@jobferry/shared/job/types.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { ASSIGNED_QUEUE, CLUSTER, EPOCH, GRANT, SEQ, STOP_AFTER } from "@jobferry/shared/protocol/marks.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  aCondition,
  aHubJob,
  anAssignedJob,
  anAssignment,
  epochOf,
  marksOf,
  phases,
  WEST,
} from "../testing/hub-job.ts";
import { Grants } from "./grants.ts";
import { formatSeq, Phases, propagationOf } from "./phase.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";
const complete = { conditions: [aCondition("Complete")] };

describe("phaseOf", () => {
  it.each<[string, Job, string]>([
    ["no managedBy", aHubJob({ spec: { managedBy: undefined as unknown as string } }), "foreign"],
    ["a managedBy with a typo", aHubJob({ spec: { managedBy: "jobferry.dev/manger" } }), "foreign"],
    ["a mirror's managedBy", aHubJob({ spec: { managedBy: "jobferry.dev/worker-agent" } }), "foreign"],
    ["new", aHubJob(), "waiting"],
    ["new and suspended", aHubJob({ spec: { suspend: true } }), "suspended"],
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
    ["handed over", aHubJob({ metadata: { annotations: marksOf(anAssignment(3), true) } }), "waiting"],
    ["a scribbled epoch", anAssignedJob({ metadata: { annotations: { [EPOCH]: "two" } } }), "waiting"],
    ["a scribbled cluster", anAssignedJob({ metadata: { annotations: { [CLUSTER]: "../x" } } }), "waiting"],
  ])("%s", (_, job, phase) => {
    expect(phases.of(job).phase).toBe(phase);
  });

  it("finds some phase for whatever stands in the annotations", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(CLUSTER, EPOCH, SEQ), fc.string()), (annotations) => {
        const job = aHubJob({ metadata: { annotations } });
        expect(phases.of(job).phase).toBe("waiting");
        expect(phases.storedSeq(job)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("an assignment that is not the manager's", () => {
  const stopping = { ...anAssignment(), stopAfterSeconds: 600 };
  const changed = (over: Record<string, string>, of = anAssignment()): Job =>
    aHubJob({ metadata: { annotations: { ...marksOf(of), ...over } } });

  it.each<[string, Job]>([
    ["made up whole", aHubJob({ metadata: { annotations: { [CLUSTER]: "east", [EPOCH]: "1" } } })],
    ["with another cluster", changed({ [CLUSTER]: WEST })],
    ["with another epoch", changed({ [EPOCH]: "9" })],
    ["with another queue", changed({ [ASSIGNED_QUEUE]: "payments" })],
    ["with another time to stop", changed({ [STOP_AFTER]: "601" }, stopping)],
    ["copied from another Job", changed({ [GRANT]: marksOf(anAssignment(5))[GRANT] ?? "" })],
    ["with a grant that is not one", changed({ [GRANT]: "!" })],
  ])("does not count: %s", (_, job) => {
    expect(phases.of(job)).toMatchObject({ phase: "waiting", forged: {} });
    expect(phases.nextEpoch(job)).toBe(Number(job.metadata.annotations?.[EPOCH]) + 1);
  });

  it("does not count: on another Job", () => {
    const job = anAssignedJob({ metadata: { uid: "0b7c1a2e-0000-4000-8000-000000000002" } });
    expect(phases.of(job)).toMatchObject({ phase: "waiting", forged: { cluster: "east" } });
  });

  it.each(["2147483647", "-5", "x", "1e9", ""])("an epoch that no Job reaches does not count: %j", (epoch) => {
    expect(phases.nextEpoch(aHubJob({ metadata: { annotations: { [EPOCH]: epoch } } }))).toBe(1);
  });

  it("counts under an old key while keys are changed", () => {
    const [old, next] = [generateKeyPair().privateKey, generateKeyPair().privateKey];
    const before = new Phases(new Grants([old]));
    const job = aHubJob();
    const marks = before.annotationsOf(job, anAssignment(), false);
    const annotations = Object.fromEntries(Object.entries(marks).filter(([, value]) => value !== null));
    const assigned = aHubJob({ metadata: { annotations: annotations as Record<string, string> } });
    const both = new Phases(new Grants([next, old]));
    expect([both.of(assigned).phase, both.needsGrant(assigned), before.needsGrant(assigned)]).toEqual([
      "assigned",
      true,
      false,
    ]);
    expect(new Phases(new Grants([next])).of(assigned).phase).toBe("waiting");
  });
});

describe("epochs", () => {
  it("start with 1 and grow, assigned or not", () => {
    expect(phases.nextEpoch(aHubJob())).toBe(1);
    expect(phases.nextEpoch(anAssignedJob())).toBe(3);
    expect(phases.nextEpoch(aHubJob({ metadata: { annotations: marksOf(anAssignment(3), true) } }))).toBe(4);
    expect(phases.assignmentOf(anAssignedJob())).toEqual(anAssignment());
  });

  it("is above what a worker was heard to have, unless that is a lie that would use the numbers up", () => {
    const restored = new Phases(new Grants([generateKeyPair().privateKey]));
    const job = aHubJob();
    for (const [epoch, next] of [
      [7, 8],
      [5, 8],
      [20_000, 8],
    ] as const) {
      restored.saw(job, epochOf(epoch));
      expect(restored.nextEpoch(job)).toBe(next);
    }
  });

  it("storedSeq counts only reports of the present epoch", () => {
    const at = (seq: string) => phases.storedSeq(anAssignedJob({ metadata: { annotations: { [SEQ]: seq } } }));
    expect(at(formatSeq(epochOf(2), 41))).toBe(41);
    expect(at(formatSeq(epochOf(1), 41))).toBe(0);
  });

  it("storedSeq does not count a number that the cluster cannot have reached", () => {
    const stored = anAssignedJob({ metadata: { annotations: { [SEQ]: formatSeq(epochOf(2), 41, "one") } } });
    expect(phases.storedSeq(stored, "one", 41)).toBe(41);
    expect(phases.storedSeq(stored, "one", 40)).toBe(0);
  });

  it("storedSeq counts only reports of the cluster that speaks now", () => {
    const at = (seq: string, origin?: string) =>
      phases.storedSeq(anAssignedJob({ metadata: { annotations: { [SEQ]: seq } } }), origin);
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
