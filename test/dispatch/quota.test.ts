/** Quotas hold, whatever a submitter edits after the Job was let in, and however it goes. */
import { type JobQueue, jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import type { JobSpec } from "@jobferry/shared/job/types.ts";
import { events, jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { ADMITTED, MESSAGE, PRIORITY, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, describe, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

const fleets: Fleet[] = [];
afterEach(async () => {
  await Promise.all(fleets.splice(0).map((fleet) => fleet.stop()));
});

const DAY_MS = 24 * 3_600_000;

async function aFleet(): Promise<Fleet> {
  const fleet = new Fleet({ workers: ["east"], behaviour: () => ({ runMs: DAY_MS, stopMs: 100 }) });
  fleets.push(fleet);
  return await fleet.start();
}

async function aQueue(fleet: Fleet, name: string, spec: NonNullable<JobQueue["spec"]>): Promise<void> {
  await fleet.hub.api.create(jobQueues, undefined, { metadata: { name }, spec });
  await fleet.clock.advance(1_000);
}

const asks = (cpu: string | undefined, spec: Partial<JobSpec> = {}): Partial<JobSpec> => ({
  ...spec,
  template: {
    spec: {
      restartPolicy: "Never",
      containers: [
        { name: "main", image: "busybox", ...(cpu === undefined ? {} : { resources: { requests: { cpu } } }) },
      ],
    },
  },
});
const inQueue = (queue: string) => ({ labels: { [QUEUE_LABEL]: queue } });
const activeOf = async (fleet: Fleet, name: string) => (await fleet.job(name))?.status?.active ?? 0;
const messageOf = async (fleet: Fleet, name: string) => (await fleet.job(name))?.metadata.annotations?.[MESSAGE];
const parallelismOnWorker = async (fleet: Fleet, name: string) =>
  (await fleet.mirrors(name))[0]?.mirror.spec.parallelism;
const usedOf = async (fleet: Fleet, name: string) => (await fleet.hub.api.get(jobQueues, { name })).status?.usage?.cpu;

async function eventsOf(fleet: Fleet, name: string): Promise<string[]> {
  const { items } = await fleet.hub.api.list(events, { namespace: "default" });
  return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason }) => reason ?? "");
}

