import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { aHubJob, anAssignedJob, phases } from "../testing/hub-job.ts";
import { bareOf, finishedOf, HubWatch } from "./watch.ts";

it("holds no more than that of them, and of others all", async () => {
  const clock = new VirtualClock();
  const hub = new SandboxCluster({ name: "hub", clock, seed: 1 });
  const starting = hub.start();
  await clock.advance(1_000);
  await starting;
  const args = ["y".repeat(100_000)];
  const template = { spec: { restartPolicy: "Never" as const, containers: [{ name: "c", image: "i", args }] } };
  for (const name of ["theirs", "running", "finished"]) {
    const managedBy = name === "theirs" ? {} : { managedBy: HUB_MANAGED_BY };
    await hub.api.create(jobs, "default", { metadata: { name }, spec: { ...managedBy, template } });
  }
  const now = "2026-01-01T00:00:00Z";
  const ended = ["SuccessCriteriaMet", "Complete"].map((type) => ({
    ...{ type, status: "True" as const, lastProbeTime: now, lastTransitionTime: now },
  }));
  const status = { startTime: now, completionTime: now, succeeded: 1, conditions: ended };
  const body = { status: { ...status, uncountedTerminatedPods: {} } };
  const key = { namespace: "default", name: "finished" };
  await hub.api.patch(jobs, key, { type: "merge", body }, { subresource: "status" });
  const stop = new AbortController();
  const api = hub.apiFor("manager");
  const watch = new HubWatch({ api, clock, random: Math.random, logger: silentLogger, phases, showsPods: false });
  const running = watch.jobs.start(stop.signal);
  await clock.advance(1_000);
  await watch.jobs.whenSynced();
  const held = (name: string) => JSON.stringify(watch.jobs.get("default", name)).length;
  expect(held("theirs")).toBeLessThan(1_000);
  expect(held("finished")).toBeLessThan(2_000);
  expect(held("running")).toBeGreaterThan(100_000);
  stop.abort();
  await clock.advance(1_000);
  await running;
  const stopping = hub.stop();
  await clock.advance(1_000);
  await stopping;
});

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
