import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { CLUSTER, EPOCH, LEAVING, MESSAGE, STOP_AFTER } from "@jobferry/shared/protocol/marks.ts";
import { describe, expect, it } from "vitest";
import { leavingOf } from "../hub/leaving.ts";
import type { StatusReport } from "../reports/accept.ts";
import type { Answer } from "../reports/inbox.ts";
import {
  aCondition,
  aHubJob,
  anAssignedJob,
  anAssignment,
  EAST,
  epochOf,
  marksOf,
  phases,
  UID,
  WEST,
} from "../testing/hub-job.ts";
import { decide, type Step } from "./decide.ts";
import type { ClusterFacts, Facts } from "./facts.ts";

const now = Date.parse("2026-01-02T00:00:00Z");
const options = { now, deletionBoundMs: 60_000 };
const deletionTimestamp = "2026-01-01T00:00:00Z";

const heard: ClusterFacts = {
  isConnected: true,
  isDraining: false,
  isRebuilt: false,
  isLost: false,
  silentMs: 0,
  unheardMs: 0,
};
const away: ClusterFacts = { ...heard, isConnected: false, silentMs: 30_000, unheardMs: 30_000 };
const lost: ClusterFacts = { ...away, isLost: true, silentMs: 900_000, unheardMs: 900_000 };

const factsOf = (job: Job, over: Partial<Facts> = {}): Facts => ({
  phase: phases.of(job),
  pending: {},
  cluster: heard,
  policy: "Redispatch",
  nextEpoch: phases.nextEpoch(job),
  storedSeq: phases.storedSeq(job),
  needsGrant: false,
  ...over,
});
const step = (job: Job, over: Partial<Facts> = {}): Step => decide(job, factsOf(job, over), options);

const running: JobStatus = {
  startTime: "2026-01-01T00:00:00Z",
  active: 1,
  ready: 0,
  terminating: 0,
  uncountedTerminatedPods: {},
};
const report = (over: Partial<StatusReport> = {}): StatusReport => ({
  cluster: EAST,
  epoch: epochOf(2),
  seq: 10,
  status: running,
  ...over,
});
const answer = (kind: "withdrawn", over: Partial<Answer> = {}): Answer =>
  ({ kind, uid: UID, epoch: epochOf(2), cluster: EAST, ...over }) as Answer;
const refused = {
  kind: "refused",
  uid: UID,
  epoch: epochOf(2),
  cluster: EAST,
  reason: "NameTaken",
  message: "no",
} as const;
const newer = (has: number): Answer => ({
  kind: "newer",
  uid: UID,
  epoch: epochOf(2),
  cluster: EAST,
  has: epochOf(has),
});

const deleted = anAssignedJob({ metadata: { deletionTimestamp } });
const stopping = { ...anAssignment(), stopAfterSeconds: 600 };
const stoppingJob = aHubJob({ metadata: { annotations: marksOf(stopping) } });