describe("parallelism that is raised after the Job was let in", () => {
  const many = { parallelism: 1, completions: 50 };

  it("stays as it was while the quota has no room, says so, and follows when it has", async () => {
    const fleet = await aFleet();
    await aQueue(fleet, "cpu", { quota: { resources: { cpu: "3" } } });
    await fleet.submit("other", asks("2"), inQueue("cpu"));
    await fleet.submit("grows", asks("1", many), inQueue("cpu"));
    await fleet.until(async () => (await activeOf(fleet, "grows")) === 1);
    await fleet.edit("grows", { spec: { parallelism: 3 } });
    await fleet.until(async () => (await messageOf(fleet, "grows"))?.startsWith("runs with parallelism 1") === true);
    expect(await messageOf(fleet, "grows")).toBe(
      "runs with parallelism 1, not 3: the quota of queue cpu has no room for the rest (cpu)",
    );
    await fleet.clock.advance(120_000);
    expect([await activeOf(fleet, "grows"), await parallelismOnWorker(fleet, "grows")]).toEqual([1, 1]);
    expect(await eventsOf(fleet, "grows")).toContain("ParallelismHeld");

    await fleet.hub.api.delete(jobs, { namespace: "default", name: "other" }, { propagationPolicy: "Background" });
    await fleet.until(async () => (await activeOf(fleet, "grows")) === 3);
    expect(await messageOf(fleet, "grows")).toBe("dispatched to east");
    await fleet.clock.advance(10_000);
    expect(await usedOf(fleet, "cpu")).toBe("3000m");
  });

  it("is held by another manager, too, and follows when the quota is raised", async () => {
    const fleet = await aFleet();
    await aQueue(fleet, "cpu", { quota: { resources: { cpu: "1" } } });
    await fleet.submit("grows", asks("1", many), inQueue("cpu"));
    await fleet.until(async () => (await activeOf(fleet, "grows")) === 1);
    await fleet.stopManager();
    await fleet.edit("grows", { spec: { parallelism: 6 } });
    fleet.startManager();
    await fleet.clock.advance(120_000);
    expect([await activeOf(fleet, "grows"), await parallelismOnWorker(fleet, "grows")]).toEqual([1, 1]);

    await fleet.hub.api.patch(
      jobQueues,
      { name: "cpu" },
      { type: "merge", body: { spec: { quota: { resources: { cpu: "6" } } } } },
    );
    await fleet.until(async () => (await activeOf(fleet, "grows")) === 6);
  });

  it("takes no room twice: of two that grow at once into room for one, one does", async () => {
    const fleet = await aFleet();
    await aQueue(fleet, "cpu", { quota: { resources: { cpu: "3" } } });
    for (const name of ["a", "b"]) await fleet.submit(name, asks("1", many), inQueue("cpu"));
    await fleet.until(async () => (await activeOf(fleet, "a")) + (await activeOf(fleet, "b")) === 2);
    await Promise.all(["a", "b"].map((name) => fleet.edit(name, { spec: { parallelism: 2 } })));
    await fleet.clock.advance(60_000);
    expect((await activeOf(fleet, "a")) + (await activeOf(fleet, "b"))).toBe(3);
    // What one gives back, the other gets.
    const grown = (await activeOf(fleet, "a")) === 2 ? "a" : "b";
    await fleet.edit(grown, { spec: { parallelism: 1 } });
    await fleet.until(async () => (await activeOf(fleet, grown === "a" ? "b" : "a")) === 2);
    expect(await activeOf(fleet, grown)).toBe(1);
  });

  it("of an elastic Indexed Job: all indexes are run, no more at a time than the quota has room for", async () => {
    const fleet = await aFleet();
    await aQueue(fleet, "cpu", { quota: { resources: { cpu: "2" } } });
    const elastic = { completionMode: "Indexed", parallelism: 2, completions: 2 } as const;
    await fleet.submit("grows", asks("1", elastic), inQueue("cpu"));
    await fleet.until(async () => (await activeOf(fleet, "grows")) === 2);
    await fleet.edit("grows", { spec: { parallelism: 4, completions: 4 } });
    await fleet.clock.advance(60_000);
    const [found] = await fleet.mirrors("grows");
    expect(found?.mirror.spec).toMatchObject({ completions: 4, parallelism: 2 });
    expect(await activeOf(fleet, "grows")).toBe(2);
  });

  it("is free where the queue has no quota, and counts from then on", async () => {
    const fleet = await aFleet();
    await aQueue(fleet, "open", {});
    await fleet.submit("grows", asks("1", many), inQueue("open"));
    await fleet.until(async () => (await activeOf(fleet, "grows")) === 1);
    await fleet.edit("grows", { spec: { parallelism: 4 } });
    await fleet.until(async () => (await activeOf(fleet, "grows")) === 4);
    // A quota that comes later takes nothing away.
    await fleet.hub.api.patch(
      jobQueues,
      { name: "open" },
      { type: "merge", body: { spec: { quota: { resources: { cpu: "2" } } } } },
    );
    await fleet.stopManager();
    fleet.startManager();
    await fleet.clock.advance(60_000);
    expect(await activeOf(fleet, "grows")).toBe(4);
  });

  it.each([
    ["taken off", null],
    ["made up", `6:${"A".repeat(43)}`],
  ])("is not had by a mark that is %s", async (_, mark) => {
    const fleet = await aFleet();
    await aQueue(fleet, "cpu", { quota: { resources: { cpu: "1" } } });
    await fleet.submit("grows", asks("1", many), inQueue("cpu"));
    await fleet.until(async () => (await activeOf(fleet, "grows")) === 1);
    await fleet.edit("grows", { spec: { parallelism: 6 }, metadata: { annotations: { [ADMITTED]: mark } } });
    await fleet.clock.advance(120_000);
    expect(await activeOf(fleet, "grows")).toBeLessThanOrEqual(1);
  });
});

describe("a Job that is relabelled while it runs", () => {
  it("counts for the queue that it was placed by", async () => {
    const fleet = await aFleet();
    await aQueue(fleet, "default", { quota: { jobs: 2 } });
    await aQueue(fleet, "payments", { namespaceSelector: { matchLabels: { team: "payments" } }, quota: { jobs: 5 } });
    const names = ["a", "b", "c", "d"];
    for (const name of names) await fleet.submit(name);
    const running = async () => (await Promise.all(names.map((name) => activeOf(fleet, name)))).filter(Boolean).length;
    await fleet.until(async () => (await running()) === 2);
    for (const name of names)
      if ((await activeOf(fleet, name)) > 0) await fleet.edit(name, { metadata: inQueue("payments") });
    await fleet.clock.advance(60_000);
    expect(await running()).toBe(2);
    const { status } = await fleet.hub.api.get(jobQueues, { name: "payments" });
    expect(status?.running).toBe(0);
  });
});

