import type { Job } from "@jobferry/shared/job/types.ts";
import { MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { describe, expect, it } from "vitest";
import { aHubJob, anAssignedJob, anAssignment, phases } from "../testing/hub-job.ts";
import { type Admission, judgeAdmission } from "./admission.ts";
import { decide, type Step } from "./decide.ts";
import type { Facts } from "./facts.ts";

const asking = (parallelism: number, message?: string): Job =>
  anAssignedJob({
    spec: { parallelism },
    metadata: message === undefined ? {} : { annotations: { [MESSAGE]: message } },
  });
const held = "runs with parallelism 2, not 5: no room";

describe("what a Job asks for, beside what it was let in with", () => {
  it.each<[string, Job, number | "changed" | undefined, number | undefined, string | undefined, Admission]>([
    ["the same", asking(2), 2, 2, "no room", { is: "same" }],
    ["less", asking(1), 2, 2, "no room", { is: "other", parallelism: 1 }],
    ["more, and there is room", asking(5), 2, 2, undefined, { is: "other", parallelism: 5 }],
    ["more, and there is none", asking(5), 2, 2, "no room", { is: "held", parallelism: 2, message: held }],
    ["as before again, and its message is of yesterday", asking(2, held), 2, 2, "", { is: "other", parallelism: 2 }],
    ["requests of another kind", asking(2), "changed", 2, undefined, { is: "changed" }],
    ["it was let in by an earlier release", asking(2), undefined, 2, "no room", { is: "same" }],
    [
      "that one, and more than is booked",
      asking(5),
      undefined,
      2,
      "no room",
      {
        is: "held",
        parallelism: 2,
        message: held,
      },
    ],
    ["that one, right after the manager started", asking(5), undefined, undefined, "no room", { is: "same" }],
  ])("%s", (_, job, admitted, booked, room, wanted) => {
    const assignment = admitted === undefined ? {} : { admitted };
    expect(judgeAdmission(job, assignment, { booked, grow: () => room })).toEqual(wanted);
  });
});

describe("what is done about it", () => {
  const cluster = { isConnected: true, isDraining: false, isRebuilt: false, isLost: false, silentMs: 0, unheardMs: 0 };
  const stepOf = (job: Job, over: Partial<Facts>): Step => {
    const common = { pending: {}, cluster, policy: "Redispatch", storedSeq: 0, needsGrant: false } as const;
    const facts: Facts = { ...common, phase: phases.of(job), nextEpoch: phases.nextEpoch(job), ...over };
    return decide(job, facts, { now: 0, deletionBoundMs: 60_000 });
  };
  const run = { desired: "run" } as const;
  const handOver = { desired: "hand-over" } as const;
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const orphaned = anAssignedJob({ metadata: { deletionTimestamp, finalizers: ["jobferry.dev/withdraw", "orphan"] } });
  const admission: Admission = { is: "held", parallelism: 2, message: held };
  const assignment = anAssignment();

  it.each<[string, Job, Partial<Facts>, Step]>([
    [
      "more is stored first",
      asking(5),
      { admission: { is: "other", parallelism: 5 } },
      {
        step: "admit",
        assignment: { ...assignment, admitted: 5 },
      },
    ],
    [
      "a Job that is held is told",
      asking(5),
      { admission },
      {
        step: "explain",
        message: held,
        never: false,
        againMs: undefined,
        held: true,
      },
    ],
    [
      "and goes on with what it had",
      asking(5, held),
      { admission },
      {
        step: "deliver",
        assignment: { ...assignment, admitted: 2 },
        desired: run,
      },
    ],
    [
      "other requests take it off its cluster",
      asking(1),
      { admission: { is: "changed" } },
      {
        step: "deliver",
        assignment,
        desired: handOver,
        but: "requests",
      },
    ],
    [
      "a drain comes first",
      asking(5),
      { admission, cluster: { ...cluster, isDraining: true } },
      {
        step: "deliver",
        assignment,
        desired: handOver,
      },
    ],
    [
      "orphans are deleted",
      orphaned,
      { allowsOrphans: false },
      {
        step: "deliver",
        assignment,
        desired: { desired: "delete", propagationPolicy: "Foreground" },
        againMs: 15_000,
        but: "orphans",
      },
    ],
    [
      "unless its queue allows them",
      orphaned,
      { allowsOrphans: true },
      {
        step: "deliver",
        assignment,
        desired: { desired: "delete", propagationPolicy: "Orphan" },
        againMs: 15_000,
      },
    ],
    [
      "a capped priority is said once",
      aHubJob({ metadata: { annotations: { [MESSAGE]: "waiting: east: away; 9 counts as 5" } } }),
      { placement: { reason: "waiting: east: cordoned", never: false }, priorityNote: "9 counts as 5" },
      { step: "explain", message: "waiting: east: cordoned; 9 counts as 5", never: false, againMs: undefined },
    ],
  ])("%s", (_, job, facts, wanted) => {
    expect(stepOf(job, facts)).toEqual(wanted);
  });
});
