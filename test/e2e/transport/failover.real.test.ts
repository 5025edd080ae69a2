/** A master of Redis dies in the middle of a burst of Jobs, behind Sentinels and in a Redis Cluster: every Job ends right, and once. */
import { readFileSync } from "node:fs";
import { Manager } from "@jobferry/manager/manager.ts";
import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { KUBERNETES_VERSION } from "@jobferry/sandbox/version.ts";
import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { clusterUser, MANAGER_USER } from "@jobferry/shared/queue/acl.ts";
import { RedisBus } from "@jobferry/shared/queue/redis-bus.ts";
import { readRedisFlags } from "@jobferry/shared/queue/redis-flags.ts";
import { RedisLanes } from "@jobferry/shared/queue/redis-lanes.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { Agent } from "@jobferry/worker-agent/agent.ts";
import { generateMirrorKey, parseMirrorKeys } from "@jobferry/worker-agent/proofs.ts";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { until } from "../../fleet/until.ts";
import { startRedisCluster, startSentinels, type Topology } from "./redis-topologies.ts";

const CLUSTERS = ["east", "west"];
const JOBS = 60;
/** On a pod template: how long its pods run. */
const RUN_MS = "test/run-ms";
const crds: Resource = {
  ...{ group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" },
  ...{ kind: "CustomResourceDefinition", namespaced: false },
};

/** Hub, two workers, manager and agents in this process, over this Redis. */
async function startFleet(topology: Topology, lostAfter = "5m") {
  const hub = new SandboxCluster({ name: "hub", seed: 1 });
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const buses: RedisBus[] = [];
  const workers = new Map<string, SandboxCluster>();
  const configOf = (user: string) => readRedisFlags(topology.flags(user));
  const common = { clock: realClock, logger: silentLogger };
  const managerKeys = generateKeyPair();
  await hub.start();
  for (const file of ["workerclusters", "jobqueues"]) {
    const text = readFileSync(new URL(`../../../deploy/crds/${file}.yaml`, import.meta.url), "utf8");
    await hub.api.create(crds, undefined, parse(text) as KubeObject);
  }
  const managerBus = new RedisBus({ ...common, config: configOf(MANAGER_USER) });
  buses.push(managerBus);
  await managerBus.start(30_000);
  running.push(
    new Manager({ ...common, api: hub.apiFor("manager"), bus: managerBus, keys: [managerKeys] }).run(stop.signal),
  );
  for (const name of CLUSTERS) {
    const cluster = parseClusterName(name);
    const keys = generateKeyPair();
    const worker = new SandboxCluster({
      ...{
        name,
        seed: name.length + name.charCodeAt(0),
        kubelet: "virtual" as const,
        behaviour: ({ metadata }: Pod) => ({ runMs: Number(metadata.annotations?.[RUN_MS] ?? 50) }),
      },
      nodes: [{ name: `${name}-node`, cpu: "200", memory: "160Gi", pods: 500 }],
    });
    await worker.start();
    workers.set(name, worker);
    const spec = { publicKey: keys.publicKey.text, lostAfter };
    await hub.api.create(workerClusters, undefined, { metadata: { name }, spec });
    const bus = new RedisBus({ ...common, config: configOf(clusterUser(cluster)), agentOf: cluster });
    buses.push(bus);
    await bus.start(30_000);
    const agent = new Agent({
      ...{ ...common, api: worker.apiFor("agent"), bus, cluster, keys: [keys], managerKeys: [managerKeys.publicKey] },
      ...{ mirrorKeys: parseMirrorKeys(generateMirrorKey()), version: "test", kubernetesVersion: KUBERNETES_VERSION },
      // So that every pod there ever was can be counted at the end.
      retentionMs: 3_600_000,
    });
    running.push(agent.run(stop.signal));
  }
  return {
    hub,
    workers,
    configOf,
    async stop() {
      stop.abort();
      await Promise.all(running);
      await Promise.all(buses.map((bus) => bus.close(1_000)));
      for (const worker of workers.values()) await worker.stop();
      await hub.stop();
    },
  };
}

it.each([
  ["Sentinels", startSentinels, false],
  ["Sentinels with TLS", startSentinels, true],
  ["a Redis Cluster", startRedisCluster, false],
  ["a Redis Cluster with TLS", startRedisCluster, true],
] as const)(
  "%s",
  async (_, startTopology, isTls) => {
    const topology = await startTopology(CLUSTERS, isTls);
    onTestFinished(() => topology.stop());
    const fleet = await startFleet(topology);
    onTestFinished(() => fleet.stop());
    const { hub, workers } = fleet;
    const connected = async (): Promise<boolean> =>
      (await hub.api.list(workerClusters, {})).items.every(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === "Connected" && is === "True"),
      );
    await until("both clusters are connected", connected);

    const finished = async () => (await hub.api.list(jobs, { namespace: "default" })).items.filter(isFinished);
    const template = { spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "busybox" }] } };
    for (let number = 0; number < JOBS; number++) {
      await hub.api.create(jobs, "default", {
        metadata: { name: `job-${number}` },
        spec: { managedBy: HUB_MANAGED_BY, template },
      });
      if (number === JOBS / 2) {
        await until("some have finished", async () => (await finished()).length > 0);
        await topology.killMaster("east");
      }
    }
    const ended = await until(
      "every Job has ended",
      async () => {
        const items = await finished();
        return items.length === JOBS && items;
      },
      { limitMs: 150_000, everyMs: 250 },
    );
    for (const { metadata, status } of ended)
      expect(status, metadata.name).toMatchObject({
        succeeded: 1,
        conditions: expect.arrayContaining([expect.objectContaining({ type: "Complete" })]),
      });
    const created = [];
    for (const worker of workers.values())
      for (const { metadata } of (await worker.api.list(pods, { namespace: "default" })).items)
        created.push(metadata.labels?.["job-name"]);
    expect(created.toSorted()).toEqual(ended.map(({ metadata }) => metadata.name).toSorted());
    expect(await topology.denied()).toEqual([]);

    // Pieces of logs find their way as well.
    const [manager, agent] = [
      new RedisLanes(fleet.configOf(MANAGER_USER), realClock, true),
      new RedisLanes(fleet.configOf(clusterUser(parseClusterName("east"))), realClock, false),
    ];
    onTestFinished(() => manager.close());
    onTestFinished(() => agent.close());
    const lane = { cluster: parseClusterName("east"), lane: "log-frames" } as const;
    const heard: string[] = [];
    manager.listen(lane, (piece) => heard.push(piece.toString()));
    await until("a piece has come", async () => {
      await agent.push(lane, Buffer.from("piece")).catch(() => {});
      return heard.length > 0;
    });
    expect(heard[0]).toBe("piece");
  },
  240_000,
);

