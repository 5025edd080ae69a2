/** Section C of the scenarios on a simulated fleet: Jobs that ask for the impossible or the unusual. */

import { jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import { events, jobs, namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import {
  CLUSTER,
  CLUSTER_SELECTOR,
  EPOCH,
  GENERATION,
  HUB_MANAGED_BY,
  HUB_UID_LABEL,
  MESSAGE,
  ON_CLUSTER_LOST,
  PRIORITY,
  QUEUE_LABEL,
  WORKER_MANAGED_BY,
} from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fleet } from "../dispatch/fleet.ts";

let fleet: Fleet;
beforeAll(async () => {
  fleet = await new Fleet({ behaviour: () => ({ runMs: 2_000, stopMs: 100 }) }).start();
  for (const name of ["night", "closed"])
    await fleet.hub.api.create(jobQueues, undefined, {
      metadata: { name },
      spec: name === "closed" ? { namespaceSelector: { matchLabels: { team: "nobody" } } } : {},
    });
});
afterAll(() => fleet.stop());

let serial = 0;
const unique = (): string => `job-${++serial}`;

/** A Job that nothing is wrong with completes, whatever else waits beside it. */
async function neighbourCompletes(): Promise<void> {
  const name = unique();
  await fleet.submit(name);
  expect((await fleet.untilFinished(name, 60_000)).status?.succeeded).toBe(1);
}

const message = async (name: string): Promise<string> => (await fleet.job(name))?.metadata.annotations?.[MESSAGE] ?? "";

async function eventsOf(name: string): Promise<string[]> {
  const { items } = await fleet.hub.api.list(events, { namespace: "default" });
  const ours = items.filter(({ involvedObject }) => involvedObject.name === name);
  return ours.map(({ type, reason, message: text }) => `${type} ${reason}: ${text}`);
}

describe("managedBy", () => {
  it.each(["jobferry.dev/managr", "jobferry.dev/Manager", "jobferry.dev/manager-2", WORKER_MANAGED_BY])(
    "%s is not ours on the hub: nothing is written, nothing dispatched",
    async (managedBy) => {
      const name = unique();
      const submitted = await fleet.submit(name, { managedBy });
      await neighbourCompletes();
      const job = await fleet.job(name);
      expect(job?.metadata.resourceVersion).toBe(submitted.metadata.resourceVersion);
      expect(await fleet.mirrors(name)).toEqual([]);
      expect(await eventsOf(name)).toEqual([]);
    },
  );

  it("the hub's on a worker is nobody's there: no loop, no pod", async () => {
    const name = unique();
    const worker = fleet.workers.get("east")?.cluster.api;
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } };
    const spec = { managedBy: HUB_MANAGED_BY, template };
    const submitted = await worker?.create(jobs, "default", { metadata: { name }, spec });
    await neighbourCompletes();
    const job = await worker?.get(jobs, { namespace: "default", name });
    expect(job?.metadata.resourceVersion).toBe(submitted?.metadata.resourceVersion);
    expect(await fleet.job(name)).toBeUndefined();
  });

  it("an agent's own on a worker runs there as a local Job, and the hub never hears of it", async () => {
    const name = unique();
    const worker = fleet.workers.get("east")?.cluster.api;
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } };
    await worker?.create(jobs, "default", { metadata: { name }, spec: { managedBy: WORKER_MANAGED_BY, template } });
    await fleet.until(async () => {
      const job = await worker?.get(jobs, { namespace: "default", name });
      return job !== undefined && isFinished(job);
    });
    await fleet.clock.advance(60_000);
    expect(await worker?.get(jobs, { namespace: "default", name })).toBeDefined();
    expect(await fleet.job(name)).toBeUndefined();
  });
});

interface Wish {
  metadata: Partial<Job["metadata"]>;
  says: RegExp;
  /** What heals it. */
  heal: object;
}

