/** What the manager holds of the hub's Jobs in memory. */
import { HubWatch } from "@jobferry/manager/hub/watch.ts";
import { phases } from "@jobferry/manager/testing/hub-job.ts";
import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";

it("holds little of Jobs that are not ours or finished, and of ours all", async () => {
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
