/**
 * `StopThenRedispatch` promises that no two clusters run pods of a Job at once, as long as the agent and its API server live.
 * Every lostAfter that the resource permits, every way to lose contact, looked at twice a second of virtual time.
 */
import { workerClusters } from "@jobferry/shared/kube/fleet-resources.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, EPOCH, ON_CLUSTER_LOST } from "@jobferry/shared/protocol/marks.ts";
import type { Address } from "@jobferry/shared/queue/bus.ts";
import { afterEach, describe, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

const GRACE_SECONDS = 30;
const STEP_MS = 500;
const LIMIT_MS = 40 * 60_000;

/** Loses contact with a cluster in some way; may go on for a while, and is called only once. */
type Fault = (from: string, lostAfterSeconds: number) => Promise<void>;

const about = (address: Address, cluster: string): boolean => "cluster" in address && address.cluster === cluster;
const cut = (from: string): void => {
  fleet.bus.fate = (address) => (about(address, from) ? [] : [0]);
};

const faults: Record<string, Fault> = {
  "nothing gets through": async (from) => cut(from),
  "only its reports are lost": async (from) => {
    fleet.bus.fate = (address) => (about(address, from) && address.box === "reports" ? [] : [0]);
  },
  "its reports are lost and what it hears is a minute old": async (from) => {
    fleet.bus.fate = (address) => (!about(address, from) ? [0] : address.box === "reports" ? [] : [60_000]);
  },
  "its agent is restarted meanwhile": async (from, lostAfterSeconds) => {
    cut(from);
    await watch((lostAfterSeconds * 1000) / 2);
    await fleet.stopAgent(from);
    fleet.startAgent(from);
  },
  "the manager is restarted meanwhile": async (from, lostAfterSeconds) => {
    cut(from);
    await watch((lostAfterSeconds * 1000) / 2);
    await fleet.stopManager();
    fleet.startManager();
  },
  "it is heard for a moment, and the manager restarted": async (from, lostAfterSeconds) => {
    cut(from);
    await watch(lostAfterSeconds * 1000 - 5_000);
    fleet.bus.fate = () => [0];
    await watch(6_000);
    cut(from);
    await fleet.stopManager();
    fleet.startManager();
  },
  "its lostAfter is made shorter meanwhile": async (from) => {
    cut(from);
    await watch(10_000);
    await fleet.hub.api.patch(workerClusters, { name: from }, { type: "merge", body: { spec: { lostAfter: "30s" } } });
  },
};

/** Clusters on which a pod of any Job is not over yet. */
async function running(): Promise<string[]> {
  const names: string[] = [];
  for (const [name, { cluster }] of fleet.workers) {
    const { items } = await cluster.api.list(pods, { namespace: "default" });
    if (items.some(({ status }) => status?.phase === "Running" || status?.phase === "Pending")) names.push(name);
  }
  return names;
}

async function watch(durationMs: number, over: () => Promise<boolean> = async () => false): Promise<void> {
  for (let elapsed = 0; elapsed < durationMs; elapsed += STEP_MS) {
    expect((await running()).length).toBeLessThanOrEqual(1);
    if (await over()) return;
    await fleet.clock.advance(STEP_MS);
  }
}

const seconds = (duration: string): number => Number(duration.slice(0, -1)) * (duration.endsWith("m") ? 60 : 1);

async function loseContact(lostAfter: string, fault: Fault, graceSeconds: number): Promise<void> {
  fleet = await new Fleet({
    spec: { lostAfter },
    workers: ["east", "west", "north"],
    // As long as a pod may take to stop.
    behaviour: () => ({ runMs: 24 * 3_600_000, stopMs: graceSeconds * 1000 - 100 }),
  }).start();
  const containers = [{ name: "main", image: "busybox" }];
  const template = { spec: { restartPolicy: "Never", terminationGracePeriodSeconds: graceSeconds, containers } };
  await fleet.submit("x", { template }, { annotations: { [ON_CLUSTER_LOST]: "StopThenRedispatch" } });
  await fleet.until(async () => (await fleet.job("x"))?.status?.active === 1);
  await fleet.clock.advance(60_000);
  const from = (await fleet.job("x"))?.metadata.annotations?.[CLUSTER] ?? "";
  expect(await running()).toEqual([from]);
  await fault(from, seconds(lostAfter));
  await watch(LIMIT_MS, async () => {
    const now = await running();
    return now.length === 1 && now[0] !== from;
  });
  expect(await running()).not.toEqual([from]);
  expect((await fleet.job("x"))?.metadata.annotations?.[EPOCH]).toBe("2");
}

describe.each(["30s", "45s", "90s", "3m", "15m"])("StopThenRedispatch with lostAfter %s", (lostAfter) => {
  it.each(Object.entries(faults))("%s: one cluster stops before another starts", async (_, fault) => {
    await loseContact(lostAfter, fault, GRACE_SECONDS);
  });
});

it.each([1, 300])("StopThenRedispatch of pods that take %d s to stop", async (graceSeconds) => {
  await loseContact("30s", async (from) => cut(from), graceSeconds);
});
