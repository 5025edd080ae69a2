/** What a Job's pods need, on a simulated fleet. */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, PodSpec } from "@jobferry/shared/job/types.ts";
import { events, jobs, namespaces, secrets } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, EPOCH, HUB_MANAGED_BY, MESSAGE, RETRY } from "@jobferry/shared/protocol/marks.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());
const start = async (options?: FleetOptions): Promise<Fleet> => {
  fleet = await new Fleet(options).start();
  return fleet;
};

const withSecret: PodSpec = {
  restartPolicy: "Never",
  containers: [{ name: "main", image: "busybox", envFrom: [{ secretRef: { name: "login" } }] }],
};
const submit = (name: string, spec: PodSpec) => fleet.submit(name, { template: { spec } });
const worker = (name: string) => fleet.workers.get(name)?.cluster.api ?? fleet.hub.api;
const message = async (name: string) => (await fleet.job(name))?.metadata.annotations?.[MESSAGE];

it("a Job goes to the cluster that has what its pods need, and no mirror is tried where it is missing", async () => {
  await start();
  await worker("west").create(secrets, "default", { metadata: { name: "login" } });
  for (const name of ["a", "b", "c"]) await submit(name, withSecret);
  for (const name of ["a", "b", "c"]) {
    const finished = await fleet.untilFinished(name);
    expect(finished.metadata.annotations?.[CLUSTER]).toBe("west");
  }
  const { items } = await fleet.hub.api.list(events, { namespace: "default" });
  const refusals = items.filter(({ reason, message = "" }) => reason === "DispatchFailed" && message.includes("east"));
  expect(refusals.length).toBeGreaterThan(0);
  for (const { message } of refusals)
    expect(message).toContain("ReferenceMissing: Secret default/login does not exist");
});

it("a Job that no cluster can have says what is missing, and goes on within seconds once it is there", async () => {
  await start();
  await submit("j", withSecret);
  await fleet.until(async () => /no cluster|refused it/.test((await message("j")) ?? ""));
  // Long enough for pauses of minutes between two tries.
  await fleet.clock.advance(5 * 60_000);
  expect(await message("j")).toMatch(/Secret default\/login does not exist on this cluster; create it there/);
  expect(await fleet.mirrors("j")).toEqual([]);
  await worker("east").create(secrets, "default", { metadata: { name: "login" } });
  await fleet.until(async () => (await fleet.mirrors("j")).length === 1, 8_000);
  expect((await fleet.untilFinished("j")).metadata.annotations?.[CLUSTER]).toBe("east");
});

it("a namespace that appears on a worker lets its Jobs go on as soon", async () => {
  await start({ workers: ["only"] });
  const team = { metadata: { name: "team" } };
  await fleet.hub.api.create(namespaces, undefined, team);
  const key = { namespace: "team", name: "j" };
  await fleet.hub.api.create(jobs, "team", {
    metadata: { name: "j" },
    spec: {
      managedBy: HUB_MANAGED_BY,
      template: { spec: { ...withSecret, containers: [{ name: "main", image: "i" }] } },
    },
  });
  const text = async () => (await fleet.hub.api.get(jobs, key)).metadata.annotations?.[MESSAGE] ?? "";
  await fleet.until(async () => (await text()).includes("namespace team does not exist"));
  await fleet.clock.advance(5 * 60_000);
  await worker("only").create(namespaces, undefined, team);
  await fleet.until(async () => isFinished(await fleet.hub.api.get(jobs, key)), 12_000);
});

it("a Job whose name was taken there goes on within seconds once the name is free", async () => {
  await start({ workers: ["only"] });
  await worker("only").create<Job>(jobs, "default", {
    metadata: { name: "j" },
    spec: { suspend: true, template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
  });
  await fleet.submit("j");
  await fleet.until(async () => /not Jobferry's/.test((await message("j")) ?? ""));
  await fleet.clock.advance(60_000);
  await worker("only").delete(jobs, { namespace: "default", name: "j" });
  await fleet.until(async () => (await fleet.mirrors("j")).length === 1, 10_000);
  expect((await fleet.untilFinished("j")).status?.succeeded).toBe(1);
});

it("a Job that its cluster refused goes there within seconds when its agent is started with other settings", async () => {
  const accept = { namespaces: new Set(["other"]), agentNamespace: "jobferry-system", allowPrivileged: false };
  const options = { workers: ["only"], accept };
  await start(options);
  await fleet.submit("j");
  await fleet.until(async () => /does not serve namespace default/.test((await message("j")) ?? ""));
  await fleet.clock.advance(60_000);
  await fleet.stopAgent("only");
  accept.namespaces.add("default");
  fleet.startAgent("only");
  await fleet.until(async () => (await fleet.mirrors("j")).length === 1, 10_000);
});

it("a Job that was refused for good reasons is asked for again at once when its submitter says so", async () => {
  await start({ workers: ["only"] });
  await submit("j", { restartPolicy: "Never", hostNetwork: true, containers: [{ name: "main", image: "i" }] });
  await fleet.until(async () => /does not run pods that reach its nodes/.test((await message("j")) ?? ""));
  // The pause after such a refusal is ten minutes.
  await fleet.clock.advance(60_000);
  const epoch = async () => (await fleet.job("j"))?.metadata.annotations?.[EPOCH];
  expect(await epoch()).toBe("1");
  await fleet.edit("j", { metadata: { annotations: { [RETRY]: "now" } } });
  await fleet.until(async () => (await epoch()) === "2", 5_000);
});
