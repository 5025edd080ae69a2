/** Section A of the scenarios on a simulated fleet; the numbers in the names are its numbers. */

import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { completionIndex } from "@jobferry/shared/job/pods.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, EPOCH, MESSAGE, PRIORITY } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

let fleet: Fleet;
const start = async (options?: FleetOptions): Promise<Fleet> => {
  fleet = await new Fleet(options).start();
  return fleet;
};
afterEach(() => fleet.stop());

const conditions = (job: Awaited<ReturnType<Fleet["job"]>>) =>
  job?.status?.conditions?.map(({ type, reason }) => `${type}/${reason}`);

it("A.1 runs a Job on a worker, shows it on the hub, and leaves nothing behind", async () => {
  await start();
  await fleet.submit("pi");
  await fleet.until(async () => ((await fleet.job("pi"))?.status?.active ?? 0) === 1);
  const running = await fleet.job("pi");
  expect(running?.status?.startTime).toBeDefined();
  const [{ cluster } = { cluster: "" }] = await fleet.mirrors("pi");
  expect(running?.metadata.annotations?.[CLUSTER]).toBe(cluster);

  const finished = await fleet.untilFinished("pi");
  expect(conditions(finished)).toEqual(["SuccessCriteriaMet/CompletionsReached", "Complete/CompletionsReached"]);
  expect(finished.status).toMatchObject({ succeeded: 1, ready: 0, terminating: 0 });
  expect(finished.status?.completionTime).toBeDefined();
  expect(finished.metadata.finalizers ?? []).toEqual([]);
  await fleet.until(async () => (await fleet.mirrors("pi")).length === 0 && (await fleet.podsOn(cluster)) === 0);
});

it("A.2 mirrors a failure with its reason and message", async () => {
  await start({ behaviour: () => ({ runMs: 1_000, exitCode: 3 }) });
  await fleet.submit("bad", { backoffLimit: 0 });
  const failed = await fleet.untilFinished("bad");
  expect(conditions(failed)).toEqual(["FailureTarget/BackoffLimitExceeded", "Failed/BackoffLimitExceeded"]);
  expect(failed.status?.failed).toBe(1);
});

it("A.5 created suspended: waits on the hub; resumed: runs; suspended while running: stops and continues", async () => {
  await start({ behaviour: () => ({ runMs: 20_000, stopMs: 500 }) });
  await fleet.submit("s", { suspend: true });
  await fleet.until(async () => conditions(await fleet.job("s"))?.[0] === "Suspended/JobSuspended");
  expect(await fleet.mirrors("s")).toEqual([]);
  await fleet.edit("s", { spec: { suspend: false } });
  await fleet.until(async () => (await fleet.job("s"))?.status?.active === 1);
  expect(conditions(await fleet.job("s"))).toEqual(["Suspended/JobResumed"]);
  await fleet.edit("s", { spec: { suspend: true } });
  await fleet.until(async () => conditions(await fleet.job("s"))?.[0] === "Suspended/JobSuspended");
  expect((await fleet.job("s"))?.status).toMatchObject({ ready: 0 });
  expect((await fleet.job("s"))?.status?.startTime).toBeUndefined();
  await fleet.edit("s", { spec: { suspend: false } });
  expect((await fleet.untilFinished("s")).status?.succeeded).toBe(1);
});

it("A.6 follows parallelism while running", async () => {
  await start({ behaviour: () => ({ runMs: 30_000 }) });
  await fleet.submit("p", { parallelism: 1, completions: 4 });
  await fleet.until(async () => (await fleet.job("p"))?.status?.active === 1);
  await fleet.edit("p", { spec: { parallelism: 3 } });
  await fleet.until(async () => (await fleet.job("p"))?.status?.active === 3);
  expect((await fleet.untilFinished("p")).status?.succeeded).toBe(4);
});

it("A.7 a deleted Job goes when its pods are gone", async () => {
  await start({ behaviour: () => ({ runMs: Number.POSITIVE_INFINITY, stopMs: 2_000 }) });
  await fleet.submit("d");
  await fleet.until(async () => (await fleet.job("d"))?.status?.active === 1);
  const [{ cluster } = { cluster: "" }] = await fleet.mirrors("d");
  await fleet.hub.api.delete(jobs, { namespace: "default", name: "d" }, { propagationPolicy: "Background" });
  expect(await fleet.job("d")).toBeDefined();
  await fleet.until(async () => (await fleet.job("d")) === undefined);
  expect(await fleet.podsOn(cluster)).toBe(0);
});

it("A.8 deleted and created again under the same name: the old mirror goes first", async () => {
  await start({ workers: ["only"], behaviour: () => ({ runMs: 5_000, stopMs: 1_000 }) });
  await fleet.submit("again");
  await fleet.until(async () => (await fleet.job("again"))?.status?.active === 1);
  await fleet.hub.api.delete(jobs, { namespace: "default", name: "again" }, { propagationPolicy: "Background" });
  await fleet.until(async () => (await fleet.job("again")) === undefined);
  const second = await fleet.submit("again");
  const finished = await fleet.untilFinished("again");
  expect(finished.metadata.uid).toBe(second.metadata.uid);
  expect(finished.status?.succeeded).toBe(1);
});

