/** Many Jobs with many references, and an agent that asks for more than its own, on a simulated fleet. */
import { jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import { configMaps, secrets } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, COPY_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { epoch, hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { ListedReference } from "@jobferry/shared/protocol/references.ts";
import { agentTransport } from "@jobferry/shared/queue/transport.ts";
import { Registry } from "prom-client";
import { afterEach, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

let fleet: Fleet;
let registry: Registry;
afterEach(() => fleet.stop());

const nodes = [{ name: "large", cpu: "1000", memory: "1000Gi", pods: 10_000 }];

async function start(options: FleetOptions = {}): Promise<void> {
  registry = new Registry();
  fleet = await new Fleet({ nodes: { east: nodes, west: nodes }, registry, ...options }).start();
}

const main = (fields: object): PodSpec => ({
  restartPolicy: "Never",
  containers: [{ name: "main", image: "busybox", ...fields }],
});
const volumes = (names: readonly string[]): PodSpec => ({
  ...main({}),
  volumes: names.map((name) => ({ name, configMap: { name } })),
});
const onHub = (name: string, text: string) =>
  fleet.hub.api.create(configMaps, "default", { metadata: { name }, data: { text } });
const copiesOn = async (cluster: string) =>
  (await fleet.workers.get(cluster)?.cluster.api.list(configMaps, { labelSelector: COPY_LABEL }))?.items.length;
const sent = async () => {
  const { values } = await (
    registry.getSingleMetric("jobferry_contents_sent_total") as {
      get(): Promise<{ values: { labels: { cluster?: string }; value: number }[] }>;
    }
  ).get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.cluster, value]));
};

it("1,000 Jobs that share one ConfigMap: one copy and one transfer for each cluster", {
  timeout: 120_000,
}, async () => {
  await start({ behaviour: () => ({ runMs: 3_600_000 }) });
  await onHub("words", "hello");
  const names = Array.from({ length: 1_000 }, (_, index) => `j${index}`);
  for (const name of names) await fleet.submit(name, { template: { spec: volumes(["words"]) } });
  const active = async () => (await fleet.podsOn("east")) + (await fleet.podsOn("west"));
  await fleet.until(async () => (await active()) === 1_000, 600_000);
  expect([await copiesOn("east"), await copiesOn("west")]).toEqual([1, 1]);
  expect(await sent()).toEqual({ east: 1, west: 1 });
});

it("10,000 distinct ConfigMaps: each travels once, few at a time", { timeout: 240_000 }, async () => {
  const PER_JOB = 50;
  const large = { workers: ["east"], behaviour: () => ({ runMs: 3_600_000 }) };
  await start(large);
  let [waiting, most] = [0, 0];
  const east = parseClusterName("east");
  const jobs = Array.from({ length: 200 }, (_, job) =>
    Array.from({ length: PER_JOB }, (_, index) => `m${job * PER_JOB + index}`),
  );
  for (const name of jobs.flat()) await onHub(name, `of ${name}`);
  for (const [index, names] of jobs.entries()) await fleet.submit(`j${index}`, { template: { spec: volumes(names) } });
  await fleet.until(async () => {
    waiting = await fleet.bus.waiting({ cluster: east, box: "deliveries" });
    most = Math.max(most, waiting);
    return (await fleet.podsOn("east")) === jobs.length;
  }, 3_600_000);
  expect(await copiesOn("east")).toBe(10_000);
  expect(await sent()).toEqual({ east: 10_000 });
  expect(most, "messages that wait at a time, contents among them").toBeLessThanOrEqual(100);
  expect(await fleet.bus.waiting({ cluster: east, box: "deliveries" })).toBe(0);
});

it("an agent that asks for what its deliveries do not list gets nothing, and is counted", async () => {
  const refused: string[] = [];
  await start({
    acceptReferences: new Set(["ConfigMap", "Secret"]),
    behaviour: () => ({ runMs: 3_600_000 }),
    onRefused: (cluster, code) => refused.push(`${cluster} ${code}`),
  });
  await fleet.hub.api.create(jobQueues, undefined, {
    metadata: { name: "default" },
    spec: { references: { secrets: "Copy" } },
  });
  await fleet.clock.advance(1_000);
  for (const name of ["mine", "others"])
    await fleet.hub.api.create(secrets, "default", { metadata: { name }, data: { k: "eA==" } });
  const ids: Record<string, ReturnType<typeof hubUid.parse>> = {};
  for (const [name, cluster] of [
    ["mine", "east"],
    ["others", "west"],
  ] as const) {
    const spec = main({ envFrom: [{ secretRef: { name } }] });
    const annotations = { "jobferry.dev/cluster-selector": `name=${cluster}` };
    ids[name] = hubUid.parse((await fleet.submit(name, { template: { spec } }, { annotations })).metadata.uid);
    await fleet.until(async () => (await fleet.job(name))?.status?.active === 1, 60_000);
    expect((await fleet.job(name))?.metadata.annotations?.[CLUSTER]).toBe(cluster);
  }
  const sentBefore = await sent();
  const worker = fleet.workers.get("east");
  if (worker === undefined) throw new Error("no east");
  const hostile = agentTransport({
    ...{ bus: fleet.bus, cluster: parseClusterName("east"), keys: [worker.keys] },
    managerKeys: [fleet.managerKeys.publicKey],
  });
  const ask = (job: string, ...references: ListedReference[]) =>
    hostile.sendReport({ kind: "ask", uid: ids[job] ?? hubUid.parse("none"), epoch: epoch.parse(1), references });
  const secret = (name: string): ListedReference => ({ kind: "Secret", name, hash: "ab".repeat(32) });
  refused.length = 0;
  // Another object of the same namespace; one of a Job that another cluster has; a Job that nobody has.
  await ask("mine", secret("others"));
  await ask("others", secret("others"));
  await ask("nobody", secret("others"));
  await fleet.clock.advance(5_000);
  expect(refused).toEqual(["east report/not-listed", "east report/not-its-job", "east report/not-its-job"]);
  expect(await sent()).toEqual(sentBefore);
});