describe("a Job whose pods find no node", () => {
  const stuck = { cluster: EAST, epoch: epochOf(2), ms: 300_000, text: "0/3 nodes are available" };
  const pending = { stuck };
  const stays = "no node of east takes its pods, and no other cluster can take the Job now: 0/3 nodes are available";
  const told = anAssignedJob({ metadata: { annotations: { [MESSAGE]: stays.replace("0/3", "0/2") } } });
  const leavingJob = anAssignedJob({ metadata: { annotations: { [LEAVING]: "2 unschedulable 0/3 nodes" } } });
  const leaving = { kind: "unschedulable", text: "0/3 nodes" } as const;
  const run: Step = { step: "deliver", assignment: anAssignment(), desired: { desired: "run" } };
  const handOver: Step = { step: "deliver", assignment: anAssignment(), desired: { desired: "hand-over" } };
  it.each<[string, Job, Partial<Facts>, Step]>([
    ["stays while it is patient", anAssignedJob(), { pending, isStuck: false }, { step: "drop-stuck", stuck }],
    [
      "is asked back when another cluster can take it",
      anAssignedJob(),
      { pending, isStuck: true, fitsElsewhere: true },
      { step: "ask-back", assignment: anAssignment(), leaving: { kind: "unschedulable", text: stuck.text } },
    ],
    [
      "says so when none can",
      anAssignedJob(),
      { pending, isStuck: true, fitsElsewhere: false },
      { step: "explain", message: stays, never: false, againMs: undefined },
    ],
    [
      "does not say again what differs in its figures",
      told,
      { pending, isStuck: true, fitsElsewhere: false },
      { step: "drop-stuck", stuck },
    ],
    [
      "is not judged by what was said of an earlier epoch",
      anAssignedJob(),
      { pending: { stuck: { ...stuck, epoch: epochOf(1) } }, isStuck: true, fitsElsewhere: true },
      { step: "drop-stuck", stuck: { ...stuck, epoch: epochOf(1) } },
    ],
    ["keeps its word while they wait", told, {}, run],
    [
      "says where it is once they run",
      { ...told, status: { ready: 1 } },
      {},
      { step: "explain", message: "dispatched to east", never: false, againMs: undefined },
    ],
    ["goes on leaving whatever else is said", leavingJob, { leaving }, handOver],
    ["waits with its cluster while that is away", leavingJob, { leaving, cluster: away }, { step: "rest" }],
    [
      "leaves for that reason once its pods are gone",
      leavingJob,
      { leaving, pending: { answer: answer("withdrawn") } },
      { step: "unassign", assignment: anAssignment(), why: leaving },
    ],
  ])("%s", (_, job, over, want) => {
    expect(step(job, over)).toEqual(want);
  });

  it.each([
    ["its epoch", "2 unschedulable a b", { kind: "unschedulable", text: "a b" }],
    ["another epoch", "1 unschedulable a b", undefined],
    ["a kind that nobody knows", "2 bored a b", undefined],
    ["nothing that can be read", "unschedulable", undefined],
  ])("reads its mark of %s", (_, mark, want) => {
    const job = anAssignedJob({ metadata: { annotations: { [LEAVING]: mark } } });
    expect(leavingOf(job, anAssignment())).toEqual(want);
  });
});

describe("a Job that waits", () => {
  it.each<[string, Job, Partial<Facts>, Step]>([
    [
      "is assigned in the next epoch where placement says so",
      aHubJob({ metadata: { annotations: marksOf(anAssignment(3), true) } }),
      { placement: { cluster: WEST, queue: "night" } },
      { step: "assign", assignment: { cluster: WEST, epoch: epochOf(4), queue: "night", admitted: 1 } },
    ],
    [
      "stores when its agent stops it, if it must never run twice",
      aHubJob(),
      { placement: { cluster: WEST, queue: "night", lostAfterMs: 900_000 }, policy: "StopThenRedispatch" },
      {
        step: "assign",
        assignment: { cluster: WEST, epoch: epochOf(1), queue: "night", stopAfterSeconds: 600, admitted: 1 },
      },
    ],
    [
      "says that its epochs are used up",
      aHubJob(),
      { placement: { cluster: WEST, queue: "night" }, nextEpoch: undefined },
      { step: "explain", message: "cannot be placed again: its epochs are used up", never: true, againMs: undefined },
    ],
    [
      "is told why",
      aHubJob(),
      { placement: { reason: "waiting: east: cordoned", never: false, againMs: 7_000 } },
      { step: "explain", message: "waiting: east: cordoned", never: false, againMs: 7_000 },
    ],
    [
      "is not told twice",
      aHubJob({ metadata: { annotations: { [MESSAGE]: "waiting: east: cordoned" } } }),
      { placement: { reason: "waiting: east: cordoned", never: false } },
      { step: "rest", againMs: undefined },
    ],
    [
      "rests while others come first",
      aHubJob(),
      { placement: { notYet: true, againMs: 5 } },
      { step: "rest", againMs: 5 },
    ],
    [
      "is forgotten when it is somebody else's",
      aHubJob({ spec: { managedBy: "example.com/x" } }),
      {},
      { step: "forget" },
    ],
  ])("%s", (_, job, facts, wanted) => {
    expect(step(job, facts)).toEqual(wanted);
  });

  it("loses marks that somebody made up, unless their cluster may be running it for another key of ours", () => {
    const forged = aHubJob({ metadata: { annotations: { [CLUSTER]: EAST, [EPOCH]: "1", [STOP_AFTER]: "5" } } });
    expect(step(forged)).toEqual({ step: "disown" });
    expect(step(forged, { cluster: undefined })).toEqual({ step: "disown" });
    expect(step(forged, { cluster: away })).toEqual({ step: "rest" });
  });

  it("shows that it is suspended, once", () => {
    const job = aHubJob({ spec: { suspend: true } });
    const shown = step(job);
    expect(shown).toMatchObject({ step: "show-suspended" });
    const { status } = shown as { status: JobStatus };
    expect(step({ ...job, status })).toEqual({ step: "rest" });
  });
});

