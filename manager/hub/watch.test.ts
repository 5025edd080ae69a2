import { expect, it } from "vitest";
import { aHubJob, anAssignedJob, phases } from "../testing/hub-job.ts";
import { bareOf, finishedOf } from "./watch.ts";

it("keeps of a Job that is not ours its identity alone, however large it is", () => {
  const annotations = { note: "x".repeat(200_000) };
  const job = aHubJob({
    metadata: { name: "theirs", namespace: "team", uid: "u1", resourceVersion: "7", annotations },
  });
  const args = ["y".repeat(500_000)];
  const template = { spec: { restartPolicy: "Never" as const, containers: [{ name: "c", image: "i", args }] } };
  const bare = bareOf({ ...job, spec: { ...job.spec, template }, status: { succeeded: 1 } });
  expect(bare.metadata).toEqual({ name: "theirs", namespace: "team", uid: "u1", resourceVersion: "7" });
  expect(bare.spec.managedBy).toBe(job.spec.managedBy);
  expect(JSON.stringify(bare).length).toBeLessThan(300);
});

it("keeps of a finished Job neither its template nor what others noted on it, and still knows it", () => {
  const large = { note: "x".repeat(200_000) };
  const done = anAssignedJob({
    metadata: { annotations: large },
    status: { succeeded: 1, conditions: [{ type: "Complete", status: "True" }] },
  });
  const template = {
    spec: { restartPolicy: "Never" as const, containers: [{ name: "c", args: ["y".repeat(500_000)] }] },
  };
  const kept = finishedOf({ ...done, spec: { ...done.spec, template } });
  expect(JSON.stringify(kept).length).toBeLessThan(1_000);
  expect(phases.of(kept)).toMatchObject({ phase: "finished", assignment: { cluster: "east" } });
  expect(kept.status).toEqual(done.status);
});