it("A.9 leaves Jobs of others alone", async () => {
  await start();
  await fleet.submit("other", { managedBy: "example.com/other" });
  await fleet.clock.advance(60_000);
  const other = await fleet.job("other");
  expect(other?.status).toEqual({});
  expect(other?.metadata.annotations).toBeUndefined();
});

it("A.12 selects by label, respects cordon, says why it waits, and starts when a cluster becomes free", async () => {
  await start();
  await fleet.hub.api.patch(workerClusters, { name: "east" }, { type: "merge", body: { spec: { cordoned: true } } });
  await fleet.submit("sel", {}, { annotations: { "jobferry.dev/cluster-selector": "name=east" } });
  await fleet.until(async () => (await fleet.job("sel"))?.metadata.annotations?.[MESSAGE] !== undefined);
  expect((await fleet.job("sel"))?.metadata.annotations?.[MESSAGE]).toMatch(/east: cordoned/);
  await fleet.hub.api.patch(workerClusters, { name: "east" }, { type: "merge", body: { spec: { cordoned: false } } });
  const finished = await fleet.untilFinished("sel");
  expect(finished.metadata.annotations?.[CLUSTER]).toBe("east");
});

it("A.12 a drained cluster hands over its Job with what was achieved", async () => {
  const ran: number[] = [];
  await start({
    behaviour: (pod) => {
      const index = completionIndex(pod) ?? 0;
      ran.push(index);
      return { runMs: index === 0 ? 2_000 : 40_000, stopMs: 1_000 };
    },
  });
  await fleet.submit("h", { completionMode: "Indexed", completions: 2, parallelism: 2 });
  await fleet.until(async () => (await fleet.job("h"))?.status?.completedIndexes === "0");
  const from = (await fleet.job("h"))?.metadata.annotations?.[CLUSTER] ?? "";
  await fleet.hub.api.patch(workerClusters, { name: from }, { type: "merge", body: { spec: { drain: true } } });
  const finished = await fleet.untilFinished("h");
  expect(finished.metadata.annotations?.[CLUSTER]).not.toBe(from);
  expect(finished.metadata.annotations?.[EPOCH]).toBe("2");
  expect(finished.status).toMatchObject({ succeeded: 2, completedIndexes: "0,1" });
  expect(finished.status?.failed ?? 0).toBe(0);
  expect(ran.filter((index) => index === 0)).toHaveLength(1);
});

it("A.13 the more important Job overtakes", async () => {
  await start({ workers: ["only"], spec: { maxJobs: 1 }, behaviour: () => ({ runMs: 10_000 }) });
  await fleet.submit("first");
  await fleet.until(async () => (await fleet.mirrors("first")).length === 1);
  await fleet.submit("low");
  await fleet.clock.advance(1_000);
  await fleet.submit("high", {}, { annotations: { [PRIORITY]: "10" } });
  await fleet.untilFinished("high");
  expect((await fleet.job("low"))?.status?.succeeded ?? 0).toBe(0);
  await fleet.untilFinished("low");
});

it("B a lost cluster's Job runs elsewhere, keeps its indexes, and the old mirror goes on return", async () => {
  await start({
    spec: { lostAfter: "60s" },
    workers: ["east", "west", "north"],
    behaviour: (pod) => ({ runMs: completionIndex(pod) === 0 ? 2_000 : 300_000, stopMs: 500 }),
  });
  await fleet.submit("l", { completionMode: "Indexed", completions: 2, parallelism: 2 });
  await fleet.until(async () => (await fleet.job("l"))?.status?.completedIndexes === "0");
  const from = (await fleet.job("l"))?.metadata.annotations?.[CLUSTER] ?? "";
  await fleet.stopAgent(from);
  await fleet.until(async () => (await fleet.job("l"))?.metadata.annotations?.[EPOCH] === "2");
  fleet.startAgent(from);
  await fleet.until(async () => !(await fleet.mirrors("l")).some(({ cluster }) => cluster === from));
  const finished = await fleet.untilFinished("l", 1_200_000);
  expect(finished.status).toMatchObject({ succeeded: 2, completedIndexes: "0,1" });
});

