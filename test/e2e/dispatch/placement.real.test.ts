/** A.12 and A.13: which Job goes where and when, and what it says while it waits. */
import { type JobQueue, jobQueues, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { EPOCH, PRIORITY, QUEUE_LABEL, UNSCHEDULABLE_AFTER } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FleetNamespace, forever } from "./fleet-namespace.ts";
import { RealFleet } from "./real-fleet.ts";

/** Its pods are bound by kube-scheduler: what we take for room must be room. */
const fleet = new RealFleet({ workerNodes: [{ name: "instant" }] });
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

interface Node extends KubeObject {
  spec: object;
  status: object;
}
const nodes: Resource<Node> = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
const on = (cluster: string) => ({ annotations: { "jobferry.dev/cluster-selector": `name=${cluster}` } });
const inQueue = (name: string) => ({ labels: { [QUEUE_LABEL]: name } });

async function addQueue(name: string, spec: JobQueue["spec"]): Promise<void> {
  const kind = { apiVersion: "jobferry.dev/v1alpha1", kind: "JobQueue" };
  await fleet.hub.api.create(jobQueues, undefined, { ...kind, metadata: { name }, ...(spec && { spec }) });
}

const editQueue = (name: string, spec: object) =>
  fleet.hub.api.patch(jobQueues, { name }, { type: "merge", body: { spec } });

/** Where each of the Jobs went. */
async function clustersOf(at: FleetNamespace, names: readonly string[]): Promise<string[]> {
  const clusters: string[] = [];
  for (const name of names) {
    await at.until(`${name} is placed`, async () => (await at.cluster(name)) !== "");
    clusters.push(await at.cluster(name));
  }
  return clusters;
}

it.each([
  ["Spread", 2],
  ["Pack", 1],
] as const)("A.12 %s", async (placement, used) => {
  const at = await fleet.namespace(placement.toLowerCase());
  await addQueue(at.name, { placement });
  const names = ["a", "b", "c", "d"];
  for (const name of names) await at.submit(name, { ...inQueue(at.name), pod: forever, requests: { cpu: "4" } });
  const clusters = (await clustersOf(at, names)).sort();
  expect(new Set(clusters).size).toBe(used);
  if (placement === "Spread") expect(clusters).toEqual(["east", "east", "west", "west"]);
  for (const name of names) await at.delete(name);
  for (const name of names) await at.untilGone(name);
});

