/** Jobs that leave a cluster which cannot run them, on a simulated fleet. The pods are bound by the sandbox's scheduler. */
import { jobQueues, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import { events, jobs, namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import {
  CLUSTER,
  GANG,
  HUB_MANAGED_BY,
  LEAVING,
  MESSAGE,
  UNSCHEDULABLE_AFTER,
} from "@jobferry/shared/protocol/marks.ts";
import { afterEach, describe, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

const asking = (cpu: string): Pick<JobSpec, "template"> => ({
  template: {
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none", resources: { requests: { cpu } } }] },
  },
});
const clusterOf = (job: Job | undefined): string | undefined => job?.metadata.annotations?.[CLUSTER];
const messageOf = async (name: string): Promise<string> =>
  (await fleet.job(name))?.metadata.annotations?.[MESSAGE] ?? "";
const reasonsOf = async (name: string): Promise<string[]> => {
  const { items } = await fleet.hub.api.list(events, { namespace: "default" });
  return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason = "" }) => reason);
};

describe("pods that find no node", () => {
  const node = (name: string, cpu: string) => [{ name, cpu, memory: "16Gi", pods: 100 }];
  const start = async (nodes: FleetOptions["nodes"] = { east: node("e", "8"), west: node("w", "4") }) => {
    fleet = await new Fleet({
      nodes,
      behaviour: ({ metadata: { name = "" } }) => ({ runMs: /hog|long/.test(name) ? Infinity : 20_000 }),
    }).start();
  };
  /** Somebody of the worker's own takes the room between two reports of its agent. */
  const occupy = async (cpu: string, name = "hog"): Promise<void> => {
    await fleet.workers.get("east")?.cluster.api.create(pods, "default", {
      metadata: { name },
      spec: {
        restartPolicy: "Never",
        nodeName: "e",
        containers: [{ name: "main", image: "none", resources: { requests: { cpu } } }],
      },
    } as never);
  };
  const patient = { annotations: { [UNSCHEDULABLE_AFTER]: "1m" } };

  it("take their Job to a cluster that has one, with the reason on the hub Job, and not back again", async () => {
    await start();
    await occupy("8");
    await fleet.submit("stuck", asking("2"), patient);
    await fleet.until(async () => clusterOf(await fleet.job("stuck")) === "east", 10_000);
    await fleet.clock.advance(50_000);
    expect(clusterOf(await fleet.job("stuck"))).toBe("east");
    await fleet.until(async () => clusterOf(await fleet.job("stuck")) === "west", 60_000);
    expect(await reasonsOf("stuck")).toContain("Unschedulable");
    const done = await fleet.untilFinished("stuck");
    expect(done.status).toMatchObject({ succeeded: 1 });
    expect(done.metadata.annotations).not.toHaveProperty(LEAVING);
  });

  it("keep what was counted and the indexes that are completed", async () => {
    await start();
    await fleet.submit(
      "half",
      { ...asking("2"), completions: 4, parallelism: 1, completionMode: "Indexed" },
      { annotations: { ...patient.annotations, "jobferry.dev/cluster-selector": "name in (east,west)" } },
    );
    await fleet.until(async () => ((await fleet.job("half"))?.status?.succeeded ?? 0) >= 2, 120_000);
    await occupy("7");
    await fleet.until(async () => clusterOf(await fleet.job("half")) === "west", 200_000);
    const moved = await fleet.job("half");
    expect(moved?.status?.succeeded).toBeGreaterThanOrEqual(2);
    const done = await fleet.untilFinished("half");
    expect(done.status).toMatchObject({ succeeded: 4, completedIndexes: "0-3" });
    expect(done.status?.failed ?? 0).toBe(0);
  });

  it("stay where there is nowhere else to go, and the Job says so until they run", async () => {
    await start();
    await occupy("8");
    await fleet.submit("big", asking("6"), patient);
    const stays =
      /^no node of east takes its pods, and no other cluster can take the Job now: 0\/1 nodes are available/;
    await fleet.until(async () => stays.test(await messageOf("big")), 120_000);
    expect(clusterOf(await fleet.job("big"))).toBe("east");
    await fleet.workers.get("east")?.cluster.api.delete(pods, { namespace: "default", name: "hog" });
    await fleet.until(async () => (await messageOf("big")) === "dispatched to east", 120_000);
    expect((await fleet.untilFinished("big")).status?.succeeded).toBe(1);
  });

  it.each([
    ["a gang leaves", "true", "west"],
    ["another Job stays", "false", "east"],
  ])("beside others that run: %s", async (_, gang, where) => {
    await start({ east: node("e", "8"), west: node("w", "8") });
    await occupy("4");
    const annotations = { ...patient.annotations, [GANG]: gang };
    await fleet.submit("long", { ...asking("4"), parallelism: 2, completions: 2 }, { annotations });
    await fleet.until(async () => clusterOf(await fleet.job("long")) === "east", 10_000);
    await fleet.clock.advance(110_000);
    expect(clusterOf(await fleet.job("long"))).toBe(where);
    expect((await fleet.job("long"))?.status?.ready).toBe(where === "west" ? 2 : 1);
  });

  it("wait as long as the queue says when the Job does not", async () => {
    await start();
    await fleet.hub.api.create(jobQueues, undefined, {
      metadata: { name: "hasty" },
      spec: { unschedulableAfter: "20s" },
    });
    await occupy("8");
    await fleet.submit("soon", asking("2"), { labels: { "jobferry.dev/queue": "hasty" } });
    await fleet.submit("late", asking("2"));
    await fleet.until(async () => clusterOf(await fleet.job("soon")) === "west", 100_000);
    expect(clusterOf(await fleet.job("late"))).toBe("east");
    await fleet.until(async () => clusterOf(await fleet.job("late")) === "west", 400_000);
  });
});

