import type { Pod, PodStatus } from "@jobferry/shared/job/types.ts";
import { CLUSTER, MESSAGE, SHADOW_LABEL, WORKER_POD_UID } from "@jobferry/shared/protocol/marks.ts";
import type { ReportedPod } from "@jobferry/shared/protocol/pod-report.ts";
import { describe, expect, it } from "vitest";
import { aCondition, aHubJob, anAssignedJob, anAssignment, EAST, epochOf, phases, UID } from "../testing/hub-job.ts";
import { decideShadows, type ShadowFacts, type ShadowWrite } from "./decide.ts";
import { newShadow } from "./projection.ts";
import type { ReportedPods } from "./reported.ts";

const NOW = Date.parse("2026-01-02T00:00:00Z");
const NOTHING = { cpu: "0", memory: "0", "ephemeral-storage": "0" };
const RUNNING: PodStatus = { phase: "Running" };
const SUCCEEDED: PodStatus = { phase: "Succeeded" };
const FAILED: PodStatus = { phase: "Failed" };
const READY = { type: "PodReadyToStartContainers", status: "False" as const };

const aPod = (uid: string, status: PodStatus = RUNNING, more: Partial<ReportedPod> = {}): ReportedPod => ({
  name: `pi-${uid}`,
  uid,
  status,
  ...more,
});

const report = (pods: ReportedPod[], more: Partial<ReportedPods> = {}): ReportedPods => ({
  cluster: EAST,
  epoch: epochOf(2),
  seq: 1,
  pods,
  more: false,
  gone: false,
  ...more,
});

const job = anAssignedJob();

/** As the hub has it. */
function aShadow(of: ReportedPod | undefined, { status, metadata }: Partial<Pod> = {}, epoch = 2): Pod {
  const binding = of && { cluster: EAST, epoch: epochOf(epoch), pod: of };
  const shadow = newShadow(job, { key: of?.uid ?? "2/0", index: of?.index, binding });
  return {
    ...shadow,
    metadata: { ...shadow.metadata, uid: `shadow-of-${of?.uid}`, ...metadata },
    status: status ?? of?.status ?? { phase: "Pending" },
  };
}

const deleted = { deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 };

function decided(facts: Partial<ShadowFacts>, of = job): string[] {
  const phase = phases.of(of);
  return decideShadows(of, {
    ...{ phase, cap: 100, shadows: [], report: undefined, isLost: false, mayBeEarly: true, now: NOW, since: 0 },
    sawDeletion: () => false,
    wasRemoved: () => false,
    ...facts,
  }).map(inWords);
}

function inWords(write: ShadowWrite): string {
  if (write.write === "create") return `create for ${write.pod.metadata.annotations?.[WORKER_POD_UID] ?? "nobody"}`;
  const uid = write.shadow.metadata.annotations?.[WORKER_POD_UID] ?? "nobody";
  if (write.write === "status")
    return `show ${write.annotations[WORKER_POD_UID] ?? uid} ${write.status.reason ?? write.status.phase}`;
  return `${write.write} ${uid}`;
}

const a = aPod("a");
const b = aPod("b");

describe("before there are pods", () => {
  const waiting = (more: Parameters<typeof aHubJob>[0] = {}) => aHubJob(more);
  it.each([
    ["one for a Job of one pod", waiting(), {}, ["create for nobody"]],
    [
      "as many as run at a time",
      waiting({ spec: { parallelism: 3, completions: 9 } }),
      {},
      Array(3).fill("create for nobody"),
    ],
    [
      "no more than are left to do",
      waiting({ spec: { parallelism: 3, completions: 9 }, status: { succeeded: 8 } }),
      {},
      ["create for nobody"],
    ],
    [
      "no more than may be shown",
      waiting({ spec: { parallelism: 30, completions: 90 } }),
      { cap: 2 },
      Array(2).fill("create for nobody"),
    ],
    ["none in a flood", waiting(), { mayBeEarly: false }, []],
    ["none for a suspended Job", waiting({ spec: { suspend: true } }), {}, []],
    ["none that is there already", waiting(), { shadows: [aShadow(undefined)] }, []],
    ["none for a Job that does not want any", waiting(), { cap: 0, shadows: [aShadow(undefined)] }, ["remove nobody"]],
    [
      "those that a suspended Job has go",
      waiting({ spec: { suspend: true } }),
      { shadows: [aShadow(undefined)] },
      ["remove nobody"],
    ],
    [
      "they say why the Job waits",
      waiting({ metadata: { annotations: { [MESSAGE]: "no room" } } }),
      { shadows: [aShadow(undefined)] },
      ["show nobody Pending"],
    ],
    [
      "one of another cluster goes when the Job waits again",
      waiting(),
      { shadows: [aShadow(a)] },
      ["remove a", "create for nobody"],
    ],
  ])("%s", (_, of, facts, expected) => {
    expect(decided(facts, of)).toEqual(expected);
  });

  it("an index that is done is passed over", () => {
    const of = waiting({
      spec: { completionMode: "Indexed", parallelism: 2, completions: 4 },
      status: { succeeded: 2, completedIndexes: "0,2" },
    });
    const writes = decideShadows(of, {
      ...{
        phase: phases.of(of),
        cap: 100,
        shadows: [],
        report: undefined,
        isLost: false,
        mayBeEarly: true,
        now: NOW,
        since: 0,
      },
      sawDeletion: () => false,
      wasRemoved: () => false,
    });
    const names = writes.map((write) => (write.write === "create" ? write.pod.metadata.name : ""));
    expect(names).toEqual([expect.stringMatching(/^pi-1-/), expect.stringMatching(/^pi-3-/)]);
  });
});

