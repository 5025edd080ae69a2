/** What a fleet must survive from the start, on real parts: nothing lost, nothing run twice. */
import { jobs, leases } from "@jobferry/shared/kube/resources.ts";
import { EPOCH } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { forever } from "./fleet-namespace.ts";
import { RealFleet } from "./real-fleet.ts";

const fleet = new RealFleet();
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

const running = (time: string) => ({ pod: { annotations: { "instant-pods/run": time } } });

const faults: Record<string, () => Promise<void>> = {
  "manager-killed": async () => {
    await fleet.kill("manager");
    // Its successor would wait until the Lease has expired, as the standby does further down.
    await fleet.hub.api.delete(leases, { namespace: "jobferry-system", name: "jobferry-manager" });
    fleet.startManager();
  },
  "agents-killed": async () => {
    for (const name of fleet.workers.keys()) await fleet.kill(name);
    for (const name of fleet.workers.keys()) fleet.startAgent(name);
  },
  "redis-flushed": async () => {
    await fleet.redis.flushall();
  },
};

it.each(Object.keys(faults))("B %s while Jobs wait, are delivered, run and end", async (fault) => {
  const at = await fleet.namespace(fault);
  const created = await at.countPods();
  const name = (index: number): string => `j${index}`;
  for (let i = 0; i < 4; i++) await at.submit(name(i), running("3s"));
  // Seen on the worker: in a flood of short Jobs the hub need not show them before they are over.
  await at.until("the first have begun", async () => (await at.pods(name(3))).length > 0);
  for (let i = 4; i < 8; i++) await at.submit(name(i), running("500ms"));
  await faults[fault]?.();
  for (let i = 8; i < 10; i++) await at.submit(name(i));
  for (let i = 0; i < 10; i++) {
    const { status } = await at.untilFinished(name(i));
    expect(status).toMatchObject({ succeeded: 1 });
    expect(status?.failed ?? 0).toBe(0);
  }
  for (let i = 0; i < 10; i++) await at.untilNothingIsLeft(name(i));
  for (let i = 0; i < 10; i++) expect(await created(name(i))).toBe(1);
});

it("B a finished Job never runs again, whatever becomes of its mirror", async () => {
  const at = await fleet.namespace("finished");
  const created = await at.countPods();
  const here = { annotations: { "jobferry.dev/cluster-selector": "name=east" } };
  await at.submit("done", { ...here, pod: forever });
  await at.untilActive("done", 1);
  const before = await at.job("done");
  await at.end("done", 0);
  await at.untilFinished("done");
  await fleet.kill("east");
  const key = { namespace: at.mapped, name: "done" };
  await fleet
    .worker("east")
    .api.delete(jobs, key, { propagationPolicy: "Background" })
    .catch(() => {});
  fleet.startAgent("east");
  // When this one is through, manager and agent have told each other what they have.
  await at.submit("next", here);
  await at.untilFinished("next");
  expect(await created("done")).toBe(1);
  expect(await at.mirrorOn("east", "done")).toBeUndefined();
  expect((await at.job("done"))?.metadata.annotations?.[EPOCH]).toBe(before?.metadata.annotations?.[EPOCH]);
});

it("B a standby manager takes over when the leader is killed", async () => {
  const at = await fleet.namespace("standby");
  const created = await at.countPods();
  await at.submit("before", { pod: forever });
  await at.untilActive("before", 1);
  fleet.startManager("standby");
  await at.until("the standby stands by", async () => (await fleet.log("standby")).includes("manager running"));
  await fleet.kill("manager");
  await at.submit("after");
  expect((await at.untilFinished("after")).status?.succeeded).toBe(1);
  await at.end("before", 0);
  expect((await at.untilFinished("before")).status?.succeeded).toBe(1);
  expect(await created("before")).toBe(1);
});

it("B a leader that stands still while another takes over, and goes on, does nothing twice", async () => {
  const at = await fleet.namespace("frozen");
  const created = await at.countPods();
  const names = ["before", "meanwhile", "after"];
  await at.submit("before", { pod: forever });
  await at.untilActive("before", 1);
  fleet.startManager("successor");
  await at.until("it stands by", async () => (await fleet.log("successor")).includes("manager running"));
  const leader = fleet.process("standby");
  leader.kill("SIGSTOP");
  await at.submit("meanwhile", running("3s"));
  await at.until("taken over", async () => (await at.pods("meanwhile")).length > 0);
  leader.kill("SIGCONT");
  await at.submit("after");
  await at.end("before", 0);
  for (const name of names) expect((await at.untilFinished(name)).status).toMatchObject({ succeeded: 1 });
  await at.until("it has noticed", async () => (await leader.log()).includes("no longer leading"));
  for (const name of names) expect(await created(name)).toBe(1);
  for (const name of names) expect((await at.job(name))?.metadata.annotations?.[EPOCH]).toBe("1");
});

it("B a second agent of a cluster stands by, takes over from one that stands still, and gives the Lease back", async () => {
  const at = await fleet.namespace("twins");
  const created = await at.countPods();
  const here = { annotations: { "jobferry.dev/cluster-selector": "name=east" } };
  const { api } = fleet.worker("east");
  const holder = async (): Promise<string | undefined> =>
    (await api.get(leases, { namespace: "jobferry-system", name: "jobferry-agent" })).spec?.holderIdentity;
  expect(await holder()).toBe("east");
  const twin = fleet.startTwin("east", "twin");
  await at.until("the twin stands by", async () => (await twin.log()).includes("agent running"));
  const spec = { completionMode: "Indexed", completions: 4, parallelism: 1 } as const;
  // Pods end while the first one is frozen: it has a replacement to create when it goes on.
  await at.submit("one-by-one", { ...here, spec, ...running("7s") });
  await at.until("the first pod runs", async () => (await at.pods("one-by-one")).length > 0);
  expect(await holder()).toBe("east");
  const first = fleet.process("east");
  first.kill("SIGSTOP");
  await at.until("the twin has taken over", async () => (await holder()) === "twin");
  await at.until("it goes on with the Job", async () => (await at.pods("one-by-one")).length > 1);
  first.kill("SIGCONT");
  expect((await at.untilFinished("one-by-one")).status).toMatchObject({ succeeded: 4, completedIndexes: "0-3" });
  expect(await created("one-by-one")).toBe(4);
  await at.until("the first has noticed", async () => (await first.log()).includes("no longer leading"));
  // SIGTERM: the Lease is given up, and nobody waits for it to run out.
  await twin.stop(10_000);
  expect(await holder()).not.toBe("twin");
  await at.submit("after", here);
  expect((await at.untilFinished("after")).status).toMatchObject({ succeeded: 1 });
  expect(await created("after")).toBe(1);
});