describe("a cluster that cannot create the pods", () => {
  it("leaves no start time behind, and the deadline counts from the start elsewhere", async () => {
    fleet = await new Fleet({ behaviour: () => ({ runMs: 20_000 }) }).start();
    const create = { client: "agent", verb: "create", resource: "pods" } as const;
    const full = { effect: "fail", code: 403, message: "exceeded quota: pods" } as const;
    fleet.workers.get("east")?.cluster.faults.inject(create, full, { times: Infinity });
    await fleet.submit("tried", { activeDeadlineSeconds: 30 });
    await fleet.until(async () => clusterOf(await fleet.job("tried")) === "east", 10_000);
    while (clusterOf(await fleet.job("tried")) === "east") {
      expect((await fleet.job("tried"))?.status?.startTime).toBeUndefined();
      await fleet.clock.advance(500);
    }
    const job = await fleet.untilFinished("tried", 60_000);
    expect(job.status?.succeeded).toBe(1);
    expect(job.metadata.annotations?.[MESSAGE]).toBe("finished on west");
  });
});

describe("a cluster that fails Job after Job", () => {
  let isBroken = true;
  const submitFor = async (namespace: string, name: string): Promise<void> => {
    await fleet.hub.api.create(jobs, namespace, {
      metadata: { name },
      spec: {
        managedBy: HUB_MANAGED_BY,
        template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } },
      },
    });
  };
  const clusterIn = async (namespace: string, name: string): Promise<string | undefined> =>
    clusterOf(await fleet.hub.api.get(jobs, { namespace, name }));
  const readiness = async (): Promise<string | undefined> =>
    (await fleet.hub.api.get(workerClusters, { name: "east" })).status?.conditions?.find(({ type }) => type === "Ready")
      ?.reason;

  it("is set aside, says so, is tried with one Job, and taken back", async () => {
    isBroken = true;
    fleet = await new Fleet({
      behaviour: ({ spec }) => ({ runMs: 500, exitCode: isBroken && spec.nodeName === "east-node" ? 1 : 0 }),
    }).start();
    for (const namespace of ["a", "b"])
      for (const api of [fleet.hub.api, ...[...fleet.workers.values()].map(({ cluster }) => cluster.api)])
        await api.create(namespaces, undefined, { metadata: { name: namespace } });
    // West is not there to help while it goes wrong.
    await fleet.hub.api.patch(workerClusters, { name: "west" }, { type: "merge", body: { spec: { cordoned: true } } });
    await fleet.clock.advance(1_000);
    for (let i = 0; i < 4; i++) for (const namespace of ["a", "b"]) await submitFor(namespace, `j${i}`);
    await fleet.until(async () => (await readiness()) === "SetAside", 60_000);
    const { items } = await fleet.hub.api.list(events, { namespace: "default" });
    expect(items.map(({ reason }) => reason)).toContain("SetAside");
    await submitFor("a", "later");
    await fleet.clock.advance(30_000);
    expect(await clusterIn("a", "later")).toBeUndefined();
    const told = await fleet.hub.api.get(jobs, { namespace: "a", name: "later" });
    expect(told.metadata.annotations?.[MESSAGE]).toMatch(/east: set aside for a while: \d Jobs in a row failed/);
    // A manager that starts anew goes on where the last one was.
    await fleet.stopManager();
    fleet.startManager();
    await fleet.clock.advance(60_000);
    expect(await readiness()).toBe("SetAside");
    expect(await clusterIn("a", "later")).toBeUndefined();
    isBroken = false;
    await fleet.until(async () => (await clusterIn("a", "later")) === "east", 300_000);
    await fleet.until(async () => (await readiness()) === "Accepting", 120_000);
    const { status } = await fleet.hub.api.get(workerClusters, { name: "east" });
    expect(status?.setAside).toBeUndefined();
  });
});
