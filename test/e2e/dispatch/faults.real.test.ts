/** What a fleet must survive from the start, on real parts: nothing lost, nothing run twice. */
import { workerClusters } from "@jobferry/shared/kube/fleet-resources.ts";
import { events } from "@jobferry/shared/kube/resources.ts";
import { EPOCH } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { RealFleet } from "./real-fleet.ts";

const fleet = new RealFleet();
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

/** Pods created for the Job on all clusters together, by what the Job controllers said. */
async function podsCreated(name: string): Promise<number> {
  let count = 0;
  for (const worker of fleet.workers.values()) {
    const { items } = await worker.api.list(events, { namespace: "default", fieldSelector: "reason=SuccessfulCreate" });
    count += items.filter(({ involvedObject }) => involvedObject.name === name).length;
  }
  return count;
}

const faults: Record<string, () => Promise<void>> = {
  "manager killed and started again": async () => {
    await fleet.kill("manager");
    fleet.startManager();
  },
  "agents killed and started again": async () => {
    for (const name of fleet.workers.keys()) await fleet.kill(name);
    for (const name of fleet.workers.keys()) fleet.startAgent(name);
  },
  "Redis flushed": async () => {
    await fleet.redis.flushall();
  },
};

let round = 0;
beforeEach(() => {
  round++;
});

it.each(Object.keys(faults))("%s while Jobs wait, are delivered, run and end", async (fault) => {
  const name = (index: number): string => `f${round}-${index}`;
  for (let i = 0; i < 4; i++) await fleet.submit(name(i), { pod: { "instant-pods/run": "6s" } });
  await fleet.untilActive(name(3), 1);
  for (let i = 4; i < 8; i++) await fleet.submit(name(i), { pod: { "instant-pods/run": "500ms" } });
  await faults[fault]?.();
  for (let i = 8; i < 10; i++) await fleet.submit(name(i));
  for (let i = 0; i < 10; i++) {
    const { status } = await fleet.untilFinished(name(i));
    expect(status).toMatchObject({ succeeded: 1 });
    expect(status?.failed ?? 0).toBe(0);
  }
  for (let i = 0; i < 10; i++) expect(await podsCreated(name(i))).toBeLessThanOrEqual(1);
  await fleet.until("the workers are empty", async () => {
    const left = [...fleet.workers.keys()].map((cluster) => fleet.podsOn(cluster));
    return (await Promise.all(left)).every((count) => count === 0);
  });
});

it("a standby manager takes over when the leader is killed", async () => {
  await fleet.submit("before", { pod: { "instant-pods/run": "5s" } });
  await fleet.untilActive("before", 1);
  fleet.startManager("standby");
  await fleet.until("the standby stands by", async () => (await fleet.log("standby")).includes("manager running"));
  await fleet.kill("manager");
  await fleet.submit("after");
  expect((await fleet.untilFinished("after")).status?.succeeded).toBe(1);
  expect((await fleet.untilFinished("before")).status?.succeeded).toBe(1);
  expect(await podsCreated("before")).toBe(1);
});

it("a worker lost past lostAfter: its Job goes on elsewhere with its indexes, the old mirror goes on return", async () => {
  const spec = { completionMode: "Indexed", completions: 3, parallelism: 1 } as const;
  await fleet.submit("lost", { spec, pod: { "instant-pods/run": "4s" } });
  await fleet.until("index 0 is done", async () => (await fleet.job("lost"))?.status?.completedIndexes === "0");
  const from = (await fleet.mirror("lost")).cluster;
  const old = fleet.workers.get(from);
  await fleet.hub.api.patch(workerClusters, { name: from }, { type: "merge", body: { spec: { lostAfter: "30s" } } });
  await fleet.kill(from);
  await fleet.until("moved", async () => (await fleet.job("lost"))?.metadata.annotations?.[EPOCH] === "2");
  expect((await fleet.mirror("lost")).cluster).not.toBe(from);
  expect((await old?.kubectl("get", "job", "lost"))?.code).toBe(0);
  fleet.startAgent(from);
  await fleet.until("the old mirror is gone", async () => (await old?.kubectl("get", "job", "lost"))?.code !== 0);
  const { status } = await fleet.untilFinished("lost");
  expect(status).toMatchObject({ succeeded: 3, completedIndexes: "0-2" });
  const { stdout } = await fleet.hub.kubectl("describe", "job/lost");
  expect(stdout).toMatch(/ClusterLost/);
  expect(stdout).toMatch(/Redispatched/);
});
