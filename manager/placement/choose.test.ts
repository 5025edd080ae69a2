import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { describe, expect, test } from "vitest";
import { choose, explain } from "./choose.ts";
import type { Candidate, ClusterView, QueueView } from "./eligibility.ts";
import { queueObstacle } from "./eligibility.ts";
import { aShape, needs, aCluster as nodesOf } from "./fit/testing.ts";
import { aCandidate } from "./testing.ts";

const units = (amounts: Record<string, number>) => new Map(Object.entries(amounts));
const everything = () => true;

const aCluster = (text: string, over: Partial<ClusterView> = {}): ClusterView => ({
  name: parseClusterName(text),
  labels: {},
  connected: true,
  notReady: undefined,
  cordoned: false,
  maxJobs: undefined,
  namespaces: undefined,
  running: 0,
  free: units({ cpu: 4000, memory: 2 ** 32, pods: 110 }),
  largestFreeNode: units({ cpu: 2000, memory: 2 ** 31, pods: 110 }),
  largestNode: units({ cpu: 4000, memory: 2 ** 32, pods: 110 }),
  nodes: undefined,
  ...over,
});
const aQueue = (over: Partial<QueueView> = {}): QueueView => ({
  name: "default",
  paused: false,
  placement: "Spread",
  acceptsNamespace: everything,
  matchesCluster: everything,
  maxJobs: undefined,
  running: 0,
  quota: new Map(),
  used: new Map(),
  ...over,
});
describe("choose", () => {
  test("Spread takes the cluster with the most room, Pack the one with the least that still fits", () => {
    const clusters = [aCluster("small", { free: units({ cpu: 1000, pods: 110 }) }), aCluster("large")];
    expect(choose(aCandidate(), aQueue(), clusters)).toEqual({ cluster: "large" });
    expect(choose(aCandidate(), aQueue({ placement: "Pack" }), clusters)).toEqual({ cluster: "small" });
  });

  test("Ordered takes the first cluster that the queue prefers and that can take the Job, then any other", () => {
    const rankOf = (labels: Readonly<Record<string, string>>): number =>
      ["own", "near"].indexOf(labels.kind ?? "") >>> 0;
    const queue = aQueue({ placement: "Ordered", rankOf });
    const own = aCluster("own", { labels: { kind: "own" }, free: units({ cpu: 600, pods: 9 }) });
    const near = aCluster("near", { labels: { kind: "near" } });
    const clusters = [aCluster("cloud"), near, own];
    expect(choose(aCandidate(), queue, clusters)).toEqual({ cluster: "own" });
    expect(choose(aCandidate(), queue, [aCluster("cloud"), near])).toEqual({ cluster: "near" });
    const far = aCluster("far", { free: units({ cpu: 600, pods: 9 }) });
    expect(choose(aCandidate(), queue, [far, aCluster("cloud")])).toEqual({ cluster: "cloud" });
  });

  test("equal room: fewer Jobs first under Spread, then the name decides", () => {
    const clusters = [aCluster("b"), aCluster("a"), aCluster("c", { running: 3 })];
    expect(choose(aCandidate(), aQueue(), clusters)).toEqual({ cluster: "a" });
    expect(choose(aCandidate(), aQueue({ placement: "Pack" }), clusters)).toEqual({ cluster: "c" });
  });

  test.each<[string, Partial<ClusterView>, Partial<Candidate>, string, boolean]>([
    ["offline", { connected: false }, {}, "not connected", false],
    ["not ready", { notReady: "must be enrolled again" }, {}, "must be enrolled again", false],
    ["cordoned", { cordoned: true }, {}, "cordoned", false],
    ["full by number", { maxJobs: 2, running: 2 }, {}, "runs its maximum of 2 Jobs", false],
    ["namespace", { namespaces: new Set(["other"]) }, {}, "does not accept namespace team", true],
    ["selector", {}, { matchesCluster: () => false }, "the Job's cluster selector does not match", true],
    [
      "refused",
      {},
      { refusedBy: new Map([[parseClusterName("c"), "refused it: NameTaken"]]) },
      "refused it: NameTaken",
      false,
    ],
    ["pod over free node", {}, { perPod: units({ cpu: 3000 }) }, "no room for one pod (cpu: asks 3, has 2)", false],
    [
      "pod over any node",
      {},
      { perPod: units({ memory: 2 ** 33 }) },
      "no node is large enough for one pod (memory: asks 8192Mi, has 4096Mi)",
      true,
    ],
  ])("%s: says why, and whether waiting can help", (_, cluster, candidate, reason, never) => {
    const choice = choose(aCandidate(candidate), aQueue(), [aCluster("c", cluster)]);
    expect(choice).toEqual({ obstacles: new Map([["c", { reason, never }]]), never });
  });

  test("a cluster that names no GPU has none, and one without nodes has nothing", () => {
    const gpu = aCandidate({ perPod: units({ pods: 1, "nvidia.com/gpu": 1 }) });
    const reason = "no node is large enough for one pod (nvidia.com/gpu: asks 1, has 0)";
    expect(choose(gpu, aQueue(), [aCluster("c")])).toMatchObject({
      obstacles: new Map([["c", { reason, never: true }]]),
    });
    const empty = { free: units({}), largestFreeNode: units({}), largestNode: units({}) };
    const small = aCandidate({ perPod: units({ pods: 1 }) });
    expect(choose(small, aQueue(), [aCluster("empty", empty), aCluster("c")])).toEqual({ cluster: "c" });
  });

  test.each<[string, Partial<Candidate>, string, boolean]>([
    [
      "a GPU that no node has",
      needs({ asks: { "nvidia.com/gpu": 1 } }),
      "no node that matches is large enough for one pod (nvidia.com/gpu: asks 1, the largest has 0)",
      true,
    ],
    [
      "room that is scattered over nodes",
      needs({ asks: { cpu: 6000 } }),
      "no room for one pod now (cpu: asks 6, the most free on one node is 5)",
      false,
    ],
    [
      "a label that no node has",
      needs({ nodeSelector: { disk: "ssd" } }),
      "none of its 3 nodes has the label disk=ssd",
      true,
    ],
    [
      "a gang that has room for some",
      needs({ asks: { cpu: 5000 }, pods: 4, gang: true }),
      "room for 3 of the 4 pods that must run at once, and for at most 3 when all its nodes are empty",
      true,
    ],
  ])("the nodes decide where they are known: %s", (_, job, reason, never) => {
    const nodes = nodesOf([aShape({ free: [{ nodes: 3, room: [5000, 2 ** 35, 110] }] })]);
    const choice = choose(aCandidate(job), aQueue(), [aCluster("c", { nodes })]);
    expect(choice).toEqual({ obstacles: new Map([["c", { reason, never }]]), never });
  });

  test("what the nodes hold counts, whatever the sums say", () => {
    const full = { free: units({}), largestFreeNode: units({}), largestNode: units({}) };
    const clusters = [
      aCluster("without", { nodes: nodesOf([]) }),
      aCluster("c", { ...full, nodes: nodesOf([aShape()]) }),
    ];
    expect(choose(aCandidate(), aQueue(), clusters)).toEqual({ cluster: "c" });
  });

  test("a cluster that has not reported yet is not limited", () => {
    const silent = aCluster("c", { free: undefined, largestFreeNode: undefined, largestNode: undefined });
    expect(choose(aCandidate({ perPod: units({ "example.com/gpu": 8 }) }), aQueue(), [silent])).toEqual({
      cluster: "c",
    });
  });
});

describe("queueObstacle", () => {
  test("paused, over quota, foreign namespace", () => {
    expect(queueObstacle(aCandidate(), aQueue())).toBeUndefined();
    expect(queueObstacle(aCandidate(), aQueue({ paused: true }))?.reason).toBe("queue default is paused");
    expect(queueObstacle(aCandidate(), aQueue({ maxJobs: 1, running: 1 }))?.never).toBe(false);
    expect(queueObstacle(aCandidate(), aQueue({ acceptsNamespace: () => false }))?.never).toBe(true);
  });
});

describe("explain", () => {
  test("groups clusters by reason and stays short", () => {
    const obstacles = new Map(
      Array.from({ length: 300 }, (_, i) => [
        parseClusterName(`c${i}`),
        { reason: i % 2 ? "cordoned" : `reason ${i}`, never: false },
      ]),
    );
    const text = explain(obstacles, false);
    expect(text).toMatch(/^waiting: c0: reason 0; c1, c3, c5 and 147 more: cordoned/);
    expect(text.length).toBeLessThanOrEqual(1000);
    expect(explain(new Map(), false)).toContain("no worker cluster yet");
  });
});
