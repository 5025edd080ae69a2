import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fits } from "./fits.ts";
import type { JobNeeds } from "./job-needs.ts";
import { takeOff } from "./take-off.ts";
import { aCluster, aShape, Gi, needs } from "./testing.ts";

type Rows = [number, number[]][];
const rowsOf = ({ shapes }: NodesReport): Rows =>
  shapes.flatMap(({ free }) => free.map(({ nodes, room }): Rows[number] => [nodes, room]));
const gpus = { resources: ["nvidia.com/gpu", "cpu", "memory", "pods"], allocatable: [8, 64_000, 512 * Gi, 110] };
const named = (name: string): NodeShape["free"][number] => ({ nodes: 1, room: [8000, 32 * Gi, 110], names: [name] });

const table: [string, JobNeeds, NodesReport, Rows][] = [
  [
    "one pod goes to one of the nodes",
    needs({ asks: { cpu: 2000, memory: Gi } }),
    aCluster([aShape()]),
    [
      [1, [6000, 31 * Gi, 109]],
      [2, [8000, 32 * Gi, 110]],
    ],
  ],
  ["as many pods as nodes: one each", needs({ pods: 3 }), aCluster([aShape()]), [[3, [7000, 32 * Gi, 109]]]],
  [
    "more pods than nodes, to the emptiest first",
    needs({ pods: 7 }),
    aCluster([aShape()]),
    [
      [1, [5000, 32 * Gi, 107]],
      [2, [6000, 32 * Gi, 108]],
    ],
  ],
  ["what has no room is not counted", needs({ pods: 100 }), aCluster([aShape()]), [[3, [0, 32 * Gi, 102]]]],
  [
    "the node with the most room is taken first",
    needs({ asks: { cpu: 3000 } }),
    aCluster([
      aShape({
        nodes: 2,
        free: [
          { nodes: 1, room: [3000, Gi, 9] },
          { nodes: 1, room: [7000, Gi, 9] },
        ],
      }),
    ]),
    [
      [1, [3000, Gi, 9]],
      [1, [4000, Gi, 8]],
    ],
  ],
  [
    "nodes that the pods may not go to stay as they are",
    needs({ nodeSelector: { zone: "b" }, pods: 2 }),
    aCluster([aShape({ labels: { zone: "a" } }), aShape({ labels: { zone: "b" }, nodes: 2 })]),
    [
      [3, [8000, 32 * Gi, 110]],
      [2, [7000, 32 * Gi, 109]],
    ],
  ],
  [
    "GPUs go where GPUs are",
    needs({ asks: { "nvidia.com/gpu": 4, cpu: 1000 } }),
    aCluster([aShape({ nodes: 1 }), aShape({ nodes: 1, ...gpus })]),
    [
      [1, [8000, 32 * Gi, 110]],
      [1, [4, 63_000, 512 * Gi, 109]],
    ],
  ],
  [
    "a taint keeps them away",
    needs({ pods: 9 }),
    aCluster([aShape({ taints: [{ key: "gpu", effect: "NoSchedule" }] })]),
    [[3, [8000, 32 * Gi, 110]]],
  ],
  [
    "with a port of the node, one to each",
    needs({ alone: true, pods: 9 }),
    aCluster([aShape()]),
    [[3, [7000, 32 * Gi, 109]]],
  ],
  [
    "a node that is asked for by name",
    needs({ nodeSelector: { "kubernetes.io/hostname": "b" }, pods: 2 }),
    aCluster([aShape({ nodes: 2, free: [named("a"), named("b")] })]),
    [
      [1, [8000, 32 * Gi, 110]],
      [1, [6000, 32 * Gi, 108]],
    ],
  ],
];

describe("what the last report leaves, with pods that were placed since", () => {
  test.each(table)("%s", (_, job, nodes, rows) => {
    const before = structuredClone(nodes);
    const sorted = (all: Rows): string[] => all.map((row) => JSON.stringify(row)).sort();
    expect(sorted(rowsOf(takeOff(nodes, job)))).toEqual(sorted(rows));
    expect(nodes).toEqual(before);
  });

  test("names stay with their nodes", () => {
    const report = aCluster([
      aShape({ nodes: 3, free: [{ nodes: 3, room: [8000, 32 * Gi, 110], names: ["a", "b", "c"] }] }),
    ]);
    const free = takeOff(report, needs()).shapes[0]?.free ?? [];
    expect(free.flatMap(({ names }) => names ?? []).sort()).toEqual(["a", "b", "c"]);
    expect(free.every(({ nodes, names }) => names?.length === nodes)).toBe(true);
  });

  const row = fc.record({
    nodes: fc.integer({ min: 1, max: 4 }),
    room: fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 5 })),
  });
  const generated = fc.array(row, { maxLength: 4 }).map((free) =>
    aShape({
      allocatable: [9, 9, 5],
      nodes: free.reduce((sum, { nodes }) => sum + nodes, 0),
      free: free.map(({ nodes, room }) => ({ nodes, room: [...room] })),
    }),
  );
  const asked = fc.record({
    asks: fc.record({ cpu: fc.integer({ min: 1, max: 4 }), memory: fc.integer({ min: 1, max: 4 }) }),
    pods: fc.integer({ min: 1, max: 60 }),
    alone: fc.boolean(),
  });

  test("takes exactly the room of the pods that fit, from no node more than it has", () => {
    fc.assert(
      fc.property(fc.array(generated, { maxLength: 3 }), asked, (shapes, ask) => {
        const [nodes, job] = [aCluster(shapes.filter((shape) => shape.nodes > 0)), needs(ask)];
        const [before, after] = [rowsOf(nodes), rowsOf(takeOff(nodes, job))];
        const sum = (rows: Rows, at: number): number => rows.reduce((all, [n, room]) => all + n * (room[at] ?? 0), 0);
        const placed = fits(job, nodes).now;
        const taken = [0, 1, 2].map((at) => sum(before, at) - sum(after, at));
        expect(taken).toEqual([placed * ask.asks.cpu, placed * ask.asks.memory, placed]);
        expect(after.every(([, room]) => room.every((units) => units >= 0))).toBe(true);
        expect(after.reduce((all, [n]) => all + n, 0)).toBe(before.reduce((all, [n]) => all + n, 0));
      }),
    );
  });
});
