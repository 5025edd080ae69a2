/** Pods of dispatched Jobs as the hub shows them, on a simulated fleet. */
import { nodes } from "@jobferry/manager/pods/node.ts";
import { DEFAULT_POD_SETTINGS, type PodSettings } from "@jobferry/manager/pods/settings.ts";
import type { JobSpec, Pod } from "@jobferry/shared/job/types.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { events, jobs, type KubeEvent, pods } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, MESSAGE, PODS, SHADOW_LABEL, WORKER_POD } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, describe, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

const HOUR = 3_600_000;

async function start(options: FleetOptions = {}, settings: Partial<PodSettings> = {}): Promise<void> {
  fleet = await new Fleet({ ...options, pods: { ...DEFAULT_POD_SETTINGS, ...settings } }).start();
}

const shadows = async (): Promise<Pod[]> =>
  (await fleet.hub.api.list(pods, { namespace: "default", labelSelector: SHADOW_LABEL })).items;

const phases = async (): Promise<string[]> => (await shadows()).map(({ status }) => status?.phase ?? "").sort();

async function workerPods(name: string): Promise<Pod[]> {
  const { items } = (await fleet.workers.get(name)?.cluster.api.list(pods, { namespace: "default" })) ?? { items: [] };
  return items;
}

const until = (what: () => Promise<boolean>) => fleet.until(what, 120_000);
const settled = () => fleet.clock.advance(2_000);

const indexed = (completions: number): Partial<JobSpec> => ({
  completionMode: "Indexed",
  completions,
  parallelism: completions,
});

async function onlyShadow(): Promise<Pod> {
  const [shadow, ...others] = await shadows();
  if (shadow === undefined || others.length > 0) throw new Error(`${others.length + 1} shadows, not one`);
  return shadow;
}

describe("a shadow", () => {
  it("is there before the Job is placed, keeps its name, and shows what becomes of the worker's pod", async () => {
    await start({ workers: ["east"] });
    await fleet.submit("j");
    await fleet.clock.advance(10);
    const early = await onlyShadow();
    expect(early).toMatchObject({ status: { phase: "Pending" }, spec: { nodeName: "jobferry" } });
    await until(async () => (await onlyShadow()).status?.phase === "Running");
    const [pod] = await workerPods("east");
    expect(await onlyShadow()).toMatchObject({
      metadata: {
        name: early.metadata.name,
        uid: early.metadata.uid,
        labels: { [CLUSTER]: "east", "job-name": "j" },
        annotations: { [WORKER_POD]: pod?.metadata.name },
      },
    });
    await fleet.untilFinished("j");
    await until(async () => (await onlyShadow()).status?.phase === "Succeeded");
    expect((await onlyShadow()).status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 0 });
  });

  it("says in words why its Job waits", async () => {
    await start({ workers: ["east"] });
    await fleet.submit("j", {}, { annotations: { "jobferry.dev/cluster-selector": "zone=nowhere" } });
    await settled();
    const { conditions } = (await onlyShadow()).status ?? {};
    expect(conditions).toEqual([
      expect.objectContaining({
        type: "PodScheduled",
        status: "False",
        message: expect.stringContaining("east: the Job's cluster selector does not match"),
      }),
    ]);
  });

  it("of each index stands for the pod of that index", async () => {
    await start({ workers: ["east"], behaviour: () => ({ runMs: HOUR }) });
    await fleet.submit("j", indexed(3));
    await until(async () => (await phases()).join() === "Running,Running,Running");
    for (const { metadata } of await shadows()) {
      const index = metadata.annotations?.["batch.kubernetes.io/job-completion-index"];
      expect(metadata.annotations?.[WORKER_POD]).toMatch(new RegExp(`^j-${index}-`));
      expect(metadata.name).toMatch(new RegExp(`^j-${index}-`));
    }
  });

  it("shows the exit code of a container that failed, and there is one for each try", async () => {
    await start({ workers: ["east"], behaviour: () => ({ runMs: 100, exitCode: 3 }) });
    await fleet.submit("j", { backoffLimit: 1 });
    await fleet.untilFinished("j");
    await settled();
    const codes = (await shadows()).map(({ status }) => status?.containerStatuses?.[0]?.state?.terminated?.exitCode);
    expect(codes).toEqual([3, 3]);
  });

  it("of a finished Job stays after the mirror has gone", async () => {
    await start({ workers: ["east"] });
    await fleet.submit("j");
    await fleet.untilFinished("j");
    await until(async () => (await fleet.mirrors("j")).length === 0);
    await settled();
    expect(await phases()).toEqual(["Succeeded"]);
  });

  it("goes with its Job, however that was deleted", async () => {
    await start({ workers: ["east"], behaviour: () => ({ runMs: HOUR }) });
    for (const propagationPolicy of ["Background", "Foreground"] as const) {
      await fleet.submit("j", { parallelism: 2, completions: 2 });
      await until(async () => (await phases()).join() === "Running,Running");
      await fleet.hub.api.delete(jobs, { namespace: "default", name: "j" }, { propagationPolicy });
      await until(async () => (await fleet.job("j")) === undefined && (await shadows()).length === 0);
    }
  });

  it("of a Job that moves is another one", async () => {
    await start({ behaviour: () => ({ runMs: HOUR }), spec: { lostAfter: "30s" } });
    await fleet.submit("j");
    await until(async () => (await phases()).join() === "Running");
    const before = await onlyShadow();
    const from = before.metadata.labels?.[CLUSTER] ?? "";
    await fleet.stopAgent(from);
    await until(async () => {
      const [now] = await shadows();
      return now?.metadata.labels?.[CLUSTER] !== from && now?.status?.phase === "Running";
    });
    expect((await onlyShadow()).metadata.name).not.toBe(before.metadata.name);
  });
});