describe("of pods that were reported", () => {
  const finished = anAssignedJob({ status: { conditions: [aCondition("Complete")] } });
  it.each([
    ["an early shadow becomes one's", { report: report([a]), shadows: [aShadow(undefined)] }, ["show a Running"]],
    ["one without a shadow gets one", { report: report([a, b]), shadows: [aShadow(a)] }, ["create for b"]],
    ["what is shown already is left alone", { report: report([a]), shadows: [aShadow(a)] }, []],
    ["what has changed is shown", { report: report([aPod("a", FAILED)]), shadows: [aShadow(a)] }, ["show a Failed"]],
    [
      "a condition is shown, but not of a pod that has ended",
      {
        report: report([aPod("a", { ...RUNNING, conditions: [READY] }), aPod("b", { ...FAILED, conditions: [READY] })]),
        shadows: [aShadow(a), aShadow(aPod("b", FAILED))],
      },
      ["show a Running"],
    ],
    ["an end is not taken back", { report: report([a]), shadows: [aShadow(a, { status: FAILED })] }, []],
    ["what is gone there goes here", { report: report([b]), shadows: [aShadow(a), aShadow(b)] }, ["remove a"]],
    [
      "what was not told for lack of room stays",
      { report: report([b], { more: true }), shadows: [aShadow(a), aShadow(b)] },
      [],
    ],
    ["of another epoch goes", { report: report([b]), shadows: [aShadow(a, {}, 1), aShadow(b)] }, ["remove a"]],
    ["an older report says nothing", { report: report([], { epoch: epochOf(1) }), shadows: [aShadow(a)] }, []],
    ["a lost cluster's say so", { report: report([a]), shadows: [aShadow(a)], isLost: true }, ["show a NodeLost"]],
    [
      "a lost cluster's that have ended do not",
      { report: report([aPod("a", SUCCEEDED)]), shadows: [aShadow(aPod("a", SUCCEEDED))], isLost: true },
      [],
    ],
    ["no more are shown than may be", { report: report([a, b]), shadows: [aShadow(a)], cap: 1 }, []],
    [
      "a failed one takes the place of one that succeeded",
      { report: report([aPod("b", FAILED)], { more: true }), shadows: [aShadow(aPod("a", SUCCEEDED))], cap: 1 },
      ["remove a", "create for b"],
    ],
    [
      "one whose shadow somebody removed stays away",
      { report: report([aPod("a", SUCCEEDED)]), wasRemoved: () => true },
      [],
    ],
    [
      "an early shadow for which there is no pod any more goes",
      { report: report([a]), shadows: [aShadow(undefined), aShadow(a)] },
      ["remove nobody"],
    ],
  ])("%s", (_, facts, expected) => {
    expect(decided(facts)).toEqual(expected);
  });

  it.each([
    [
      "with its mirror gone, one that has ended stays",
      { report: report([], { gone: true }), shadows: [aShadow(aPod("a", FAILED))] },
      [],
    ],
    [
      "with its mirror gone, one that ran goes",
      { report: report([], { gone: true }), shadows: [aShadow(a)] },
      ["remove a"],
    ],
    ["one that ran goes when nobody has told of its pod for a while", { shadows: [aShadow(a)] }, ["remove a"]],
    ["one that has ended stays, whoever tells of it", { shadows: [aShadow(aPod("a", FAILED))] }, []],
    [
      "one that ran stays while a manager that has just begun may hear of it",
      { shadows: [aShadow(a)], since: NOW },
      [],
    ],
    ["one that was never needed goes", { shadows: [aShadow(undefined)] }, ["remove nobody"]],
    [
      "one whose pod is yet to be told of stays for a while",
      { shadows: [aShadow(undefined)], now: Date.parse("2026-01-01T00:00:30Z") },
      [],
    ],
  ])("of a finished Job: %s", (_, facts, expected) => {
    expect(decided(facts, finished)).toEqual(expected);
  });
});

