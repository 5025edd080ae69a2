import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import { describe, expect, test } from "vitest";
import { type Fit, fits } from "./fits.ts";
import type { JobNeeds } from "./job-needs.ts";
import { aCluster, aShape, Gi, needs } from "./testing.ts";

const gpu = { key: "gpu", value: "a100", effect: "NoSchedule" as const };
const cordon = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" as const };
const zone = (value: string): Partial<NodeShape> => ({ labels: { "topology.kubernetes.io/zone": value } });
const requires = (key: string, operator: string, ...values: string[]) => ({
  affinity: [{ matchExpressions: [{ key, operator, values }] }],
});
const called = (...names: string[]): Partial<NodeShape> => ({
  nodes: names.length,
  free: names.map((name) => ({ nodes: 1, room: [8000, 32 * Gi, 110], names: [name] })),
});

const table: [string, JobNeeds, NodesReport, Fit][] = [
  ["a pod on an empty node", needs(), aCluster([aShape()]), { now: 1, ever: 1 }],
  ["counting ends at the Job's pods", needs({ pods: 5 }), aCluster([aShape()]), { now: 5, ever: 5 }],
  ["every node counts", needs({ pods: 50 }), aCluster([aShape()]), { now: 24, ever: 24 }],
  [
    "room that is scattered is not one pod's room",
    needs({ asks: { cpu: 4000 }, pods: 9 }),
    aCluster([aShape({ free: [{ nodes: 3, room: [3000, 32 * Gi, 110] }] })]),
    { now: 0, ever: 6, obstacle: "no room for one pod now (cpu: asks 4, the most free on one node is 3)" },
  ],
  [
    "a resource that is not named is not there",
    needs({ asks: { "nvidia.com/gpu": 1 } }),
    aCluster([aShape()]),
    {
      now: 0,
      ever: 0,
      obstacle: "no node that matches is large enough for one pod (nvidia.com/gpu: asks 1, the largest has 0)",
    },
  ],
  ["no nodes", needs({ asks: {} }), aCluster([]), { now: 0, ever: 0, obstacle: "it has no nodes" }],
  [
    "the number of pods",
    needs({ asks: {}, pods: 9 }),
    aCluster([
      aShape({
        free: [
          { nodes: 2, room: [0, 0, 4] },
          { nodes: 1, room: [0, 0, 0] },
        ],
      }),
    ]),
    { now: 8, ever: 9 },
  ],
  [
    "enough of each, but not on one node",
    needs({ asks: { cpu: 4000, memory: 8 * Gi } }),
    aCluster([
      aShape({
        free: [
          { nodes: 2, room: [4000, Gi, 9] },
          { nodes: 1, room: [1000, 9 * Gi, 9] },
        ],
      }),
    ]),
    {
      now: 0,
      ever: 1,
      obstacle: "no room for one pod now (no node has pods 1 and cpu 4 and memory 8Gi at once)",
    },
  ],
  [
    "a label of the node selector",
    needs({ nodeSelector: { a: "b" } }),
    aCluster([aShape({ labels: { a: "b" } })]),
    { now: 1, ever: 1 },
  ],
  [
    "a label that no node has",
    needs({ nodeSelector: { "topology.kubernetes.io/zone": "b" } }),
    aCluster([aShape(zone("a"))]),
    { now: 0, ever: 0, obstacle: "none of its 3 nodes has the label topology.kubernetes.io/zone=b" },
  ],
  [
    "labels that no node has together",
    needs({ nodeSelector: { a: "1", b: "1" } }),
    aCluster([aShape({ labels: { a: "1" } }), aShape({ labels: { b: "1" } })]),
    { now: 0, ever: 0, obstacle: "none of its 6 nodes has all labels of the node selector" },
  ],
  [
    "a label that the agent does not report",
    needs({ nodeSelector: { disktype: "ssd" } }),
    aCluster([aShape()], ["disktype"]),
    {
      now: 0,
      ever: 0,
      obstacle:
        "it has nodes with the label disktype, but its agent does not report it (start the agent with --node-labels=disktype)",
    },
  ],
  [
    "a label that must not be there and is not reported",
    needs(requires("disktype", "DoesNotExist")),
    aCluster([aShape()], ["disktype"]),
    {
      now: 0,
      ever: 0,
      obstacle:
        "it has nodes with the label disktype, but its agent does not report it (start the agent with --node-labels=disktype)",
    },
  ],
  [
    "a label that must not be there and is not",
    needs(requires("x", "DoesNotExist")),
    aCluster([aShape()]),
    { now: 1, ever: 1 },
  ],
  [
    "of merged nodes nothing is known about labels that are not common",
    needs(requires("x", "NotIn", "y")),
    aCluster([aShape({ merged: true })]),
    { now: 0, ever: 0, obstacle: "none of its 3 nodes matches the node affinity" },
  ],
  [
    "one of several terms",
    needs({ affinity: [{}, { matchExpressions: [{ key: "a", operator: "Exists" }] }] }),
    aCluster([aShape({ labels: { a: "" } })]),
    { now: 1, ever: 1 },
  ],
  [
    "an empty term matches nothing",
    needs({ affinity: [{}] }),
    aCluster([aShape()]),
    { now: 0, ever: 0, obstacle: "none of its 3 nodes matches the node affinity" },
  ],
  [
    "a taint",
    needs(),
    aCluster([aShape({ taints: [gpu] })]),
    {
      now: 0,
      ever: 0,
      obstacle: "the Job does not tolerate the taint gpu=a100:NoSchedule of 3 of the 3 nodes that match",
    },
  ],
  [
    "a taint that is tolerated",
    needs({ tolerations: [{ key: "gpu", operator: "Exists" }] }),
    aCluster([aShape({ taints: [gpu] })]),
    { now: 1, ever: 1 },
  ],
  [
    "a NoExecute taint",
    needs({ tolerations: [{ key: "gpu", operator: "Exists", effect: "NoSchedule" }] }),
    aCluster([aShape({ taints: [{ key: "gpu", effect: "NoExecute" }] })]),
    { now: 0, ever: 0, obstacle: "the Job does not tolerate the taint gpu:NoExecute of 3 of the 3 nodes that match" },
  ],
  [
    "cordoned nodes are not room now",
    needs(),
    aCluster([aShape({ taints: [cordon] })]),
    {
      now: 0,
      ever: 1,
      obstacle:
        "the Job does not tolerate the taint node.kubernetes.io/unschedulable:NoSchedule of 3 of the 3 nodes that match",
    },
  ],
  [
    "nodes that are not ready are not room now",
    needs(),
    aCluster([aShape({ free: [] })]),
    { now: 0, ever: 1, obstacle: "not ready: 3 nodes that would do" },
  ],
  [
    "a named node",
    needs({ affinity: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["b"] }] }], pods: 99 }),
    aCluster([aShape(called("a", "b"))]),
    { now: 8, ever: 8 },
  ],
  [
    "all but a named node",
    needs({ affinity: [{ matchFields: [{ key: "metadata.name", operator: "NotIn", values: ["b"] }] }], pods: 99 }),
    aCluster([aShape(called("a", "b", "c"))]),
    { now: 16, ever: 16 },
  ],
  [
    "a named host",
    needs({ nodeSelector: { "kubernetes.io/hostname": "b" }, pods: 99 }),
    aCluster([aShape(called("a", "b"))]),
    { now: 8, ever: 8 },
  ],
  [
    "a named host that is not there",
    needs({ nodeSelector: { "kubernetes.io/hostname": "x" } }),
    aCluster([aShape(called("a", "b"))]),
    { now: 0, ever: 0, obstacle: "none of its 2 nodes has the label kubernetes.io/hostname=x" },
  ],
  [
    "names that were not reported may be the ones",
    needs({ ...requires("kubernetes.io/hostname", "In", "b", "c"), pods: 99 }),
    aCluster([aShape(), aShape()]),
    { now: 16, ever: 16 },
  ],
  [
    "bound by hand",
    needs({ nodeName: "b", pods: 99 }),
    aCluster([aShape({ ...called("a", "b"), taints: [gpu] })]),
    { now: 8, ever: 8 },
  ],
  [
    "bound by hand to a node that is not there",
    needs({ nodeName: "x" }),
    aCluster([aShape(called("a"))]),
    { now: 0, ever: 0, obstacle: "its one node does not have the name x" },
  ],
  ["ports of the node: one pod to a node", needs({ alone: true, pods: 99 }), aCluster([aShape()]), { now: 3, ever: 3 }],
  ["a gang that has room", needs({ gang: true, pods: 24 }), aCluster([aShape()]), { now: 24, ever: 24 }],
  [
    "a gang that has not yet",
    needs({ gang: true, pods: 24 }),
    aCluster([aShape({ free: [{ nodes: 2, room: [8000, 32 * Gi, 110] }] })]),
    { now: 16, ever: 24, obstacle: "room for 16 of the 24 pods that must run at once" },
  ],
  [
    "a gang that never will",
    needs({ gang: true, pods: 25 }),
    aCluster([aShape()]),
    {
      now: 24,
      ever: 24,
      obstacle: "room for 24 of the 25 pods that must run at once, and for at most 24 when all its nodes are empty",
    },
  ],
  [
    "a gang of which not one pod has room",
    needs({ gang: true, pods: 2, asks: { cpu: 9000 } }),
    aCluster([aShape()]),
    { now: 0, ever: 0, obstacle: "no node that matches is large enough for one pod (cpu: asks 9, the largest has 8)" },
  ],
];

describe("fits", () => {
  test.each(table)("%s", (_, job, cluster, expected) => {
    expect(fits(job, cluster)).toEqual(expected);
  });

  test.each<[string, number, string]>([
    ["memory", 1536 * 2 ** 20, "1.5Gi"],
    ["cpu", 1500, "1500m"],
    ["hugepages-2Mi", 2 ** 21, "2Mi"],
    ["example.com/dongle", 3, "3"],
    ["ephemeral-storage", 500, "500"],
  ])("says %s as people write it", (resource, units, words) => {
    const cluster = aCluster([aShape({ resources: ["pods"], allocatable: [9] })]);
    expect(fits(needs({ asks: { [resource]: units } }), cluster).obstacle).toContain(`${resource}: asks ${words}, `);
  });
});
