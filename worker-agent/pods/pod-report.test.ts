import type { Pod, PodStatus } from "@jobferry/shared/job/types.ts";
import { MAX_POD_TEXT_CHARS } from "@jobferry/shared/protocol/limits.ts";
import { reportedPod } from "@jobferry/shared/protocol/pod-report.ts";
import { expect, it } from "vitest";
import { podsReport, reportedPodOf } from "./pod-report.ts";

const aPod = (number: number, status: PodStatus = { phase: "Running" }, more: Partial<Pod["metadata"]> = {}): Pod => ({
  metadata: {
    name: `pi-${number}`,
    uid: `uid-${number}`,
    creationTimestamp: `2026-01-01T00:00:${String(number).padStart(2, "0")}Z`,
    ...more,
  },
  spec: { containers: [], nodeName: "node-1" },
  status,
});

const names = (pods: readonly Pod[], most: number) => podsReport(pods, most).pods.map(({ name }) => name);

it("all pods are told, oldest first, whatever order they come in", () => {
  expect(podsReport([aPod(3), aPod(1), aPod(2)], 3)).toMatchObject({
    pods: [{ name: "pi-1" }, { name: "pi-2" }, { name: "pi-3" }],
    more: false,
  });
});

it("of too many, those that failed are told and then the oldest, and that there are others", () => {
  const pods = [aPod(1, { phase: "Succeeded" }), aPod(2), aPod(3), aPod(4, { phase: "Failed" })];
  expect(names(pods, 2)).toEqual(["pi-1", "pi-4"]);
  expect(podsReport(pods, 2).more).toBe(true);
  // A pod that comes later takes nobody's place.
  expect(names([...pods, aPod(5)], 2)).toEqual(["pi-1", "pi-4"]);
});

it("what is told is what the hub may show: no addresses, nothing empty, and well formed", () => {
  const status: PodStatus = {
    phase: "Failed",
    podIP: "10.0.0.1",
    qosClass: "BestEffort",
    message: "",
    conditions: [{ type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:00:00Z" }],
    containerStatuses: [
      { name: "main", restartCount: 0, lastState: {}, state: { terminated: { exitCode: 3, reason: "Error" } } },
    ],
  };
  const annotations = { "batch.kubernetes.io/job-completion-index": "7" };
  const told = reportedPodOf(aPod(1, status, { annotations, deletionTimestamp: "2026-01-01T00:00:00Z" }));
  expect(told).toEqual({
    name: "pi-1",
    uid: "uid-1",
    node: "node-1",
    index: 7,
    leaving: true,
    status: {
      phase: "Failed",
      conditions: [{ type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:00:00Z" }],
      containerStatuses: [
        { name: "main", ready: false, restartCount: 0, state: { terminated: { exitCode: 3, reason: "Error" } } },
      ],
    },
  });
  expect(reportedPod.parse(told)).toEqual(told);
});

it("a report is bounded, however long messages and lists are", () => {
  const long = "x".repeat(40_000);
  const conditions = Array.from({ length: 100 }, (_, at) => ({
    type: `T${at}`,
    status: "True" as const,
    message: long,
  }));
  const told = reportedPodOf(aPod(1, { phase: "Running", message: long, conditions }));
  expect(reportedPod.safeParse(told).success).toBe(true);
  expect(told.status.message).toHaveLength(MAX_POD_TEXT_CHARS);
  const { pods, more } = podsReport(
    Array.from({ length: 200 }, (_, at) => aPod(at, { phase: "Running", conditions })),
    200,
  );
  expect(JSON.stringify(pods).length).toBeLessThan(1_000_000);
  expect(more).toBe(true);
});