describe("a shadow that was deleted", () => {
  const leaving = aShadow(a, { metadata: { ...aShadow(a).metadata, ...deleted } });
  const evicted: Pod = {
    ...leaving,
    status: { ...RUNNING, conditions: [{ type: "DisruptionTarget", status: "True" }] },
  };
  const saw = { sawDeletion: () => true };
  it.each([
    ["has its pod deleted, if we saw it", { report: report([a]), shadows: [leaving], ...saw }, ["delete-on-worker a"]],
    [
      "waits for a pod that is leaving",
      { report: report([aPod("a", RUNNING, { leaving: true })]), shadows: [leaving], ...saw },
      [],
    ],
    ["goes when its pod has", { report: report([]), shadows: [leaving], ...saw }, ["remove a"]],
    [
      "is removed and made again, if nobody saw it",
      { report: report([a]), shadows: [leaving] },
      ["remove a", "create for a"],
    ],
    [
      "is made again, if it was evicted",
      { report: report([a]), shadows: [evicted], ...saw },
      ["remove a", "create for a"],
    ],
    [
      "goes at once, if it stood for nothing",
      {
        shadows: [aShadow(undefined, { metadata: { ...aShadow(undefined).metadata, ...deleted } })],
        mayBeEarly: false,
      },
      ["remove nobody"],
    ],
  ])("%s", (_, facts, expected) => {
    expect(decided(facts)).toEqual(expected);
  });

  it("with its Job waits for its pod, and goes when the Job is let go", () => {
    const going = anAssignedJob({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
    expect(decided({ report: report([a]), shadows: [leaving], ...saw }, going)).toEqual([]);
    expect(decided({ report: report([]), shadows: [leaving], ...saw }, going)).toEqual(["remove a"]);
    const gone = anAssignedJob({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [] } });
    expect(decided({ shadows: [leaving, aShadow(b)] }, gone)).toEqual(["remove a"]);
  });
});

it("a shadow has what clients look for, and nothing that a controller of the hub could act on", () => {
  const template = {
    metadata: { labels: { app: "x", "job-name": "pi" } },
    spec: {
      restartPolicy: "Never",
      serviceAccountName: "robot",
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
      containers: [
        {
          name: "main",
          image: "busybox",
          env: [{ name: "TOKEN", value: "secret" }],
          volumeMounts: [{ name: "data", mountPath: "/data" }],
          resources: { requests: { cpu: "2" } },
        },
      ],
    },
  };
  const binding = { cluster: EAST, epoch: anAssignment().epoch, pod: a };
  const of = { ...job, spec: { ...job.spec, template } };
  const { metadata, spec } = newShadow(of, { key: "a", binding });
  expect(metadata.labels).toEqual({ app: "x", "job-name": "pi", [SHADOW_LABEL]: UID, [CLUSTER]: "east" });
  expect(metadata.ownerReferences).toEqual([expect.objectContaining({ uid: UID, controller: true })]);
  expect(metadata.annotations?.["jobferry.dev/resources"]).toBe('{"main":{"requests":{"cpu":"2"}}}');
  expect(spec).toMatchObject({ nodeName: "jobferry", tolerations: [{ operator: "Exists" }] });
  expect(spec.containers).toEqual([
    expect.objectContaining({ env: [{ name: "TOKEN" }], resources: { requests: NOTHING, limits: NOTHING } }),
  ]);
  expect(Object.keys(spec)).not.toEqual(expect.arrayContaining(["volumes"]));
  expect(JSON.stringify(spec)).not.toMatch(/secret|robot|data/);
  expect(newShadow(of, { key: "a", binding }).metadata.name).toBe(metadata.name);
});

it("a template that says which pod its shadow stands for is not believed", () => {
  const annotations = { [WORKER_POD_UID]: "somebody", "jobferry.dev/epoch": "2", mine: "kept" };
  const labels = { [CLUSTER]: "west", [SHADOW_LABEL]: "other", app: "x" };
  const template = { ...job.spec.template, metadata: { labels, annotations } };
  const { metadata } = newShadow({ ...job, spec: { ...job.spec, template } }, { key: "a" });
  expect(metadata.annotations).toEqual({ mine: "kept" });
  expect(metadata.labels).toEqual({ app: "x", [SHADOW_LABEL]: UID });
});

it.each([
  ["a".repeat(63), /^a{57}-[a-z0-9]{5}$/],
  [`${"a".repeat(56)}.${"b".repeat(6)}`, /^a{56}-[a-z0-9]{5}$/],
  ["v1.2", /^v1\.2-[a-z0-9]{5}$/],
])("a Job called %s has shadows with a name that an API server takes", (name, expected) => {
  const named = { ...job, metadata: { ...job.metadata, name } };
  expect(newShadow(named, { key: "a" }).metadata.name).toMatch(expected);
});

it("a pod of another namespace that claims to be the Job's shadow is left alone", () => {
  const foreign = aShadow(aPod("a"), { metadata: { namespace: "other" } });
  expect(decided({ shadows: [foreign], cap: 0 })).toEqual([]);
  expect(decided({ shadows: [foreign], report: report([aPod("a")]) })).toEqual(["create for a"]);
});
