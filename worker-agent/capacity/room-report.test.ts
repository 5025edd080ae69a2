import { expect, test } from "vitest";
import { labelFilter } from "./node-labels.ts";
import { roomReport } from "./room-report.ts";
import { NodeShapes } from "./shapes.ts";

const node = (name: string, cpu: string, over: { ready?: string; unschedulable?: boolean; gpus?: string } = {}) => ({
  metadata: { name },
  spec: { unschedulable: over.unschedulable ?? false },
  status: {
    allocatable: { cpu, pods: "10", ...(over.gpus === undefined ? {} : { "nvidia.com/gpu": over.gpus }) },
    conditions: [{ type: "Ready", status: over.ready ?? "True" }],
  },
});

test("sums and the largest node, over all kinds; nodes that take no pods do not count, nor do resources of theirs", () => {
  const shapes = new NodeShapes(labelFilter([]));
  shapes.put(node("a", "4"));
  shapes.put(node("b", "8"));
  shapes.put(node("c", "8"));
  shapes.put(node("away", "64", { ready: "False", gpus: "8" }));
  shapes.put(node("cordoned", "64", { unschedulable: true }));
  const requests = new Map([
    ["cpu", 5000],
    ["pods", 1],
  ]);
  shapes.take("b", requests, 1);
  const expected = {
    capacity: { cpu: "20000m", pods: "30" },
    free: { cpu: "15000m", pods: "29" },
    largestFreeNode: { cpu: "8000m", pods: "10" },
    largestNode: { cpu: "8000m", pods: "10" },
  };
  expect(roomReport(shapes)).toEqual(expected);
  shapes.take("c", requests, 1);
  expect(roomReport(shapes)).toMatchObject({ free: { cpu: "10000m" }, largestFreeNode: { cpu: "4000m", pods: "10" } });
  shapes.take("c", requests, -1);
  expect(roomReport(shapes)).toEqual(expected);
  shapes.put(node("away", "64", { ready: "True", gpus: "8" }));
  expect(roomReport(shapes).capacity).toEqual({ cpu: "84000m", pods: "40", "nvidia.com/gpu": "8" });
});