describe("beside each other", () => {
  it.concurrent("A.12 selectors of Job and JobQueue; a Job that can never fit says so", async () => {
    const at = await fleet.namespace("selectors");
    await addQueue("only-west", { clusterSelector: { matchLabels: { name: "west" } } });
    await at.submit("east", on("east"));
    await at.submit("west", inQueue("only-west"));
    await at.submit("never", { ...on("east"), ...inQueue("only-west") });
    expect((await at.untilFinished("east")).metadata.annotations).toMatchObject({ "jobferry.dev/cluster": "east" });
    expect((await at.untilFinished("west")).metadata.annotations).toMatchObject({ "jobferry.dev/cluster": "west" });
    await at.untilMessage(
      "never",
      /^cannot run anywhere until something is changed: west: the Job's cluster selector does not match$/,
    );
    await at.until("an event says so", async () => (await at.events("never")).length > 0);
    expect((await at.events("never")).map(({ type, reason }) => `${type}/${reason}`)).toEqual([
      "Warning/DispatchFailed",
    ]);
    await at.edit("never", { metadata: { annotations: { "jobferry.dev/cluster-selector": null } } });
    expect((await at.untilFinished("never")).status?.succeeded).toBe(1);
  });

  it.concurrent("A.12 a paused queue holds its Jobs back and shows how many", async () => {
    const at = await fleet.namespace("paused");
    await addQueue("paused", { paused: true });
    await at.submit("j", inQueue("paused"));
    await at.untilMessage("j", /^waiting: queue paused is paused$/);
    await at.until("the queue shows it", async () => {
      return (await fleet.hub.api.get(jobQueues, { name: "paused" })).status?.pending === 1;
    });
    await editQueue("paused", { paused: false });
    expect((await at.untilFinished("j")).status?.succeeded).toBe(1);
  });

  it.concurrent("A.13 the more important Job overtakes; among equals the first goes first", async () => {
    const at = await fleet.namespace("priorities");
    await addQueue("one", { quota: { jobs: 1 } });
    const submit = (name: string, priority: string) =>
      at.submit(name, { ...inQueue("one"), annotations: { [PRIORITY]: priority }, pod: forever });
    await submit("first", "0");
    await at.untilActive("first", 1);
    for (const name of ["z", "m", "a"]) await submit(name, "5");
    await submit("high", "1000000");
    for (const name of ["z", "m", "a", "high"])
      await at.untilMessage(name, /^waiting: queue one runs its quota of 1 Jobs$/);
    const order = ["first", "high", "z", "m", "a"];
    for (const [index, name] of order.entries()) {
      await at.untilActive(name, 1);
      expect(await Promise.all(order.slice(index + 1).map((later) => at.cluster(later)))).toEqual(
        order.slice(index + 1).map(() => ""),
      );
      await at.end(name, 0);
    }
    await at.untilFinished("a");
  });

  it.concurrent("A.12 a Job for which there is no room says so for each cluster, and goes when there is", async () => {
    const at = await fleet.namespace("room");
    for (const name of ["east", "west"]) {
      await at.submit(`full-${name}`, { ...on(name), pod: forever, requests: { cpu: "40" } });
      await at.untilActive(`full-${name}`, 1);
    }
    await at.submit("j", { requests: { cpu: "30" } });
    await at.untilMessage(
      "j",
      /^waiting: east, west: no room for one pod now \(cpu: asks 30, the most free on one node is 24\)$/,
    );
    await at.end("full-west", 0);
    expect((await at.untilFinished("j")).metadata.annotations).toMatchObject({ "jobferry.dev/cluster": "west" });
    await at.end("full-east", 0);
  });

  it.concurrent("A.12 a Job goes to the one cluster that has its GPUs, and waits where they are taken", async () => {
    const at = await fleet.namespace("gpus");
    const containers = [{ name: "main", image: "none", resources: { limits: { "nvidia.com/gpu": "2" } } }];
    const plain = { ...forever, spec: { containers } };
    await at.submit("before", { pod: plain });
    await at.untilMessage(
      "before",
      /^cannot run anywhere until something is changed: east, west: no node that matches is large enough for one pod \(nvidia.com\/gpu: asks 2, the largest has 0\)$/,
    );
    await at.delete("before");
    const taints = [{ key: "gpu", value: "only", effect: "NoSchedule" }];
    const resources = { cpu: "8", memory: "32Gi", pods: "100", "nvidia.com/gpu": "2" };
    const conditions = [{ type: "Ready", status: "True", reason: "Test" }];
    const status = { capacity: resources, allocatable: resources, conditions };
    const labels = { "kubernetes.io/hostname": "gpu", "nvidia.com/gpu.product": "A100" };
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "gpu", labels }, spec: { taints }, status };
    const west = fleet.worker("west").api;
    await west.create(nodes, undefined, node);
    await west.patch(nodes, { name: "gpu" }, { type: "merge", body: { status } }, { subresource: "status" });
    const tolerations = [{ key: "gpu", operator: "Exists" }];
    const pod = { ...forever, spec: { containers, tolerations, nodeSelector: { "nvidia.com/gpu.product": "A100" } } };
    await at.submit("first", { pod });
    await at.untilActive("first", 1);
    expect(await at.cluster("first")).toBe("west");
    await at.submit("second", { pod });
    await at.submit("intolerant", { pod: plain });
    await at.untilMessage(
      "second",
      /^waiting: east: its one node does not have the label nvidia.com\/gpu.product=A100; west: no room for one pod now \(nvidia.com\/gpu: asks 2, the most free on one node is 0\)$/,
    );
    await at.untilMessage("intolerant", /west: .*nvidia.com\/gpu: asks 2, the largest has 0/);
    await at.end("first", 0);
    await at.untilActive("second", 1);
    expect(await at.cluster("second")).toBe("west");
    await at.end("second", 0);
  });

  it.concurrent("A.12 a Job whose pods kube-scheduler cannot place moves, keeps its indexes, and says why", async () => {
    const at = await fleet.namespace("unschedulable");
    const beside = { labelSelector: { matchLabels: { app: "anchor" } }, topologyKey: "kubernetes.io/hostname" };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [beside] } };
    await at.submit("j", {
      annotations: { [UNSCHEDULABLE_AFTER]: "15s" },
      spec: { completionMode: "Indexed", completions: 2, parallelism: 1 },
      pod: { spec: { affinity, containers: [{ name: "main", image: "none" }] } },
    });
    await at.until("it is placed", async () => (await at.cluster("j")) !== "");
    const first = await at.cluster("j");
    const other = first === "east" ? "west" : "east";
    // Which pods run beside which is nothing that placement looks at: both clusters seem to fit.
    const containers = [{ name: "main", image: "none" }];
    await fleet.worker(other).api.create(pods, at.name, {
      metadata: { name: "anchor", labels: { app: "anchor" }, ...forever },
      spec: { restartPolicy: "Always", containers },
    });
    await at.until("it has moved", async () => (await at.cluster("j")) === other);
    const unschedulable = (await at.events("j")).find(({ reason }) => reason === "Unschedulable");
    expect(unschedulable?.message).toMatch(/^no node of cluster \w+ took its pods: .*didn't match pod affinity rules/);
    expect((await at.untilFinished("j")).status).toMatchObject({ succeeded: 2, completedIndexes: "0,1" });
  });

  it.concurrent("A.12 a pod larger than every node waits until there is a larger node", async () => {
    const at = await fleet.namespace("too-large");
    await at.submit("j", { requests: { memory: "1Ti" } });
    await at.untilMessage(
      "j",
      /^cannot run anywhere until something is changed: east, west: no node that matches is large enough for one pod \(memory: asks 1Ti, the largest has 256Gi\)$/,
    );
    const larger = JSON.stringify({ status: { allocatable: { memory: "2Ti" }, capacity: { memory: "2Ti" } } });
    await fleet
      .worker("east")
      .kubectl("patch", "node", "instant", "--subresource=status", "--type=merge", "-p", larger);
    expect((await at.untilFinished("j")).metadata.annotations).toMatchObject({ "jobferry.dev/cluster": "east" });
  });
});