describe("an assigned Job", () => {
  const leaves = (why: object): Step => ({ step: "unassign", assignment: anAssignment(), why }) as Step;

  it.each<[string, Job, Partial<Facts>, Step]>([
    ["is delivered", anAssignedJob(), {}, { step: "deliver", assignment: anAssignment(), desired: { desired: "run" } }],
    [
      "is asked back from a cluster that drains",
      anAssignedJob(),
      { cluster: { ...heard, isDraining: true } },
      { step: "deliver", assignment: anAssignment(), desired: { desired: "hand-over" } },
    ],
    ["waits for an agent that is away", anAssignedJob(), { cluster: away }, { step: "rest" }],
    [
      "waits where the cluster was rebuilt",
      anAssignedJob(),
      { cluster: { ...heard, isRebuilt: true } },
      { step: "rest" },
    ],
    [
      "leaves a cluster that refused it",
      anAssignedJob(),
      { pending: { answer: refused } },
      leaves({ kind: "refused", reason: "NameTaken", text: "NameTaken: no" }),
    ],
    [
      "leaves a cluster that handed it over",
      anAssignedJob(),
      { pending: { answer: answer("withdrawn") } },
      leaves({ kind: "handed-over" }),
    ],
    ["leaves a cluster that was removed", anAssignedJob(), { cluster: undefined }, leaves({ kind: "removed" })],
    ["leaves a lost cluster", anAssignedJob(), { cluster: lost, fitsElsewhere: true }, leaves({ kind: "lost" })],
    [
      "stays on a lost cluster while no other can take it",
      anAssignedJob(),
      { cluster: lost, fitsElsewhere: false },
      {
        step: "explain",
        message: "cluster east is lost, and no other cluster can take the Job now",
        never: false,
        againMs: undefined,
      },
    ],
    [
      "with Wait never leaves a lost cluster",
      anAssignedJob(),
      { cluster: lost, policy: "Wait", fitsElsewhere: true },
      { step: "rest" },
    ],
    [
      "with StopThenRedispatch leaves when its pods must be gone",
      stoppingJob,
      { cluster: lost, policy: "StopThenRedispatch", fitsElsewhere: true },
      { step: "unassign", assignment: stopping, why: { kind: "lost" } },
    ],
    [
      "with StopThenRedispatch stays until then",
      stoppingJob,
      { cluster: { ...lost, silentMs: 650_000 }, policy: "StopThenRedispatch", fitsElsewhere: true },
      { step: "rest" },
    ],
    [
      "that its agent was told to stop waits for that, also when the policy was changed",
      stoppingJob,
      { cluster: { ...lost, silentMs: 650_000 }, policy: "Redispatch", fitsElsewhere: true },
      { step: "rest" },
    ],
    [
      "whose policy became StopThenRedispatch later stays: its agent was never told",
      anAssignedJob(),
      { cluster: lost, policy: "StopThenRedispatch", fitsElsewhere: true },
      { step: "rest" },
    ],
    [
      "is adopted in the later epoch that its agent has: the hub was restored",
      anAssignedJob(),
      { pending: { answer: newer(5) } },
      { step: "adopt", assignment: anAssignment(5), answer: newer(5) },
    ],
    [
      "is granted anew while keys are changed",
      anAssignedJob(),
      { needsGrant: true },
      { step: "grant", assignment: anAssignment() },
    ],
    [
      "is not adopted in an epoch that would use the numbers up",
      anAssignedJob(),
      { pending: { answer: newer(2_000_000_000) } },
      { step: "drop-answer", answer: newer(2_000_000_000) },
    ],
    [
      "ignores the answer of another cluster",
      anAssignedJob(),
      { pending: { answer: answer("withdrawn", { cluster: WEST }) } },
      { step: "drop-answer", answer: answer("withdrawn", { cluster: WEST }) },
    ],
    [
      "ignores the answer of another epoch",
      anAssignedJob(),
      { pending: { answer: answer("withdrawn", { epoch: epochOf(1) }) } },
      { step: "drop-answer", answer: answer("withdrawn", { epoch: epochOf(1) }) },
    ],
  ])("%s", (_, job, facts, wanted) => {
    expect(step(job, facts)).toEqual(wanted);
  });

  it("stores what was reported before anything else is decided", () => {
    const pending = { status: report(), answer: answer("withdrawn") };
    expect(step(anAssignedJob(), { pending, cluster: lost, fitsElsewhere: true })).toEqual({
      step: "store-status",
      report: report(),
      status: running,
      finished: false,
    });
  });

  it("is finished by a terminal report", () => {
    const done: JobStatus = {
      ...running,
      active: 0,
      succeeded: 1,
      completionTime: "2026-01-01T01:00:00Z",
      conditions: [aCondition("SuccessCriteriaMet"), aCondition("Complete")],
    };
    expect(step(anAssignedJob(), { pending: { status: report({ status: done }) } })).toMatchObject({ finished: true });
  });

  it.each<[string, StatusReport, Partial<Facts>, string]>([
    ["drops an old report", report(), { storedSeq: 10 }, "drop-report"],
    ["drops another cluster's report", report({ cluster: WEST }), {}, "drop-report"],
    ["refuses an impossible status", report({ status: { ...running, succeeded: -1 } }), {}, "refuse-status"],
  ])("%s", (_, status, over, wanted) => {
    expect(step(anAssignedJob(), { pending: { status }, ...over }).step).toBe(wanted);
  });
});