/** West's keys are on another shard than east's (checked by their going on). */
it("a shard of a Redis Cluster that is away for longer than lostAfter moves no Job of its clusters", async () => {
  const topology = await startRedisCluster(CLUSTERS);
  onTestFinished(() => topology.stop());
  const fleet = await startFleet(topology, "30s");
  onTestFinished(() => fleet.stop());
  const { api } = fleet.hub;
  const contact = async (name: string) => {
    const { status } = await api.get(workerClusters, { name });
    const condition = status?.conditions?.find(({ type }) => type === "Connected");
    return { is: condition?.status, reason: condition?.reason, silentSeconds: status?.silentSeconds ?? 0 };
  };
  for (const name of CLUSTERS) await until(`${name} is connected`, async () => (await contact(name)).is === "True");
  const submit = async (name: string, runMs: number): Promise<void> => {
    const spec = { restartPolicy: "Never" as const, containers: [{ name: "main", image: "busybox" }] };
    const template = { metadata: { annotations: { [RUN_MS]: String(runMs) } }, spec };
    await api.create(jobs, "default", { metadata: { name }, spec: { managedBy: HUB_MANAGED_BY, template } });
  };
  const job = (name: string) => api.get(jobs, { namespace: "default", name });
  const place = async (name: string): Promise<string> => {
    const { annotations = {} } = (await job(name)).metadata;
    return `${annotations["jobferry.dev/cluster"]} ${annotations["jobferry.dev/epoch"]}`;
  };
  const long = ["a", "b", "c", "d", "e", "f"];
  for (const name of long) await submit(name, 100_000);
  for (const name of long) await until(`${name} runs`, async () => (await job(name)).status?.active === 1);
  const places = await Promise.all(long.map(place));
  expect(new Set(places)).toEqual(new Set(["east 1", "west 1"]));

  await topology.holdShard("east");
  const heldAt = performance.now();
  await until("it is said that east's queue cannot be reached", async () => {
    const { is, reason } = await contact("east");
    return is === "False" && reason === "QueueUnreachable";
  });
  let short = 0;
  while (performance.now() - heldAt < 60_000) {
    const name = `short-${short++}`;
    await submit(name, 50);
    await until(`${name} ends on west`, async () => isFinished(await job(name)));
    expect(await contact("west")).toMatchObject({ is: "True" });
    expect((await contact("east")).silentSeconds).toBeLessThan(30);
  }
  expect(await Promise.all(long.map(place))).toEqual(places);

  await topology.releaseShard("east");
  await until("east is connected again", async () => (await contact("east")).is === "True");
  for (const name of long) await until(`${name} ends`, async () => isFinished(await job(name)), { limitMs: 120_000 });
  expect(await Promise.all(long.map(place))).toEqual(places);
  for (const name of long) expect((await job(name)).status).toMatchObject({ succeeded: 1 });
}, 300_000);
