import type { NodeShape } from "@jobferry/shared/protocol/node-shapes.ts";
import { describe, expect, test } from "vitest";
import { boundedShapes } from "./bounded-shapes.ts";

const aShape = (over: Partial<NodeShape>): NodeShape => ({
  nodes: 1,
  labels: { "kubernetes.io/arch": "amd64" },
  taints: [],
  resources: ["cpu", "memory"],
  allocatable: [8000, 100],
  free: [{ nodes: over.nodes ?? 1, room: [4000, 50] }],
  ...over,
});
const withGpus = (over: Partial<NodeShape> = {}): NodeShape =>
  aShape({ resources: ["nvidia.com/gpu", "cpu"], allocatable: [8, 1000], free: [{ nodes: 1, room: [8, 1] }], ...over });
const taint = (key: string) => ({ key, effect: "NoSchedule" as const });
const nodesIn = (shapes: readonly NodeShape[]) => shapes.reduce((sum, { nodes }) => sum + nodes, 0);

describe("more shapes than are reported", () => {
  test("stay as they are within the limit", () => {
    const shapes = [aShape({ nodes: 1 }), aShape({ nodes: 2 })];
    expect(boundedShapes(shapes, 2)).toEqual({ shapes, leftOut: 0 });
  });

  test("the rarest become one: the least of an empty node, the common labels, all taints", () => {
    const large = aShape({ nodes: 50 });
    const bounded = boundedShapes(
      [
        aShape({ labels: { zone: "a", arch: "x" }, taints: [taint("one")], allocatable: [8000, 300], free: [] }),
        large,
        aShape({ labels: { zone: "b", arch: "x" }, taints: [taint("two")], allocatable: [4000, 400] }),
      ],
      2,
    );
    expect(bounded.leftOut).toBe(0);
    expect(bounded.shapes).toEqual([
      large,
      {
        nodes: 2,
        labels: { arch: "x" },
        taints: [taint("one"), taint("two")],
        resources: ["cpu", "memory"],
        allocatable: [4000, 300],
        free: [{ nodes: 1, room: [4000, 50] }],
        merged: true,
      },
    ]);
  });

  test("nodes of another architecture or with other taints are merged apart while there is a place", () => {
    const arm = { "kubernetes.io/arch": "arm64" };
    const shapes = [
      ...Array.from({ length: 6 }, (_, i) => aShape({ allocatable: [1000 + i, 100] })),
      ...Array.from({ length: 6 }, (_, i) => aShape({ allocatable: [1000 + i, 100], labels: arm })),
    ];
    const kinds = boundedShapes(shapes, 2).shapes;
    expect(kinds.map(({ nodes, labels }) => [nodes, labels["kubernetes.io/arch"]])).toEqual([
      [6, "amd64"],
      [6, "arm64"],
    ]);
    expect(boundedShapes(shapes, 1).shapes).toMatchObject([{ nodes: 12, labels: {} }]);
  });

  test("those with GPUs are never merged; the rarest are left out when they alone are too many", () => {
    const gpus = Array.from({ length: 5 }, (_, i) => withGpus({ nodes: i + 1 }));
    const plain = Array.from({ length: 5 }, (_, i) => aShape({ allocatable: [i, i] }));
    const { shapes, leftOut } = boundedShapes([...plain, ...gpus], 4);
    expect(shapes.map(({ nodes, merged }) => [nodes, merged])).toEqual([
      [5, undefined],
      [4, undefined],
      [3, undefined],
      [5, true],
    ]);
    expect(leftOut).toBe(3);
    expect(boundedShapes(gpus, 4)).toMatchObject({ leftOut: 1 });
  });

  test("a merged one with more taints than can be told is left out", () => {
    const shapes = Array.from({ length: 40 }, (_, i) => aShape({ taints: [taint(`t${i}`)] }));
    const bounded = boundedShapes(shapes, 3);
    expect(nodesIn(bounded.shapes) + bounded.leftOut).toBe(40);
    expect(bounded.leftOut).toBe(38);
  });
});
