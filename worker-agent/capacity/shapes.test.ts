import { nodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { labelFilter } from "./node-labels.ts";
import { type Node, NodeShapes } from "./shapes.ts";

type Overrides = {
  labels?: Record<string, string>;
  allocatable?: Record<string, string>;
  ready?: string;
} & Node["spec"];

const aNode = (name: string, { labels, allocatable, ready, ...spec }: Overrides = {}): Node => ({
  metadata: { name, labels: { "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", ...labels } },
  spec,
  status: {
    allocatable: { cpu: "8", memory: "32Gi", pods: "110", ...allocatable },
    ...(ready === undefined ? {} : { conditions: [{ type: "Ready", status: ready }] }),
  },
});
const shapesOf = (nodes: readonly Node[], more: readonly string[] = []): NodeShapes => {
  const shapes = new NodeShapes(labelFilter(more));
  for (const node of nodes) shapes.put(node);
  return shapes;
};
const requests = (cpu: number, memory = 0) =>
  new Map([
    ["pods", 1],
    ["cpu", cpu],
    ["memory", memory],
  ]);
const Gi = 2 ** 30;

describe("the shapes of nodes", () => {
  test("nodes that are alike share one, with a row for each amount of room", () => {
    const shapes = shapesOf([aNode("a"), aNode("b"), aNode("c", { ready: "True" })]);
    shapes.take("b", requests(2000, Gi), 1);
    expect(shapes.report()).toEqual({
      shapes: [
        {
          nodes: 3,
          labels: { "kubernetes.io/arch": "amd64" },
          taints: [],
          resources: ["cpu", "memory", "pods"],
          allocatable: [8000, 32 * Gi, 110],
          free: [
            { nodes: 1, room: [6000, 31 * Gi, 109], names: ["b"] },
            { nodes: 2, room: [8000, 32 * Gi, 110], names: ["a", "c"] },
          ],
        },
      ],
      hiddenLabels: [],
      leftOut: 0,
    });
  });

  test.each<[string, Overrides, number]>([
    ["another label that is reported", { labels: { "topology.kubernetes.io/zone": "b" } }, 2],
    ["a GPU label", { labels: { "nvidia.com/gpu.product": "A100" } }, 2],
    ["a label of which only the time differs", { labels: { "nvidia.com/gfd.timestamp": "17" } }, 1],
    ["a label that is not reported", { labels: { disktype: "ssd" } }, 1],
    ["a taint", { taints: [{ key: "gpu", effect: "NoSchedule" }] }, 2],
    ["a taint that only puts off", { taints: [{ key: "gpu", effect: "PreferNoSchedule" }] }, 1],
    ["another resource", { allocatable: { "nvidia.com/gpu": "8" } }, 2],
    ["another number of CPUs", { allocatable: { cpu: "7900m" } }, 2],
    ["more than a hundredth of its memory", { allocatable: { memory: "31Gi" } }, 2],
    ["a cordon", { unschedulable: true }, 2],
    ["its readiness", { ready: "False" }, 1],
  ])("a node that differs in %s", (_, other, expected) => {
    expect(shapesOf([aNode("a"), aNode("b", other)]).report().shapes).toHaveLength(expected);
  });

  test("machines whose memory differs by some pages are alike, and the least counts", () => {
    const memory = (kib: number) => ({ allocatable: { memory: `${kib}Ki` } });
    const [shape] = shapesOf([aNode("a", memory(32_500_004)), aNode("b", memory(32_500_000))]).report().shapes;
    expect(shape?.nodes).toBe(2);
    expect(shape?.allocatable[1]).toBe(32_500_000 * 1024);
  });

  test.each(["False", "Unknown"])("a node that is not ready (%s) is there but has no room", (ready) => {
    const [shape] = shapesOf([aNode("a"), aNode("b", { ready })]).report().shapes;
    expect(shape).toMatchObject({ nodes: 2, free: [{ nodes: 1, names: ["a"] }] });
  });

  test("a cordoned node has the taint, written down or not", () => {
    const cordon = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" as const };
    const shapes = shapesOf([
      aNode("a", { unschedulable: true }),
      aNode("b", { unschedulable: true, taints: [cordon] }),
    ]);
    expect(shapes.report().shapes).toMatchObject([{ nodes: 2, taints: [cordon] }]);
  });

  test("labels that are not reported are named, and the flag brings them in", () => {
    const nodes = [aNode("a", { labels: { disktype: "ssd", "example.com/rack": "7" } })];
    expect(shapesOf(nodes).report()).toMatchObject({ hiddenLabels: ["disktype", "example.com/rack"] });
    expect(shapesOf(nodes, ["disktype", "example.com/*"]).report()).toMatchObject({
      hiddenLabels: [],
      shapes: [{ labels: { disktype: "ssd", "example.com/rack": "7" } }],
    });
    const shapes = shapesOf(nodes);
    shapes.remove("a");
    expect(shapes.report()).toEqual({ shapes: [], hiddenLabels: [], leftOut: 0 });
  });

  test("nodes are named up to 64 of them", () => {
    const nodes = Array.from({ length: 65 }, (_, i) => aNode(`n${i}`));
    const shapes = shapesOf(nodes);
    expect(shapes.report().shapes[0]?.free).toEqual([{ nodes: 65, room: [8000, 32 * Gi, 110] }]);
    shapes.remove("n0");
    expect(shapes.report().shapes[0]?.free[0]?.names).toHaveLength(64);
    shapes.put(aNode("n0"));
    expect(shapes.report().shapes[0]?.free[0]?.names).toBeUndefined();
  });

  test("a node whose hostname is another than its name is not named", () => {
    const shapes = shapesOf([aNode("a", { labels: { "kubernetes.io/hostname": "else" } })]);
    expect(shapes.report().shapes[0]?.free).toEqual([{ nodes: 1, room: [8000, 32 * Gi, 110] }]);
  });

  test("pods may be known before their node is, and the node may come back", () => {
    const shapes = shapesOf([]);
    shapes.take("a", requests(3000), 1);
    shapes.put(aNode("a"));
    expect(shapes.report().shapes[0]?.free[0]?.room[0]).toBe(5000);
    shapes.remove("a");
    shapes.put(aNode("a"));
    expect(shapes.report().shapes[0]?.free[0]?.room[0]).toBe(5000);
    shapes.take("a", requests(3000), -1);
    expect(shapes.taken("a")).toBeUndefined();
  });

  test("nothing is described anew when nothing changed, and only the shape that did otherwise", () => {
    const shapes = shapesOf([aNode("a"), aNode("b", { allocatable: { cpu: "4" } })]);
    const before = shapes.report();
    expect(shapes.report()).toBe(before);
    shapes.take("b", requests(1000), 1);
    const after = shapes.report();
    expect(after.shapes[0]).toBe(before.shapes[0]);
    expect(after.shapes[1]).not.toBe(before.shapes[1]);
  });

  test("what cannot be described is left out, and the report stays within its bounds", () => {
    const taints = Array.from({ length: 33 }, (_, i) => ({ key: `t${i}`, effect: "NoSchedule" }));
    const labels = (i: number) =>
      Object.fromEntries(
        Array.from({ length: 60 }, (_, j) => [`nvidia.com/${"x".repeat(50)}${j}`, `${"v".repeat(50)}${i}`]),
      );
    const nodes = Array.from({ length: 300 }, (_, i) => aNode(`n${i}`, { labels: labels(i) }));
    const report = shapesOf([...nodes, aNode("tainted", { taints })]).report();
    expect(report.leftOut).toBe(1);
    expect(report.shapes.reduce((sum, { nodes: count }) => sum + count, 0)).toBe(300);
    expect(JSON.stringify(report).length).toBeLessThanOrEqual(262_144);
    expect(nodesReport.parse(report)).toEqual(report);
  });
});

test("whatever comes and goes: the report is that of a fresh count, valid, and promises nothing that is not there", () => {
  const node = fc.record({
    name: fc.constantFrom("a", "b", "c", "d", "e", "f"),
    cpu: fc.constantFrom("4", "8"),
    gpu: fc.constantFrom(undefined, "8"),
    zone: fc.constantFrom("x", "y"),
    ready: fc.constantFrom("True", "True", "False"),
  });
  const step = fc.oneof(
    node.map((facts) => ({ do: "put" as const, facts })),
    fc.record({ do: fc.constant("remove" as const), name: fc.constantFrom("a", "b", "c") }),
    fc.record({ do: fc.constant("pod" as const), node: fc.constantFrom("a", "b", "c", "d", "z"), cpu: fc.nat(3000) }),
    fc.record({ do: fc.constant("end" as const), pod: fc.nat(20) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const shapes = shapesOf([]);
      const nodes = new Map<string, Node>();
      const pods: { node: string; cpu: number }[] = [];
      for (const action of steps) {
        if (action.do === "put") {
          const { name, cpu, gpu, zone, ready } = action.facts;
          const allocatable = { cpu, ...(gpu === undefined ? {} : { "nvidia.com/gpu": gpu }) };
          const known = aNode(name, { allocatable, ready, labels: { "topology.kubernetes.io/zone": zone } });
          nodes.set(name, known);
          shapes.put(known);
        } else if (action.do === "remove") {
          nodes.delete(action.name);
          shapes.remove(action.name);
        } else if (action.do === "pod") {
          pods.push(action);
          shapes.take(action.node, requests(action.cpu), 1);
        } else {
          const [ended] = pods.splice(action.pod, 1);
          if (ended !== undefined) shapes.take(ended.node, requests(ended.cpu), -1);
        }
        shapes.report();
      }
      const fresh = shapesOf([...nodes.values()]);
      for (const pod of pods) fresh.take(pod.node, requests(pod.cpu), 1);
      const report = shapes.report();
      expect(nodesReport.parse(report)).toEqual(report);
      expect(new Set(report.shapes.map((shape) => JSON.stringify(shape)))).toEqual(
        new Set(fresh.report().shapes.map((shape) => JSON.stringify(shape))),
      );
      for (const { resources, free } of report.shapes)
        for (const { room, names = [] } of free)
          for (const name of names) {
            const taken = pods.filter((pod) => pod.node === name).reduce((sum, { cpu }) => sum + cpu, 0);
            const whole = Number(nodes.get(name)?.status?.allocatable?.cpu) * 1000;
            expect(room[resources.indexOf("cpu")]).toBeLessThanOrEqual(Math.max(0, whole - taken));
          }
    }),
  );
});