describe("requests that are changed while the Job is suspended", () => {
  it("are asked of the quota anew: the Job leaves its cluster and waits", async () => {
    const fleet = await aFleet();
    await aQueue(fleet, "cpu", { quota: { resources: { cpu: "2" } } });
    await fleet.submit("fat", asks("1"), inQueue("cpu"));
    await fleet.until(async () => (await activeOf(fleet, "fat")) === 1);
    await fleet.edit("fat", { spec: { suspend: true } });
    await fleet.until(async () => (await fleet.podsOn("east")) === 0);
    await fleet.edit("fat", { spec: asks("8") });
    await fleet.edit("fat", { spec: { suspend: false } });
    await fleet.until(async () => (await messageOf(fleet, "fat"))?.includes("quota of queue cpu") === true);
    expect(await fleet.podsOn("east")).toBe(0);
    expect(await eventsOf(fleet, "fat")).toContain("RequestsChanged");
    await fleet.edit("fat", { spec: { suspend: true } });
    await fleet.edit("fat", { spec: asks("2") });
    await fleet.edit("fat", { spec: { suspend: false } });
    await fleet.until(async () => (await activeOf(fleet, "fat")) === 1);
  });
});

describe("deletion with --cascade=orphan", () => {
  const orphan = { propagationPolicy: "Orphan" } as const;

  it("leaves no pods beyond the quota: they go with the Job, which is said", async () => {
    const fleet = await aFleet();
    await aQueue(fleet, "default", { quota: { jobs: 1 } });
    for (let i = 0; i < 3; i++) {
      await fleet.submit(`o${i}`);
      await fleet.until(async () => (await activeOf(fleet, `o${i}`)) === 1);
      await fleet.hub.api.delete(jobs, { namespace: "default", name: `o${i}` }, orphan);
      await fleet.until(async () => (await fleet.job(`o${i}`)) === undefined);
      expect(await eventsOf(fleet, `o${i}`)).toContain("OrphansDeleted");
    }
    await fleet.until(async () => (await fleet.podsOn("east")) === 0);
  });

  it("leaves them where the queue allows it", async () => {
    const fleet = await aFleet();
    await aQueue(fleet, "default", { allowOrphans: true });
    await fleet.submit("o");
    await fleet.until(async () => (await activeOf(fleet, "o")) === 1);
    await fleet.hub.api.delete(jobs, { namespace: "default", name: "o" }, orphan);
    await fleet.until(async () => (await fleet.job("o")) === undefined);
    await fleet.clock.advance(60_000);
    const worker = fleet.workers.get("east")?.cluster.api;
    const left = await worker?.list(pods, { namespace: "default" });
    expect(left?.items.map(({ status }) => status?.phase)).toEqual(["Running"]);
    expect(await eventsOf(fleet, "o")).not.toContain("OrphansDeleted");
  });
});

describe("a Job that does not request what its queue limits", () => {
  it("waits, and is told what to request", async () => {
    const fleet = await aFleet();
    await aQueue(fleet, "cpu", { quota: { resources: { cpu: "4" } } });
    await fleet.submit("none", asks(undefined, { parallelism: 10, completions: 10 }), inQueue("cpu"));
    await fleet.submit(
      "limit",
      {
        ...asks(undefined),
        template: {
          spec: {
            restartPolicy: "Never",
            containers: [{ name: "main", image: "busybox", resources: { limits: { cpu: "1" } } }],
          },
        },
      },
      inQueue("cpu"),
    );
    await fleet.until(async () => (await activeOf(fleet, "limit")) === 1);
    await fleet.until(async () => (await messageOf(fleet, "none")) !== undefined);
    expect(await messageOf(fleet, "none")).toBe("waiting: queue cpu limits cpu: the Job must request it");
    expect(await activeOf(fleet, "none")).toBe(0);
  });
});

describe("a priority above the queue's maxPriority", () => {
  const urgent = { annotations: { [PRIORITY]: "1000000" } };
  const note = "its priority 1000000 counts as 5, the maxPriority of queue default";

  it("counts as that, and both the Job that waits and the one that runs are told", async () => {
    const fleet = await aFleet();
    await aQueue(fleet, "default", { maxPriority: 5, quota: { jobs: 1 } });
    await fleet.submit("first", {}, urgent);
    await fleet.until(async () => (await activeOf(fleet, "first")) === 1);
    expect(await messageOf(fleet, "first")).toBe(`dispatched to east; ${note}`);
    await fleet.submit("modest", {}, { annotations: { [PRIORITY]: "5" } });
    await fleet.clock.advance(1_000);
    await fleet.submit("loud", {}, urgent);
    await fleet.until(async () => (await messageOf(fleet, "loud"))?.includes(note) === true);
    expect(await eventsOf(fleet, "loud")).toContain("PriorityCapped");
    expect(await eventsOf(fleet, "modest")).not.toContain("PriorityCapped");
    await fleet.hub.api.delete(jobs, { namespace: "default", name: "first" }, { propagationPolicy: "Background" });
    await fleet.until(async () => (await activeOf(fleet, "modest")) === 1);
    expect(await activeOf(fleet, "loud")).toBe(0);
  });
});
