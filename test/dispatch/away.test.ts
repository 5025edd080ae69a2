/** A.7 while the worker cannot be reached, on a simulated fleet. */
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, ON_CLUSTER_LOST } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

const BOUND_MS = 60_000;
let fleet: Fleet;
afterEach(() => fleet.stop());

const remove = () =>
  fleet.hub.api.delete(jobs, { namespace: "default", name: "j" }, { propagationPolicy: "Background" });

it.each([
  ["one of two workers", ["east", "west"], 0],
  ["one of two workers, long ago", ["east", "west"], 300_000],
  // The loss timers stand still then; the deletion goes on.
  ["the only worker", ["east"], 0],
])("A.7 %s is away: the deleted Job goes within the bound, its mirror on return", async (_, workers, beforeMs) => {
  fleet = await new Fleet({ workers, behaviour: () => ({ runMs: 3_600_000, stopMs: 100 }) }).start();
  await fleet.submit("j", {}, { annotations: { "jobferry.dev/cluster-selector": "name=east" } });
  await fleet.until(async () => (await fleet.job("j"))?.status?.active === 1);
  await fleet.stopAgent("east");
  await fleet.clock.advance(beforeMs);
  await remove();
  await fleet.until(async () => (await fleet.job("j")) === undefined, BOUND_MS);
  expect(await fleet.mirrors("j")).toHaveLength(1);
  fleet.startAgent("east");
  await fleet.until(async () => (await fleet.mirrors("j")).length === 0, 30_000);
  expect(await fleet.podsOn("east")).toBe(0);
});

it("A.7 a worker that is heard has all the time its pods need", async () => {
  fleet = await new Fleet({ behaviour: () => ({ runMs: 3_600_000, stopMs: 3 * BOUND_MS }) }).start();
  const template = {
    spec: { containers: [{ name: "main", image: "none" }], restartPolicy: "Never", terminationGracePeriodSeconds: 600 },
  };
  await fleet.submit("j", { template });
  await fleet.until(async () => (await fleet.job("j"))?.status?.active === 1);
  await remove();
  await fleet.clock.advance(2 * BOUND_MS);
  expect(await fleet.job("j")).toBeDefined();
  await fleet.until(async () => (await fleet.job("j")) === undefined, 2 * BOUND_MS);
});

it("A.7 a delivery that waited beside an inventory that names it never becomes a mirror", async () => {
  fleet = await new Fleet({ behaviour: () => ({ runMs: 3_600_000, stopMs: 100 }) }).start();
  const onEast = { "jobferry.dev/cluster-selector": "name=east" };
  // With such a Job there, the manager sends its inventory often.
  await fleet.submit("watchful", {}, { annotations: { ...onEast, [ON_CLUSTER_LOST]: "StopThenRedispatch" } });
  await fleet.until(async () => (await fleet.job("watchful"))?.status?.active === 1);
  const mirrors = new Set<string>();
  const reflector = new Reflector({
    api: fleet.workers.get("east")?.cluster.api as KubeApi,
    clock: fleet.clock,
    resource: jobs,
  });
  reflector.addHandler({ added: ({ metadata }) => mirrors.add(metadata.name ?? "") });
  const end = new AbortController();
  const watching = reflector.start(end.signal);
  await fleet.stopAgent("east");
  await fleet.submit("j", {}, { annotations: onEast });
  await fleet.until(async () => (await fleet.job("j"))?.metadata.annotations?.[CLUSTER] === "east");
  await fleet.clock.advance(12_000);
  // What is sent later comes too late to matter, if it comes at all.
  fleet.bus.fate = (address) => ("cluster" in address && address.cluster === "east" ? [] : [0]);
  await remove();
  await fleet.until(async () => (await fleet.job("j")) === undefined, BOUND_MS);
  fleet.bus.fate = () => [0];
  fleet.startAgent("east");
  await fleet.clock.advance(60_000);
  end.abort();
  await watching;
  expect([...mirrors]).toEqual(["watchful"]);
});