describe("a Job that is being deleted", () => {
  const desired = { desired: "delete", propagationPolicy: "Foreground" } as const;

  it.each<[string, Partial<Facts>, Step]>([
    ["has its mirror deleted first", {}, { step: "deliver", assignment: anAssignment(), desired, againMs: 15_000 }],
    ["goes when the mirror is gone", { pending: { answer: answer("withdrawn") } }, { step: "let-go" }],
    ["goes when the cluster refused it", { pending: { answer: refused } }, { step: "let-go" }],
    ["goes when its cluster was removed", { cluster: undefined }, { step: "let-go" }],
    ["waits a while for a cluster that is away", { cluster: away }, { step: "rest", againMs: 1_000 }],
    ["goes when that takes too long", { cluster: { ...away, unheardMs: 60_000 } }, { step: "let-go" }],
    [
      "stores a last status first",
      { pending: { status: report() } },
      { step: "store-status", report: report(), status: running, finished: false },
    ],
  ])("%s", (_, facts, wanted) => {
    expect(step(deleted, facts)).toEqual(wanted);
  });
});

it("a finished Job keeps nothing of ours but its marks, and is never started again", () => {
  const finished = anAssignedJob({ status: { conditions: [aCondition("Complete")] } });
  for (const cluster of [heard, lost, undefined])
    expect(step(finished, { cluster, pending: { answer: answer("withdrawn") } })).toEqual({
      step: "finish",
      dropFinalizer: true,
    });
});