describe("events of a pod", () => {
  const about = async (kind: string): Promise<string[]> => {
    const { items } = await fleet.hub.api.list(events, { namespace: "default" });
    return items
      .filter(({ involvedObject }) => involvedObject.kind === kind)
      .map(({ type, reason, message, count }) => `${type} ${reason} x${count} ${message}`);
  };
  const says = async (reason: string, type: "Normal" | "Warning", count = 1): Promise<void> => {
    const worker = fleet.workers.get("east")?.cluster.api;
    const [pod] = await workerPods("east");
    const { name, uid, namespace } = pod?.metadata ?? {};
    const at = new Date(fleet.clock.now()).toISOString();
    await worker?.create(events, "default", {
      metadata: { name: `${name}.${reason.toLowerCase()}`, namespace: "default" },
      involvedObject: { kind: "Pod", apiVersion: "v1", name, uid, namespace },
      ...{ type, reason, message: `${reason} it`, count, firstTimestamp: at, lastTimestamp: at },
    } as KubeEvent);
  };

  it("are told on its shadow: its start in one, warnings and its end one by one", async () => {
    await start({ workers: ["east"], behaviour: () => ({ runMs: HOUR }) });
    await fleet.submit("j");
    await until(async () => (await workerPods("east")).length === 1);
    await says("Scheduled", "Normal");
    await says("Pulled", "Normal");
    await says("BackOff", "Warning", 3);
    await until(async () => (await phases()).join() === "Running");
    await fleet.clock.advance(5_000);
    await says("Killing", "Normal");
    await fleet.clock.advance(5_000);
    expect((await about("Pod")).sort()).toEqual([
      "Normal Killing x1 [east] Killing it",
      expect.stringMatching(/^Normal \w+ x1 \[east\] .*Scheduled: Scheduled it; Pulled: Pulled it/),
      "Warning BackOff x3 [east] BackOff it",
    ]);
    expect(await onlyShadow()).toMatchObject({ metadata: { name: expect.stringMatching(/^j-/) } });
  });
});

