import { expect, it } from "vitest";
import { parseFleet } from "./read-fleet.ts";

const CLUSTER = `kind: WorkerCluster
metadata: { name: own }
nodes: [{ allocatable: { cpu: 8 } }]
`;

it("reads the hub's own objects, and the nodes of each cluster", () => {
  const { clusters, queues, namespaces } = parseFleet(
    "f.yaml",
    `kind: List
items:
  - apiVersion: jobferry.dev/v1alpha1
    kind: JobQueue
    metadata: { name: research }
    spec: { weight: 2, quota: { resources: { cpu: 20 } } }
---
kind: Namespace
metadata: { name: team, labels: { tier: gold } }
---
kind: WorkerCluster
metadata: { name: own, labels: { site: own } }
spec: { maxJobs: 7 }
scoring: MostAllocated
nodes:
  - count: 3
    labels: { zone: a }
    taints: [{ key: gpu, effect: NoSchedule }]
    allocatable: { cpu: 500m, memory: 1Gi, nvidia.com/gpu: 8 }
`,
  );
  expect(queues).toMatchObject([{ metadata: { name: "research" }, spec: { weight: 2, placement: "Spread" } }]);
  expect(namespaces).toEqual(new Map([["team", { tier: "gold" }]]));
  expect(clusters).toMatchObject([
    {
      name: "own",
      scoring: "MostAllocated",
      object: { metadata: { labels: { site: "own" } }, spec: { maxJobs: 7 } },
      nodes: [{ count: 3, labels: { zone: "a" }, taints: [{ key: "gpu", effect: "NoSchedule" }] }],
    },
  ]);
  expect(clusters[0]?.nodes[0]?.allocatable).toEqual(
    new Map([
      ["pods", 110],
      ["cpu", 500],
      ["memory", 2 ** 30],
      ["nvidia.com/gpu", 8],
    ]),
  );
});

it.each<[string, string, string]>([
  ["no cluster", "kind: JobQueue\nmetadata: { name: q }\n", "there is no WorkerCluster in it"],
  ["bad YAML", "kind: [\n", "f.yaml: "],
  ["another kind", "kind: JobQueu\nmetadata: { name: q }\n", "kind JobQueu is not used here, did you mean JobQueue?"],
  ["no name", "kind: JobQueue\n", "document 1: metadata"],
  [
    "a field of a queue",
    `${CLUSTER}---\nkind: JobQueue\nmetadata: { name: q }\nspec: { wieght: 2 }\n`,
    "JobQueue q: no such field: spec.wieght, did you mean weight?",
  ],
  [
    "a nested field",
    `${CLUSTER}---\nkind: JobQueue\nmetadata: { name: q }\nspec: { quota: { resource: {} } }\n`,
    "no such field: spec.quota.resource, did you mean resources?",
  ],
  [
    "a value of a queue",
    `${CLUSTER}---\nkind: JobQueue\nmetadata: { name: q }\nspec: { placement: Spred }\n`,
    'spec.placement: supported values: "Spread"',
  ],
  [
    "a field of a cluster",
    CLUSTER.replace("nodes", "spec: { maxjobs: 1 }\nnodes"),
    "WorkerCluster own: no such field: spec.maxjobs, did you mean maxJobs?",
  ],
  [
    "a field of the nodes",
    CLUSTER.replace("allocatable", "alocatable"),
    "no such field: nodes.0.alocatable, did you mean allocatable?",
  ],
  ["a quantity", CLUSTER.replace("cpu: 8", "cpu: many"), "nodes.0.allocatable.cpu: is not a quantity"],
  ["no nodes", CLUSTER.replace(/\[.*\]/, "[]"), "a cluster without nodes runs nothing"],
  ["two of one name", `${CLUSTER}---\n${CLUSTER}`, "own is there twice"],
])("says what is wrong with %s", (_, text, message) => {
  expect(() => parseFleet("f.yaml", text)).toThrow(message);
});