it("A.12 maxJobs and cordon keep new Jobs away, and no longer when they are lifted", async () => {
  const at = await fleet.namespace("limits");
  const jobferry = (...args: string[]) => fleet.jobferry("cluster", ...args, "--kubeconfig", fleet.hub.kubeconfigPath);
  await fleet.configure("east", { maxJobs: 1 });
  await jobferry("cordon", "west");
  expect(JSON.parse(await jobferry("list", "--output", "json"))).toMatchObject([
    { name: "east", connected: "True", cordoned: false, draining: false },
    { name: "west", connected: "True", cordoned: true, draining: false },
  ]);
  await at.submit("first", { pod: forever });
  await at.untilActive("first", 1);
  expect(await at.cluster("first")).toBe("east");
  for (const name of ["second", "third"]) {
    await at.submit(name, { pod: forever });
    await at.untilMessage(name, /^waiting: east: runs its maximum of 1 Jobs; west: cordoned$/);
  }
  await at.end("first", 0);
  expect(await clustersOf(at, ["second"])).toEqual(["east"]);
  await jobferry("uncordon", "west");
  expect(await clustersOf(at, ["third"])).toEqual(["west"]);
  await fleet.configure("east", { maxJobs: null });
  for (const name of ["second", "third"]) await at.end(name, 0);
});

it("A.12 a cluster added while Jobs wait for it gets them", async () => {
  const at = await fleet.namespace("waiting-for-north");
  for (const name of ["a", "b"]) await at.submit(name, on("north"));
  await at.untilMessage("a", /^cannot run anywhere until something is changed/);
  const added = fleet.addWorker("north");
  await at.until("its namespace can be made", async () => fleet.workers.has("north"));
  await fleet.addNamespace("north", at.name);
  await added;
  for (const name of ["a", "b"]) expect((await at.untilFinished(name)).status?.succeeded).toBe(1);
  await fleet.kill("north");
  await fleet.jobferry("cluster", "forget", "north", "--force", "--kubeconfig", fleet.hub.kubeconfigPath);
}, 240_000);

it("an agent that trusts another manager's key is shown as such, and gets Jobs once its key is right", async () => {
  const at = await fleet.namespace("other-key");
  await at.submit("before", { ...on("west"), pod: forever });
  await at.untilActive("before", 1);
  await fleet.kill("west");
  fleet.startAgent("west", [], generateKeyPair().publicKey.text);
  const conditions = async () => (await fleet.hub.api.get(workerClusters, { name: "west" })).status?.conditions ?? [];
  const isSaid = (type: string, reason: string) => async () =>
    (await conditions()).some((condition) => condition.type === type && condition.reason === reason);
  await at.until("shown as such", isSaid("Connected", "MessagesRefused"));
  expect(await conditions()).toContainEqual(
    expect.objectContaining({
      type: "Connected",
      status: "False",
      message: expect.stringContaining(`put ${fleet.managerKey} un`),
    }),
  );
  await at.submit("j", on("west"));
  await at.untilMessage("j", /west: not connected/);
  await at.end("before", 0);
  expect(await at.cluster("j")).toBe("");
  await fleet.kill("west");
  fleet.startAgent("west");
  expect((await at.untilFinished("before")).status?.succeeded).toBe(1);
  expect((await at.untilFinished("j")).status?.succeeded).toBe(1);
  await at.until("accepting", isSaid("Ready", "Accepting"));
}, 240_000);

it("B a worker rebuilt under the same name gets nothing until it is enrolled again, and then goes on", async () => {
  const at = await fleet.namespace("rebuilt");
  const spec = { completionMode: "Indexed", completions: 2, parallelism: 2 } as const;
  await at.submit("old", { ...on("east"), spec, pod: forever });
  await at.end("old", 0, 1);
  await at.until("index 1 is done", async () => (await at.job("old"))?.status?.completedIndexes === "1");
  await fleet.kill("east");
  fleet.rebuild("east", "north");
  fleet.startAgent("east");
  const conditions = async () => (await fleet.hub.api.get(workerClusters, { name: "east" })).status?.conditions;
  await at.until("refused", async () => {
    return (await conditions())?.some(({ type, reason }) => type === "Ready" && reason === "Rebuilt") === true;
  });
  await at.submit("new", on("east"));
  await at.untilMessage("new", /east: the cluster was rebuilt and must be enrolled again/);
  expect(await at.mirrorOn("east", "old")).toBeUndefined();
  await fleet.kill("east");
  await fleet.renew("east");
  fleet.startAgent("east");
  expect((await at.untilFinished("new")).status?.succeeded).toBe(1);
  await at.end("old", 0, 0);
  const { status, metadata } = await at.untilFinished("old");
  expect(status).toMatchObject({ succeeded: 2, completedIndexes: "0,1" });
  expect(metadata.annotations?.[EPOCH]).toBe("1");
}, 240_000);
