import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { describe, expect, test } from "vitest";
import { differences } from "./difference.ts";
import { podsInRole, type World } from "./roles.ts";
import { nameless, snapshot } from "./snapshot.ts";

const exact = { statusOfDeletedJob: false, failJobMessage: false };

function world(uid: string, status: Job["status"], pods: Partial<Pod["metadata"]>[] = []): World {
  const job: Job = {
    metadata: { name: "play", uid },
    spec: { template: { spec: { containers: [] } } },
    ...(status && { status }),
  };
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "play", uid, controller: true };
  return {
    jobUid: uid,
    job,
    epochs: new Map(pods.map((_, i) => [`${uid}-${i}`, i])),
    pods: pods.map((metadata, i) => ({
      metadata: { uid: `${uid}-${i}`, name: `play-${uid}-${i}`, ownerReferences: [owner], ...metadata },
      spec: { containers: [] },
    })),
  };
}

describe("a snapshot", () => {
  test("forgets names, UIDs and times, and nothing else", () => {
    const message = (ns: string) =>
      `Container main for pod ${ns}/play-x7 failed with exit code 3 matching FailJob rule at index 0`;
    const condition = (ns: string, lastTransitionTime: string) => ({
      type: "FailureTarget",
      status: "True" as const,
      reason: "PodFailurePolicy",
      message: message(ns),
      lastTransitionTime,
    });
    const left = world(
      "uid-of-left",
      { failed: 1, startTime: "2026-01-01T00:00:00Z", conditions: [condition("one", "2026-01-01T00:00:09Z")] },
      [{}],
    );
    const right = world(
      "uid-of-right",
      { failed: 1, startTime: "2026-01-01T00:00:03Z", conditions: [condition("two", "2026-01-01T00:00:11Z")] },
      [{}],
    );
    expect(differences(snapshot(left, exact), snapshot(right, exact))).toEqual([]);
    const more = world("uid-of-right", { failed: 2, conditions: [condition("two", "2026-01-01T00:00:11Z")] }, [
      { finalizers: ["x"] },
    ]);
    expect(differences(snapshot(left, exact), snapshot(more, exact))).toEqual([
      "job.status.failed: 1 | 2",
      "job.status.startTime: true | false",
      'pods.0.metadata.finalizers: absent | ["x"]',
    ]);
  });

  test("tells an absent counter from a zero (SW-4)", () => {
    const [left, right] = [
      snapshot(world("uid-of-left", {}), exact),
      snapshot(world("uid-of-right", { ready: 0 }), exact),
    ];
    expect(differences(left, right)).toEqual(["job.status.ready: absent | 0"]);
  });

  test("keeps what a FailJob message says beside the pod's name, unless several pods matched (PF-12)", () => {
    expect(nameless("Pod play-1-a/play-x has condition DisruptionTarget matching FailJob rule at index 1")).toBe(
      "Pod <pod> has condition DisruptionTarget matching FailJob rule at index 1",
    );
    const failed = (message: string) =>
      world("uid-of-left", { conditions: [{ type: "Failed", status: "True", reason: "PodFailurePolicy", message }] });
    const blurred = { ...exact, failJobMessage: true };
    expect(snapshot(failed("one"), blurred)).toEqual(snapshot(failed("two"), blurred));
    expect(snapshot(failed("one"), exact)).not.toEqual(snapshot(failed("two"), exact));
  });
});

test("pods stand in the order of their index, then of their age, whatever their names", () => {
  const annotations = (index: number) => ({
    annotations: { "batch.kubernetes.io/job-completion-index": String(index) },
  });
  const pods = [
    { ...annotations(2), name: "a" },
    { ...annotations(0), name: "b" },
    { ...annotations(0), name: "aa" },
  ];
  expect(podsInRole(world("uid-of-left", {}, pods), "active").map(({ metadata }) => metadata.name)).toEqual([
    "b",
    "aa",
    "a",
  ]);
});