const wish = (annotation: string, text: string, says: RegExp): Wish => ({
  metadata: { annotations: { [annotation]: text } },
  says,
  heal: { metadata: { annotations: { [annotation]: null } } },
});
const priority = /jobferry.dev\/priority: .* is not a whole number from 0 to 1000000/;
const wishes: Record<string, Wish> = {
  "an unknown queue": {
    metadata: { labels: { [QUEUE_LABEL]: "nosuch" } },
    says: /there is no JobQueue nosuch/,
    heal: { metadata: { labels: { [QUEUE_LABEL]: "night" } } },
  },
  "a queue that excludes its namespace": {
    metadata: { labels: { [QUEUE_LABEL]: "closed" } },
    says: /queue closed does not accept namespace default/,
    heal: { metadata: { labels: { [QUEUE_LABEL]: "night" } } },
  },
  "a selector that does not parse": wish(
    CLUSTER_SELECTOR,
    "zone in (",
    /cluster-selector: "zone in \(" is not a label/,
  ),
  "a selector that selects nothing": wish(CLUSTER_SELECTOR, "zone=mars", /cannot run anywhere .* selector does not m/),
  "priority high": wish(PRIORITY, "high", priority),
  "a negative priority": wish(PRIORITY, "-1", priority),
  "priority 2^53": wish(PRIORITY, "9007199254740992", priority),
  "an unknown policy": wish(ON_CLUSTER_LOST, "Restart", /on-cluster-lost: "Restart" is none of Redispatch, Wait, Stop/),
};

describe("a Job with", () => {
  it.each(Object.entries(wishes))("%s waits and says why, runs once it is corrected", async (_, bad) => {
    const name = unique();
    await fleet.submit(name, {}, bad.metadata);
    await fleet.until(async () => bad.says.test(await message(name)));
    await neighbourCompletes();
    expect((await eventsOf(name)).some((text) => bad.says.test(text))).toBe(true);
    expect(await fleet.mirrors(name)).toEqual([]);
    await fleet.edit(name, bad.heal);
    expect((await fleet.untilFinished(name, 60_000)).status?.succeeded).toBe(1);
  });

  it("a queue that excludes its namespace runs when the namespace is let in", async () => {
    const name = unique();
    await fleet.submit(name, {}, { labels: { [QUEUE_LABEL]: "closed" } });
    await fleet.until(async () => /does not accept namespace/.test(await message(name)));
    const label = (team: string | null) =>
      fleet.hub.api.patch(namespaces, { name: "default" }, { type: "merge", body: { metadata: { labels: { team } } } });
    await label("nobody");
    expect((await fleet.untilFinished(name, 60_000)).status?.succeeded).toBe(1);
    await label(null);
  });
});

const condition = (job: Job): string | undefined =>
  job.status?.conditions?.find(({ type }) => type === "Complete" || type === "Failed")?.type;

const rules = Array.from({ length: 20 }, (_, index) => ({
  action: "Ignore" as const,
  onExitCodes: { operator: "In" as const, values: [index + 10] },
}));
const unusual: Record<string, { spec: Partial<JobSpec>; succeeded: number | undefined }> = {
  "completions 0": { spec: { completions: 0 }, succeeded: undefined },
  "completions 0 and Indexed": { spec: { completions: 0, completionMode: "Indexed" }, succeeded: undefined },
  "backoffLimit 0": { spec: { backoffLimit: 0 }, succeeded: 1 },
  "backoffLimit 2^31-1": { spec: { backoffLimit: 2_147_483_647 }, succeeded: 1 },
  "a podFailurePolicy with 20 rules": { spec: { podFailurePolicy: { rules } }, succeeded: 1 },
  "backoffLimitPerIndex and maxFailedIndexes at their ends": {
    spec: {
      completionMode: "Indexed",
      completions: 3,
      parallelism: 3,
      backoffLimitPerIndex: 2_147_483_647,
      maxFailedIndexes: 3,
    },
    succeeded: 3,
  },
};