const wipes: Record<string, { before: () => Promise<void>; after: () => Promise<boolean> }> = {
  "a new Job's place in the line": {
    before: async () => {
      await fleet.submit("late");
    },
    after: async () => (await fleet.job("late"))?.status?.succeeded === 1,
  },
  "an edit of the Job": {
    before: () => fleet.edit("w", { spec: { parallelism: 3 } }),
    after: async () => (await fleet.job("w"))?.status?.active === 3,
  },
  "a deletion": {
    before: async () => {
      await fleet.hub.api.delete(jobs, { namespace: "default", name: "w" }, { propagationPolicy: "Background" });
    },
    after: async () => (await fleet.job("w")) === undefined,
  },
  "the last report": {
    before: async () => {
      await fleet.until(async () => (await fleet.mirrors("w")).some(({ mirror }) => mirror.status?.succeeded === 4));
    },
    after: async () => (await fleet.job("w"))?.status?.succeeded === 4,
  },
};
it.each(Object.entries(wipes))(
  "B Redis loses %s without a lost connection: found out and made good",
  async (_, wipe) => {
    await start({ behaviour: () => ({ runMs: 30_000, stopMs: 100 }) });
    await fleet.submit("w", { parallelism: 2, completions: 4 });
    await fleet.until(async () => (await fleet.job("w"))?.status?.active === 2);
    fleet.bus.fate = () => [];
    await wipe.before();
    await fleet.clock.advance(3_000);
    fleet.bus.fate = () => [0];
    await fleet.until(wipe.after, 120_000);
  },
);

it("B a new manager's inventory withdraws what its predecessor could not", async () => {
  await start({ workers: ["east", "west", "north"], behaviour: () => ({ runMs: 3_600_000, stopMs: 100 }) });
  await fleet.submit("orphaned");
  await fleet.until(async () => (await fleet.job("orphaned"))?.status?.active === 1);
  await fleet.clock.advance(300_000);
  await fleet.stopManager();
  const body = { metadata: { finalizers: null } };
  await fleet.hub.api.patch(jobs, { namespace: "default", name: "orphaned" }, { type: "merge", body });
  await fleet.hub.api.delete(jobs, { namespace: "default", name: "orphaned" }, { propagationPolicy: "Background" });
  fleet.startManager();
  await fleet.until(async () => (await fleet.mirrors("orphaned")).length === 0, 120_000);
});

it("B StopThenRedispatch: a cluster that hears nothing stops its pods before another one starts any", async () => {
  await start({
    spec: { lostAfter: "5m" },
    workers: ["east", "west", "north"],
    behaviour: () => ({ runMs: 3_600_000, stopMs: 500 }),
  });
  await fleet.submit("x", {}, { annotations: { "jobferry.dev/on-cluster-lost": "StopThenRedispatch" } });
  await fleet.until(async () => (await fleet.job("x"))?.status?.active === 1);
  const from = (await fleet.job("x"))?.metadata.annotations?.[CLUSTER] ?? "";
  fleet.bus.fate = (address) => ("cluster" in address && address.cluster === from ? [] : [0]);
  await fleet.until(async () => {
    const running = (await fleet.mirrors("x")).filter(({ mirror }) => (mirror.status?.active ?? 0) > 0);
    expect(running.length).toBeLessThanOrEqual(1);
    return running.some(({ cluster }) => cluster !== from);
  }, 900_000);
  expect((await fleet.job("x"))?.metadata.annotations?.[EPOCH]).toBe("2");
});

it("B StopThenRedispatch: a cluster that is heard again in time goes on", async () => {
  await start({
    spec: { lostAfter: "5m" },
    workers: ["east", "west", "north"],
    behaviour: () => ({ runMs: 600_000, stopMs: 500 }),
  });
  await fleet.submit("x", {}, { annotations: { "jobferry.dev/on-cluster-lost": "StopThenRedispatch" } });
  await fleet.until(async () => (await fleet.job("x"))?.status?.active === 1);
  const from = (await fleet.job("x"))?.metadata.annotations?.[CLUSTER] ?? "";
  fleet.bus.fate = (address) => ("cluster" in address && address.cluster === from ? [] : [0]);
  await fleet.until(async () => (await fleet.mirrors("x"))[0]?.mirror.spec.suspend === true);
  fleet.bus.fate = () => [0];
  const finished = await fleet.untilFinished("x", 1_800_000);
  expect(finished.metadata.annotations).toMatchObject({ [CLUSTER]: from, [EPOCH]: "1" });
});

it.each(["manager", "agents", "redis"])(
  "B %s lost mid-flight: nothing is lost and nothing runs twice",
  async (what) => {
    const started = new Map<string, number>();
    await start({
      behaviour: (pod) => {
        const job = pod.metadata.labels?.["job-name"] ?? "";
        started.set(job, (started.get(job) ?? 0) + 1);
        return { runMs: 10_000 };
      },
    });
    for (let i = 0; i < 10; i++) await fleet.submit(`j${i}`);
    await fleet.clock.advance(300);
    if (what === "redis") fleet.bus.flush();
    if (what === "manager") {
      await fleet.stopManager();
      await fleet.clock.advance(20_000);
      fleet.startManager();
    }
    if (what === "agents") {
      for (const name of fleet.workers.keys()) await fleet.stopAgent(name);
      await fleet.clock.advance(20_000);
      for (const name of fleet.workers.keys()) fleet.startAgent(name);
    }
    for (let i = 0; i < 10; i++) expect((await fleet.untilFinished(`j${i}`)).status?.succeeded).toBe(1);
    expect([...started.values()]).toEqual(Array.from({ length: 10 }, () => 1));
  },
);
