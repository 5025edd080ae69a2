/** Queues that share a simulated fleet: cohorts, weights by resources, preferred clusters. */
import { type JobQueue, jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import { CLUSTER, MESSAGE, PRIORITY, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

const start = async (queues: Record<string, JobQueue["spec"]>, options: FleetOptions = {}): Promise<void> => {
  fleet = await new Fleet({ behaviour: () => ({ runMs: 600_000 }), ...options }).start();
  for (const [name, spec] of Object.entries(queues))
    await fleet.hub.api.create(jobQueues, undefined, { metadata: { name }, ...(spec && { spec }) });
};
const submit = (name: string, queue: string, cpu: string, annotations: Record<string, string> = {}) => {
  const resources = { requests: { cpu } };
  const template = {
    spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "none", resources }] },
  };
  return fleet.submit(name, { template }, { labels: { [QUEUE_LABEL]: queue }, annotations });
};
const clusterOf = async (name: string) => (await fleet.job(name))?.metadata.annotations?.[CLUSTER];
const placed = (name: string): Promise<void> => fleet.until(async () => (await clusterOf(name)) !== undefined, 60_000);
const says = (name: string, what: RegExp): Promise<void> =>
  fleet.until(async () => what.test((await fleet.job(name))?.metadata.annotations?.[MESSAGE] ?? ""), 60_000);
const statusOf = async (name: string) => (await fleet.hub.api.get(jobQueues, { name })).status;

it("a queue borrows what its cohort leaves idle, shows it, and no more than there is", async () => {
  const quota = { resources: { cpu: "4" } };
  await start({ day: { cohort: "team", quota }, night: { cohort: "team", quota } });
  await submit("own", "night", "4");
  await submit("lent", "night", "3");
  for (const name of ["own", "lent"]) await placed(name);
  await submit("more", "night", "2");
  await says(
    "more",
    /^waiting: quota of queue night \(cpu: asks 2, holds 7, may hold 4, and 1 of 8 are idle in cohort team\)$/,
  );
  await fleet.until(async () => (await statusOf("night"))?.borrowed?.cpu === "3000m", 30_000);
  expect(await statusOf("night")).toMatchObject({ usage: { cpu: "7000m" }, share: "0.438", running: 2, pending: 1 });
  await fleet.hub.api.patch(
    jobQueues,
    { name: "day" },
    { type: "merge", body: { spec: { quota: { resources: { cpu: "5" } } } } },
  );
  await placed("more");
});

it("room that comes back goes to the queue with the smaller share of the resources, not of the Jobs", async () => {
  await start({ large: {}, small: {} }, { workers: ["only"] });
  await submit("wide", "large", "4");
  for (let i = 0; i < 3; i++) await submit(`thin-${i}`, "small", "1");
  for (const name of ["wide", "thin-0", "thin-1", "thin-2"]) await placed(name);
  await submit("from-large", "large", "1");
  await submit("next-large", "large", "1", { [PRIORITY]: "9" });
  await submit("from-small", "small", "1");
  await placed("from-large");
  await says("from-small", /^waiting: only: no room/);
  const [thin] = ["thin-0"];
  await fleet.hub.api.delete(
    { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true },
    { namespace: "default", name: thin },
  );
  await placed("from-small");
  expect(await clusterOf("next-large")).toBeUndefined();
});

it("Ordered fills the preferred clusters first, and a priority above the queue's highest counts as that", async () => {
  const preferredClusters = [{ matchLabels: { name: "west" } }];
  await start({ own: { placement: "Ordered", preferredClusters, maxPriority: 5 } });
  for (const [name, cluster] of [
    ["a", "west"],
    ["b", "west"],
    ["c", "east"],
    ["d", "east"],
  ] as const) {
    await submit(name, "own", "4");
    await placed(name);
    expect(await clusterOf(name)).toBe(cluster);
  }
  await submit("first", "own", "4", { [PRIORITY]: "5" });
  await says("first", /no room/);
  await submit("greedy", "own", "4", { [PRIORITY]: "1000" });
  await says("greedy", /no room/);
  await fleet.hub.api.delete(
    { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true },
    { namespace: "default", name: "a" },
  );
  await placed("first");
  expect(await clusterOf("greedy")).toBeUndefined();
});