describe("a Job with", () => {
  it.each(Object.entries(unusual))("%s completes as anywhere else", async (_, { spec, succeeded }) => {
    const name = unique();
    await fleet.submit(name, spec);
    const job = await fleet.untilFinished(name, 60_000);
    expect(condition(job)).toBe("Complete");
    expect(job.status?.succeeded).toBe(succeeded);
  });

  it("parallelism 0 is dispatched, runs nothing, and goes on when it is raised", async () => {
    const name = unique();
    await fleet.submit(name, { parallelism: 0 });
    await fleet.until(async () => (await fleet.mirrors(name)).length === 1);
    await fleet.clock.advance(30_000);
    const [{ cluster } = { cluster: "" }] = await fleet.mirrors(name);
    expect((await fleet.job(name))?.status?.active ?? 0).toBe(0);
    expect(await fleet.podsOn(cluster)).toBe(0);
    await neighbourCompletes();
    await fleet.edit(name, { spec: { parallelism: 1 } });
    expect((await fleet.untilFinished(name, 60_000)).status?.succeeded).toBe(1);
  });

  it("a selector written by hand runs with it on the worker", async () => {
    const name = unique();
    const labels = { app: "by-hand" };
    const template = {
      metadata: { labels },
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] },
    };
    await fleet.submit(name, { manualSelector: true, selector: { matchLabels: labels }, template });
    await fleet.until(async () => (await fleet.mirrors(name))[0]?.mirror.status?.active === 1);
    const [{ mirror, cluster } = { mirror: undefined, cluster: "" }] = await fleet.mirrors(name);
    expect(mirror?.spec.selector).toEqual({ matchLabels: labels });
    const { items } = (await fleet.workers.get(cluster)?.cluster.api.list(pods, { namespace: "default" })) ?? {};
    expect(items?.map(({ metadata }) => metadata.labels)).toContainEqual(labels);
    expect((await fleet.untilFinished(name, 60_000)).status?.succeeded).toBe(1);
  });

  it("labels and annotations that collide with ours runs under its own UID, and takes no other Job's place", async () => {
    const [victim, name] = [unique(), unique()];
    await fleet.submit(victim);
    const other = await fleet.job(victim);
    const submitted = await fleet.submit(
      name,
      {},
      {
        labels: { [HUB_UID_LABEL]: other?.metadata.uid ?? "", "job-name": "somebody-else" },
        annotations: { [EPOCH]: "x", [GENERATION]: "99", [MESSAGE]: "mine", "jobferry.dev/carry": "pending" },
      },
    );
    await fleet.until(async () => (await fleet.mirrors(name)).length === 1);
    const [{ mirror } = { mirror: undefined }] = await fleet.mirrors(name);
    expect(mirror?.metadata.labels?.[HUB_UID_LABEL]).toBe(submitted.metadata.uid);
    for (const each of [victim, name])
      expect((await fleet.untilFinished(each, 120_000)).status).toMatchObject({ succeeded: 1 });
  });

  it("an assignment that its submitter made up is not taken for one of ours", async () => {
    const name = unique();
    await fleet.submit(name, {}, { annotations: { [CLUSTER]: "../../etc", [EPOCH]: "7" } });
    const job = await fleet.untilFinished(name, 120_000);
    expect(job.status?.succeeded).toBe(1);
    expect(["east", "west"]).toContain(job.metadata.annotations?.[CLUSTER]);
    const stranger = unique();
    await fleet.submit(stranger, {}, { annotations: { [CLUSTER]: "no-such-cluster", [EPOCH]: "3" } });
    expect((await fleet.untilFinished(stranger, 120_000)).metadata.annotations?.[EPOCH]).toBe("4");
  });

  it("an assignment that its submitter made up does not bring it past the rules of its queue", async () => {
    const name = unique();
    const queue = {
      metadata: { name: "forbidden" },
      spec: { paused: true, clusterSelector: { matchLabels: { name: "east" } } },
    };
    await fleet.hub.api.create(jobQueues, undefined, queue);
    const annotations = { [CLUSTER]: "west", [EPOCH]: "1", "jobferry.dev/grant": "AAAA" };
    await fleet.submit(name, {}, { annotations, labels: { [QUEUE_LABEL]: "forbidden" } });
    await fleet.until(async () => /queue forbidden is paused/.test(await message(name)));
    expect((await fleet.job(name))?.metadata.annotations?.[CLUSTER]).toBeUndefined();
    expect(await fleet.mirrors(name)).toEqual([]);
  });
});