describe("deleting a shadow", () => {
  it("deletes the worker's pod, and the Job controller makes another", async () => {
    await start({ workers: ["east"], behaviour: () => ({ runMs: HOUR }) });
    await fleet.submit("j");
    await until(async () => (await phases()).join() === "Running");
    const { metadata } = await onlyShadow();
    const [pod] = await workerPods("east");
    await fleet.hub.api.delete(pods, { namespace: "default", name: metadata.name ?? "" });
    await until(async () => {
      const now = await shadows();
      return now.length === 1 && now[0]?.metadata.name !== metadata.name && now[0]?.status?.phase === "Running";
    });
    expect((await workerPods("east")).map((each) => each.metadata.uid)).not.toContain(pod?.metadata.uid);
  });

  it.each([
    ["at once", { gracePeriodSeconds: 0 }],
    ["while no manager leads", {}],
  ])("%s touches no pod of the worker, and the shadow comes back", async (when, options) => {
    await start({ workers: ["east"], behaviour: () => ({ runMs: HOUR }) });
    await fleet.submit("j");
    await until(async () => (await phases()).join() === "Running");
    const { metadata } = await onlyShadow();
    const before = await workerPods("east");
    if (when.startsWith("while")) await fleet.stopManager();
    await fleet.hub.api.delete(pods, { namespace: "default", name: metadata.name ?? "" }, options);
    if (when.startsWith("while")) fleet.startManager();
    await until(async () => {
      const [now] = await shadows();
      return now?.metadata.uid !== metadata.uid && now?.status?.phase === "Running";
    });
    await fleet.clock.advance(120_000);
    expect((await workerPods("east")).map((each) => each.metadata.uid)).toEqual(
      before.map((each) => each.metadata.uid),
    );
    expect(await phases()).toEqual(["Running"]);
  });

  it("of a pod that has ended removes the shadow alone", async () => {
    await start({ workers: ["east"] });
    await fleet.submit("j");
    await fleet.untilFinished("j");
    await until(async () => (await phases()).join() === "Succeeded");
    await fleet.hub.api.delete(pods, { namespace: "default", name: (await onlyShadow()).metadata.name ?? "" });
    await fleet.clock.advance(20_000);
    expect(await shadows()).toEqual([]);
  });
});

