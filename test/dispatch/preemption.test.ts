/** Jobs that take the room of others, and Jobs that have room kept for them, on a simulated fleet. */
import { type JobQueue, jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import { events } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, GANG, MESSAGE, PREEMPTED, PRIORITY, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, describe, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

const start = async (queues: Record<string, NonNullable<JobQueue["spec"]>>, workers = ["east", "west"]) => {
  fleet = await new Fleet({
    workers,
    behaviour: ({ metadata: { name = "" } }) => ({ runMs: /long/.test(name) ? 3_600_000 : 20_000 }),
  }).start();
  for (const [name, spec] of Object.entries(queues))
    await fleet.hub.api.create(jobQueues, undefined, { metadata: { name }, spec });
  await fleet.clock.advance(1_000);
};
const asking = (cpu: string, more: Partial<JobSpec> = {}): Partial<JobSpec> => ({
  ...more,
  template: {
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none", resources: { requests: { cpu } } }] },
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
const runs = (name: string, limitMs = 120_000): Promise<void> =>
  fleet.until(async () => ((await fleet.job(name))?.status?.ready ?? 0) > 0, limitMs);
const eventsOf = async (name: string): Promise<string[]> => {
  const { items } = await fleet.hub.api.list(events, { namespace: "default" });
  return items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`);
};
const preempted = (job: Job | undefined): string | undefined => job?.metadata.annotations?.[PREEMPTED];

describe("preemption", () => {
  const OWED = { quota: { resources: { cpu: "8" } }, preemption: { reclaim: "Any" } } as const;

  it("a queue takes back what it is guaranteed, from as few as needed, and both sides are told", async () => {
    await start({ prod: OWED, batch: {} });
    for (const name of ["long-a", "long-b", "long-c", "long-d"])
      await fleet.submit(name, asking("4"), inQueue("batch"));
    for (const name of ["long-a", "long-b", "long-c", "long-d"]) await runs(name);
    await fleet.clock.advance(15_000);
    await fleet.submit("urgent", asking("4"), inQueue("prod"));
    await fleet.until(
      async () => /^waiting: room is made for it on \w+: default\/long-/.test(await messageOf("urgent")),
      20_000,
    );
    await runs("urgent");
    const batch = await Promise.all(["long-a", "long-b", "long-c", "long-d"].map((name) => fleet.job(name)));
    const displaced = batch.filter((job) => preempted(job) !== undefined);
    expect(displaced).toHaveLength(1);
    const [victim] = displaced;
    expect(preempted(victim)).toMatch(/^1 2026-/);
    expect(await eventsOf(victim?.metadata.name ?? "")).toContainEqual(
      expect.stringMatching(
        /^Preempted: displaced from \w+: queue prod takes back what it is guaranteed, for default\/urgent$/,
      ),
    );
    expect(await eventsOf("urgent")).toContainEqual(expect.stringMatching(/^Queued: waiting: room is made for it on/));
    await fleet.untilFinished("urgent");
    await fleet.until(async () => (await clusterOf(victim?.metadata.name ?? "")) !== undefined, 60_000);
  });

  it("is off unless a queue says so", async () => {
    await start({ prod: { quota: { resources: { cpu: "8" } } }, batch: {} }, ["east"]);
    await fleet.submit("long", asking("8"), inQueue("batch"));
    await runs("long");
    await fleet.submit("urgent", asking("4"), inQueue("prod", { [PRIORITY]: "1000" }));
    await fleet.clock.advance(60_000);
    expect(await clusterOf("urgent")).toBeUndefined();
    expect((await fleet.job("long"))?.status?.ready).toBe(1);
  });

  it("within a queue the more important takes the place of another, which keeps its completed indexes", async () => {
    await start({ lab: { preemption: { withinQueue: "LowerPriority" } } }, ["east"]);
    const indexed = { completions: 4, parallelism: 1, completionMode: "Indexed" } as const;
    await fleet.submit("steps", asking("8", indexed), inQueue("lab"));
    await fleet.until(async () => (await fleet.job("steps"))?.status?.completedIndexes === "0,1");
    await fleet.submit("first", asking("8"), inQueue("lab", { [PRIORITY]: "10" }));
    await runs("first");
    expect(preempted(await fleet.job("steps"))).toMatch(/^1 /);
    expect((await fleet.job("steps"))?.status?.completedIndexes).toBe("0,1");
    await fleet.untilFinished("first");
    const done = await fleet.untilFinished("steps");
    expect(done.status).toMatchObject({ succeeded: 4, completedIndexes: "0-3" });
    expect(done.status?.failed ?? 0).toBe(0);
  });

  it("nobody is displaced again within ten minutes, and only then", async () => {
    await start({ lab: { preemption: { withinQueue: "LowerPriority" } } }, ["east"]);
    await fleet.submit("long", asking("8"), inQueue("lab"));
    await runs("long");
    await fleet.submit("one", asking("8"), inQueue("lab", { [PRIORITY]: "10" }));
    await fleet.untilFinished("one");
    await runs("long");
    await fleet.submit("two", asking("8"), inQueue("lab", { [PRIORITY]: "10" }));
    await fleet.clock.advance(480_000);
    expect(await clusterOf("two")).toBeUndefined();
    await fleet.until(async () => (await clusterOf("two")) !== undefined, 200_000);
    expect(preempted(await fleet.job("long"))).toMatch(/^2 /);
  });

  it("a manager that starts anew goes on with what was begun", async () => {
    await start({ prod: OWED, batch: {} }, ["east"]);
    await fleet.submit("long", asking("8"), inQueue("batch"));
    await runs("long");
    await fleet.stopAgent("east");
    await fleet.submit("urgent", asking("4"), inQueue("prod"));
    await fleet.until(async () => /^asked back from east/.test(await messageOf("long")), 20_000);
    await fleet.stopManager();
    fleet.startManager();
    fleet.startAgent("east");
    await runs("urgent");
    expect(preempted(await fleet.job("long"))).toMatch(/^1 /);
  });
});

describe("reserveAfter", () => {
  it.each([
    ["keeps room for a gang, which small Jobs would starve", "30s", true],
    ["does nothing unless it is set", undefined, false],
  ])("%s", async (_, reserveAfter, goes) => {
    const spec = reserveAfter === undefined ? {} : { reserveAfter };
    await start({ big: spec, small: {} }, ["east"]);
    let count = 0;
    const small = async () => fleet.submit(`s${count++}`, asking("4"), inQueue("small"));
    await small();
    await fleet.clock.advance(10_000);
    await small();
    const annotations = { [GANG]: "true" };
    await fleet.submit("gang", asking("4", { parallelism: 2, completions: 2 }), inQueue("big", annotations));
    for (let i = 0; i < 12; i++) {
      await fleet.clock.advance(10_000);
      await small();
    }
    expect((await clusterOf("gang")) !== undefined).toBe(goes);
  });
});
