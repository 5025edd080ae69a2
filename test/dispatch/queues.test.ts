/** Priorities, budgets and what queues show, on a simulated fleet. */
import { type JobQueue, jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import type { JobSpec } from "@jobferry/shared/job/types.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { priorityClasses } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, MESSAGE, PRIORITY, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, describe, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

const start = async (queues: Record<string, NonNullable<JobQueue["spec"]>>, runMs = 20_000): Promise<void> => {
  fleet = await new Fleet({ workers: ["east"], behaviour: () => ({ runMs }) }).start();
  for (const [name, spec] of Object.entries(queues))
    await fleet.hub.api.create(jobQueues, undefined, { metadata: { name }, spec });
  await fleet.clock.advance(1_000);
};
const asking = (cpu: string, priorityClassName?: string): Partial<JobSpec> => ({
  template: {
    spec: {
      restartPolicy: "Never",
      containers: [{ name: "main", image: "none", resources: { requests: { cpu } } }],
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
    },
  },
});
const inQueue = (queue: string, annotations: Record<string, string> = {}) => ({
  labels: { [QUEUE_LABEL]: queue },
  annotations,
});
const clusterOf = async (name: string): Promise<string | undefined> =>
  (await fleet.job(name))?.metadata.annotations?.[CLUSTER];
const messageOf = async (name: string): Promise<string> =>
  (await fleet.job(name))?.metadata.annotations?.[MESSAGE] ?? "";
const statusOf = async (name: string) => (await fleet.hub.api.get(jobQueues, { name })).status;

describe("the PriorityClass of the pods", () => {
  const crds: Resource = {
    ...{ group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" },
    ...{ kind: "CustomResourceDefinition", namespaced: false },
  };
  /** The sandbox has none of its own. */
  const definition = {
    metadata: {
      name: "priorityclasses.scheduling.k8s.io",
      annotations: { "api-approved.kubernetes.io": "https://example.com" },
    },
    spec: {
      ...{ group: "scheduling.k8s.io", scope: "Cluster" },
      names: {
        plural: "priorityclasses",
        singular: "priorityclass",
        kind: "PriorityClass",
        listKind: "PriorityClassList",
      },
      versions: [
        {
          ...{ name: "v1", served: true, storage: true },
          schema: { openAPIV3Schema: { type: "object", properties: { value: { type: "integer" } } } },
        },
      ],
    },
  } as unknown as KubeObject;

  it("orders Jobs that name no priority, within bounds; an annotation wins", async () => {
    await start({ line: { quota: { jobs: 1 } } });
    await fleet.hub.api.create(crds, undefined, definition);
    for (const [name, value] of [
      ["high", 2_000_000_000],
      ["low", 5],
      ["negative", -10],
    ] as const)
      await fleet.hub.api.create(priorityClasses, undefined, { metadata: { name }, value });
    await fleet.clock.advance(61_000);
    await fleet.submit("first", asking("1"), inQueue("line"));
    await fleet.until(async () => (await clusterOf("first")) !== undefined, 10_000);
    await fleet.submit("below", asking("1", "negative"), inQueue("line"));
    await fleet.submit("plain", asking("1"), inQueue("line"));
    await fleet.submit("by-low", asking("1", "low"), inQueue("line"));
    await fleet.submit("by-word", asking("1", "low"), inQueue("line", { [PRIORITY]: "7" }));
    await fleet.submit("by-high", asking("1", "high"), inQueue("line"));
    const order: string[] = [];
    const names = ["below", "plain", "by-low", "by-word", "by-high"];
    await fleet.until(async () => {
      for (const name of names) if (!order.includes(name) && (await clusterOf(name)) !== undefined) order.push(name);
      return order.length === names.length;
    }, 300_000);
    expect(order).toEqual(["by-high", "by-word", "by-low", "below", "plain"]);
  });
});

describe("a budget", () => {
  it("stops new Jobs once it is spent, says until when, survives the manager, and goes on by itself", async () => {
    await start({ lab: { budget: { window: "2h", resourceHours: { cpu: "2" } } } }, 40 * 60_000);
    await fleet.submit("first", asking("4"), inQueue("lab"));
    await fleet.untilFinished("first", 3_600_000);
    await fleet.submit("second", asking("1"), inQueue("lab"));
    const spent =
      /^waiting: budget of queue lab: 2\d+m of 2 cpu-hours in 2 hours are spent; it can go on at 2026-01-01T02:00Z/;
    await fleet.until(async () => spent.test(await messageOf("second")), 30_000);
    await fleet.clock.advance(70_000);
    expect((await statusOf("lab"))?.budget?.spent.cpu).toMatch(/^2\.[67]/);
    expect((await statusOf("lab"))?.waiting).toEqual({ Budget: 1 });
    await fleet.stopManager();
    fleet.startManager();
    await fleet.clock.advance(60_000);
    expect(await clusterOf("second")).toBeUndefined();
    expect(await messageOf("second")).toMatch(spent);
    await fleet.until(async () => (await clusterOf("second")) !== undefined, 3 * 3_600_000);
    expect(fleet.clock.now()).toBeGreaterThanOrEqual(Date.parse("2026-01-01T02:00:00Z"));
  });
});

describe("the status of a queue", () => {
  it("says what its Jobs hold, its share, and why the others wait", async () => {
    await start({ lab: { quota: { resources: { cpu: "6" } } }, free: {} }, 600_000);
    await fleet.submit("runs", asking("4"), inQueue("lab"));
    await fleet.submit("beyond", asking("4"), inQueue("lab"));
    await fleet.submit("large", asking("100"), inQueue("free"));
    await fleet.submit("waits", asking("6"), inQueue("free"));
    await fleet.until(async () => (await statusOf("free"))?.waiting?.Impossible === 1, 60_000);
    expect(await statusOf("lab")).toMatchObject({
      ...{ pending: 1, running: 1, share: "0.500", waiting: { Quota: 1 } },
      usage: { cpu: "4000m" },
    });
    expect((await statusOf("free"))?.waiting).toEqual({ Impossible: 1, NoRoom: 1 });
    await fleet.hub.api.patch(jobQueues, { name: "lab" }, { type: "merge", body: { spec: { paused: true } } });
    await fleet.until(async () => (await statusOf("lab"))?.waiting?.Paused === 1, 30_000);
    expect((await statusOf("lab"))?.waiting).toEqual({ Paused: 1 });
  });
});