describe("shadows", () => {
  it("are at most as many as allowed, the failed ones first", async () => {
    const isOdd = (pod: Pod): boolean =>
      Number(pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"]) % 4 === 3;
    await start(
      { workers: ["east"], behaviour: (pod) => ({ runMs: isOdd(pod) ? 5_000 : 1_000, exitCode: isOdd(pod) ? 1 : 0 }) },
      { maxShadowPods: 4 },
    );
    await fleet.submit("j", { ...indexed(12), backoffLimitPerIndex: 0 });
    await until(async () => {
      const { metadata } = await fleet.hub.api.get(jobs, { namespace: "default", name: "j" });
      return (
        metadata.annotations?.[MESSAGE] === "dispatched to east; the hub shows 4 of its pods, those that fail first"
      );
    });
    await fleet.untilFinished("j");
    await fleet.clock.advance(5_000);
    expect(await phases()).toEqual(["Failed", "Failed", "Failed", "Succeeded"]);
  });

  it("are not made for a Job that does not want them, nor while it is suspended", async () => {
    await start({ workers: ["east"] });
    await fleet.submit("none", {}, { annotations: { [PODS]: "None" } });
    await fleet.submit("later", { suspend: true });
    await fleet.untilFinished("none");
    await settled();
    expect(await shadows()).toEqual([]);
    await fleet.edit("later", { spec: { suspend: false } });
    await fleet.untilFinished("later");
    await settled();
    expect(await phases()).toEqual(["Succeeded"]);
  });

  it("survive a Redis that forgets, a manager that is replaced, and an agent that is", async () => {
    await start({ workers: ["east"], behaviour: () => ({ runMs: 20_000 }) });
    await fleet.submit("j");
    await until(async () => (await phases()).join() === "Running");
    const { metadata } = await onlyShadow();
    await fleet.stopManager();
    await fleet.stopAgent("east");
    await fleet.clock.advance(30_000);
    fleet.bus.flush();
    fleet.startAgent("east");
    await fleet.clock.advance(5_000);
    fleet.bus.flush();
    fleet.startManager();
    await fleet.untilFinished("j");
    await until(async () => (await phases()).join() === "Succeeded");
    expect((await onlyShadow()).metadata.uid).toBe(metadata.uid);
  });

  it("that the hub refuses are told of once, and the Job finishes", async () => {
    await start({ workers: ["east"] });
    const match = { client: "manager", verb: "create", resource: "pods" } as const;
    fleet.hub.faults.inject(match, { effect: "fail", code: 403 }, { times: Number.POSITIVE_INFINITY });
    await fleet.submit("j");
    const { status } = await fleet.untilFinished("j");
    expect(status?.succeeded).toBe(1);
    await settled();
    const { items } = await fleet.hub.api.list(events, { namespace: "default" });
    expect(items.filter(({ reason }) => reason === "ShadowPodRefused")).toHaveLength(1);
  });
});

it("a pod of somebody's own that has our label and the Job as its owner is not touched, and the Job's pods are shown", async () => {
  await start({ workers: ["east"] });
  const { metadata } = await fleet.submit("j", { suspend: true });
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "j", uid: metadata.uid ?? "", controller: true };
  const own = {
    metadata: { name: "own", labels: { [SHADOW_LABEL]: metadata.uid ?? "" }, ownerReferences: [owner] },
    spec: { nodeName: "real", containers: [{ name: "main", image: "busybox" }] },
  };
  const { metadata: before } = await fleet.hub.api.create(pods, "default", own);
  await fleet.edit("j", { spec: { suspend: false } });
  await fleet.untilFinished("j");
  await settled();
  const found = await shadows();
  expect(found.map(({ spec, status }) => `${spec.nodeName} ${status?.phase}`).sort()).toEqual([
    "jobferry Succeeded",
    "real Pending",
  ]);
  expect(found.find(({ spec }) => spec.nodeName === "real")?.metadata.uid).toBe(before.uid);
});

it.each([
  ["with shadows", {}, 5],
  ["without", { annotations: { [PODS]: "None" } }, 2],
])("%s a Job of one short pod costs the hub few writes, events aside", async (_, metadata, most) => {
  await start({ workers: ["east"], behaviour: () => ({ runMs: 10 }) });
  const writes: string[] = [];
  const aside = new Set(["events", "leases", "nodes", "workerclusters", "jobqueues"]);
  fleet.hub.faults.observeWrites({
    after: ({ client, verb, resource, subresource }) => {
      if (client === "manager" && !aside.has(resource)) writes.push(`${verb} ${resource} ${subresource ?? ""}`);
    },
  });
  await fleet.submit("j", {}, metadata);
  await fleet.untilFinished("j");
  await fleet.clock.advance(10_000);
  expect(writes.length, writes.join(", ")).toBeLessThanOrEqual(most);
});

it("the virtual node is Ready, has no room, and comes back when it was deleted", async () => {
  await start({ workers: ["east"] });
  const node = async () => fleet.hub.api.get(nodes, { name: "jobferry" });
  expect(await node()).toMatchObject({
    spec: { taints: [{ key: "jobferry.dev/virtual", effect: "NoSchedule" }] },
    status: {
      allocatable: { pods: "0" },
      conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready" })]),
    },
  });
  await fleet.hub.api.delete(nodes, { name: "jobferry" });
  await until(async () => {
    return node().then(
      () => true,
      (error: unknown) => !isNotFound(error),
    );
  });
});
