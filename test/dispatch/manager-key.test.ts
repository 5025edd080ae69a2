/** Agents that trust another manager's key than the one that deliveries are sealed with, on a simulated fleet. */
import { type WorkerCluster, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { CLUSTER, EPOCH, MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());
const start = async (options: FleetOptions): Promise<void> => {
  fleet = await new Fleet(options).start();
};

const onEast = { annotations: { "jobferry.dev/cluster-selector": "name=east" } };
const forLong = { behaviour: () => ({ runMs: 3_600_000, stopMs: 100 }), spec: { lostAfter: "2m" } };
const another = generateKeyPair();

/** The agent trusts a manager that there is not: nobody can open what it sends. */
async function misconfigure(name: string): Promise<void> {
  await fleet.stopAgent(name);
  fleet.startAgent(name, { managerKeys: [another.publicKey] });
}

async function mend(name: string): Promise<void> {
  await fleet.stopAgent(name);
  fleet.startAgent(name);
}

const condition = async (name: string, wanted: string): Promise<string> => {
  const { status }: WorkerCluster = await fleet.hub.api.get(workerClusters, { name });
  const found = status?.conditions?.find(({ type }) => type === wanted);
  return `${found?.status} ${found?.reason}`;
};
const isActive = (name: string) => async () => (await fleet.job(name))?.status?.active === 1;
const epochOf = async (name: string) => (await fleet.job(name))?.metadata.annotations?.[EPOCH];

it("it is shown once it counts as silent, gets no Job, and goes on once its key is right", async () => {
  await start({ behaviour: () => ({ runMs: 20_000 }) });
  await fleet.submit("before", {}, onEast);
  await fleet.until(isActive("before"));
  await misconfigure("east");
  await fleet.until(async () => (await condition("east", "Connected")) === "False MessagesRefused", 30_000);
  const { status } = await fleet.hub.api.get(workerClusters, { name: "east" });
  expect(status?.conditions?.[0]?.message).toContain(`put ${fleet.managerKeys.publicKey.text} under manager-key`);
  expect(await condition("east", "Ready")).toBe("False NotConnected");
  await fleet.submit("x", {}, onEast);
  await fleet.submit("elsewhere");
  expect((await fleet.untilFinished("elsewhere")).metadata.annotations?.[CLUSTER]).toBe("west");
  expect((await fleet.job("x"))?.metadata.annotations?.[CLUSTER]).toBeUndefined();
  await mend("east");
  expect((await fleet.untilFinished("x", 60_000)).metadata.annotations?.[CLUSTER]).toBe("east");
  expect((await fleet.untilFinished("before", 60_000)).status?.succeeded).toBe(1);
  expect(await condition("east", "Connected")).toBe("True Heartbeats");
});

it("one that was forgotten while the key was changed is shown at its first word, gets no Job and still reports", async () => {
  await start({ behaviour: () => ({ runMs: 20_000 }) });
  await fleet.submit("before", {}, onEast);
  await fleet.until(isActive("before"));
  await fleet.stopAgent("west");
  fleet.startAgent("west", { managerKeys: [fleet.managerKeys.publicKey, another.publicKey] });
  await fleet.stopManager();
  fleet.startManager([another, fleet.managerKeys]);
  await fleet.until(async () => (await condition("east", "Connected")) === "False OtherManagerKey", 10_000);
  expect(await condition("east", "Ready")).toBe("False OtherManagerKey");
  await fleet.submit("x", {}, onEast);
  await fleet.until(async () => (await fleet.job("x"))?.metadata.annotations?.[MESSAGE] !== undefined);
  expect((await fleet.job("x"))?.metadata.annotations?.[MESSAGE]).toBe(
    "waiting: east: its agent trusts another manager key; west: the Job's cluster selector does not match",
  );
  await fleet.submit("elsewhere");
  expect((await fleet.untilFinished("elsewhere")).metadata.annotations?.[CLUSTER]).toBe("west");
  // What it says can be opened: what it finishes is finished.
  expect((await fleet.untilFinished("before")).status?.succeeded).toBe(1);
  expect((await fleet.job("x"))?.metadata.annotations?.[CLUSTER]).toBeUndefined();
  await fleet.stopAgent("east");
  fleet.startAgent("east", { managerKeys: [another.publicKey] });
  expect((await fleet.untilFinished("x", 60_000)).metadata.annotations?.[CLUSTER]).toBe("east");
  await fleet.until(async () => (await fleet.mirrors("before")).length === 0, 120_000);
});

it("it holds up no deletion, and removes the mirror once its key is right", async () => {
  await start(forLong);
  await fleet.submit("j", {}, onEast);
  await fleet.until(isActive("j"));
  await misconfigure("east");
  await fleet.hub.api.delete(jobs, { namespace: "default", name: "j" }, { propagationPolicy: "Background" });
  await fleet.until(async () => (await fleet.job("j")) === undefined, 70_000);
  expect(await fleet.mirrors("j")).toHaveLength(1);
  await mend("east");
  await fleet.until(async () => (await fleet.mirrors("j")).length === 0, 30_000);
});

it("past lostAfter its Jobs go on elsewhere, as if it were silent", async () => {
  await start({ ...forLong, workers: ["east", "west", "north"] });
  await fleet.submit("j", {}, { annotations: { "jobferry.dev/cluster-selector": "name in (east, west)" } });
  await fleet.until(isActive("j"));
  const first = (await fleet.job("j"))?.metadata.annotations?.[CLUSTER] ?? "";
  await misconfigure(first);
  await fleet.until(async () => (await epochOf("j")) === "2", 240_000);
  await mend(first);
  await fleet.until(async () => (await fleet.podsOn(first)) === 0, 60_000);
  const second = (await fleet.job("j"))?.metadata.annotations?.[CLUSTER];
  expect([first, second].sort()).toEqual(["east", "west"]);
});

it("a manager with another key than all of them trust moves nothing", async () => {
  await start(forLong);
  await fleet.submit("j");
  await fleet.until(isActive("j"));
  await fleet.stopManager();
  fleet.startManager([another]);
  await fleet.clock.advance(600_000);
  for (const name of ["east", "west"]) expect(await condition(name, "Connected")).toBe("False MessagesRefused");
  expect(await epochOf("j")).toBe("1");
  await fleet.stopManager();
  fleet.startManager();
  await fleet.until(async () => (await condition("east", "Ready")) === "True Accepting", 30_000);
  expect(await epochOf("j")).toBe("1");
});
