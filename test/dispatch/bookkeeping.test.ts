/** What the hub's own resources show of a simulated fleet. */
import { type JobQueue, jobQueues, type WorkerCluster, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { MAX_PAYLOAD_BYTES } from "@jobferry/shared/protocol/limits.ts";
import { CLUSTER, MESSAGE, QUEUE_LABEL, SEQ } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());
const start = async (options?: FleetOptions): Promise<void> => {
  fleet = await new Fleet(options).start();
};

const queue = (name: string): Promise<JobQueue> => fleet.hub.api.get(jobQueues, { name });
const cluster = (name: string): Promise<WorkerCluster> => fleet.hub.api.get(workerClusters, { name });
const condition = async (name: string, wanted: string): Promise<string> => {
  const found = (await cluster(name)).status?.conditions?.find(({ type }) => type === wanted);
  return `${found?.status} ${found?.reason}`;
};
const patchStatus = async (name: string, status: object): Promise<void> => {
  const body = { status };
  await fleet.hub.api.patch(workerClusters, { name }, { type: "merge", body }, { subresource: "status" });
};

it("a JobQueue shows how many of its Jobs wait and run, and of no other's", async () => {
  await start({ workers: ["only"], spec: { maxJobs: 2 }, behaviour: () => ({ runMs: 60_000 }) });
  for (const name of ["day", "night"])
    await fleet.hub.api.create(jobQueues, undefined, { metadata: { name }, spec: {} });
  const counts = async (name: string) => {
    const { status } = await queue(name);
    return [status?.pending, status?.running];
  };
  for (let i = 0; i < 5; i++) await fleet.submit(`n${i}`, {}, { labels: { [QUEUE_LABEL]: "night" } });
  await fleet.until(async () => String(await counts("night")) === "3,2", 30_000);
  expect(await counts("day")).toEqual([0, 0]);
  for (let i = 0; i < 5; i++) await fleet.untilFinished(`n${i}`);
  await fleet.until(async () => String(await counts("night")) === "0,0", 30_000);
});

it("F6 a stored report number that the worker's API server has not reached any more counts for nothing", async () => {
  await start({ workers: ["only"], behaviour: () => ({ runMs: 60_000 }) });
  await fleet.submit("j");
  await fleet.until(async () => (await fleet.job("j"))?.status?.active === 1);
  // As after a restore of the worker's etcd: what it numbers from now on is lower than what it had numbered.
  const [epoch, , from] = ((await fleet.job("j"))?.metadata.annotations?.[SEQ] ?? "").split(":");
  await fleet.edit("j", { metadata: { annotations: { [SEQ]: `${epoch}:5000:${from}` } } });
  expect((await fleet.untilFinished("j", 180_000)).status).toMatchObject({ succeeded: 1 });
});

it("F14 a Job that has grown too large for a message can be deleted", async () => {
  await start({ workers: ["only"], behaviour: () => ({ runMs: 600_000 }) });
  const env = Array.from({ length: 19_000 }, (_, i) => ({ name: `V${i}`, value: "x".repeat(50) }));
  const containers = [{ name: "main", image: "busybox", env }];
  await fleet.submit("j", { template: { spec: { restartPolicy: "Never", containers } } });
  await fleet.until(async () => (await fleet.job("j"))?.status?.active === 1);
  await fleet.edit("j", { metadata: { annotations: { notes: "y".repeat(250_000) } }, spec: { parallelism: 2 } });
  expect(JSON.stringify(await fleet.job("j")).length).toBeGreaterThan(MAX_PAYLOAD_BYTES);
  await fleet.hub.api.delete(jobs, { namespace: "default", name: "j" }, { propagationPolicy: "Background" });
  await fleet.until(async () => (await fleet.job("j")) === undefined, 60_000);
  expect(await fleet.mirrors("j")).toEqual([]);
});

it("another cluster under an enrolled name gets nothing until it is enrolled again", async () => {
  await start({ workers: ["east", "west"], behaviour: () => ({ runMs: 2_000 }) });
  // What the manager sees of a cluster that was built anew: an identity that is not the one it knows.
  await patchStatus("east", { clusterID: "the-one-before" });
  await fleet.until(async () => (await condition("east", "Ready")) === "False Rebuilt", 30_000);
  const selector = { annotations: { "jobferry.dev/cluster-selector": "name=east" } };
  await fleet.submit("x", {}, selector);
  await fleet.until(async () =>
    /must be enrolled again/.test((await fleet.job("x"))?.metadata.annotations?.[MESSAGE] ?? ""),
  );
  await fleet.submit("elsewhere");
  expect((await fleet.untilFinished("elsewhere")).metadata.annotations?.[CLUSTER]).toBe("west");
  expect((await cluster("east")).status?.clusterID).toBe("the-one-before");

  // As `jobferry cluster add --renew` does, here with the key the agent has already.
  await patchStatus("east", { clusterID: null });
  expect((await fleet.untilFinished("x", 120_000)).status?.succeeded).toBe(1);
  await fleet.until(async () => (await condition("east", "Ready")) === "True Accepting", 30_000);
  expect((await cluster("east")).status?.clusterID).not.toBe("the-one-before");
});

it("a cluster is shown as connected at its first word, not at the manager's next round", async () => {
  await start({ workers: ["east"] });
  await fleet.stopAgent("east");
  await fleet.until(async () => (await condition("east", "Connected")).startsWith("False"), 60_000);
  await fleet.stopManager();
  fleet.startManager();
  // The manager looks at its clusters at 0, 5 and 10 seconds.
  await fleet.clock.advance(7_000);
  fleet.startAgent("east");
  await fleet.clock.advance(1_000);
  expect(await condition("east", "Connected")).toBe("True Heartbeats");
});
