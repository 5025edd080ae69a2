/** What a hub's own controllers and administrators do to nodes and pods, done to shadows: no pod of a worker is touched. */
import { setTimeout as delay } from "node:timers/promises";
import type { Pod } from "@jobferry/shared/job/types.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { SHADOW_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { forever } from "../dispatch/fleet-namespace.ts";
import { RealFleet } from "../dispatch/real-fleet.ts";

// Those that delete pods and nodes; they act sooner than they do by default.
const controllers = ["node-lifecycle", "taint-eviction", "pod-garbage-collector", "garbage-collector", "job"];
const fleet = new RealFleet({
  workers: ["east"],
  pods: true,
  hubApiServer: {
    controllers: controllers.map((name) => `${name}-controller`),
    controllerManagerArgs: ["--node-monitor-grace-period=20s", "--node-monitor-period=2s"],
  },
});
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

const shadows = async (namespace: string): Promise<Pod[]> =>
  (await fleet.hub.api.list(pods, { namespace, labelSelector: SHADOW_LABEL })).items;

const untilShown = (namespace: string, phase: string) =>
  fleet.until(`a shadow in ${namespace} is ${phase}`, async () => {
    return (await shadows(namespace)).map(({ status }) => status?.phase).join() === phase;
  });

/** Ten minutes at night; the hub's controllers give a node up after 20 s here. */
const awayMs = Number(process.env.JOBFERRY_AWAY_MINUTES ?? 1) * 60_000;

it(
  "no manager for minutes: the node is given up, nothing is evicted, and what was shown is shown again",
  async () => {
    const at = await fleet.namespace("away");
    for (const name of ["lives", "ends"]) await at.submit(name, { pod: forever });
    const podsOn = async (): Promise<string> =>
      (await fleet.worker("east").api.list(pods, { namespace: at.mapped })).items
        .map(({ metadata: { name, uid, deletionTimestamp } }) => `${name} ${uid} ${deletionTimestamp ?? "lives"}`)
        .sort()
        .join();
    await untilShown(at.name, "Running,Running");
    const before = { there: await podsOn(), here: await shadows(at.name) };
    await fleet.kill("manager");
    const node = async (): Promise<string> =>
      (await fleet.hub.kubectl("get", "node", "jobferry", "--no-headers")).stdout;
    await fleet.until("the node is given up", async () => /NotReady/.test(await node()));
    await delay(awayMs);
    expect(await podsOn()).toBe(before.there);
    expect((await shadows(at.name)).map(({ metadata }) => metadata.uid)).toEqual(
      before.here.map(({ metadata }) => metadata.uid),
    );
    await at.end("ends", 0);
    // Deleted while nobody led: that is not passed on.
    const [living] = before.here.filter(({ metadata }) => metadata.labels?.["job-name"] === "lives");
    await fleet.hub.kubectl("delete", "pod", living?.metadata.name ?? "", "-n", at.name, "--wait=false");
    fleet.startManager();
    await at.untilFinished("ends");
    await fleet.until("the one is shown again, the other at its end", async () => {
      const now = await shadows(at.name);
      return (
        now
          .map(({ metadata, status }) => `${metadata.labels?.["job-name"]} ${status?.phase}`)
          .sort()
          .join() === "ends Succeeded,lives Running"
      );
    });
    expect(await node()).toMatch(/^jobferry +Ready /);
    const [pod] = await at.pods("lives");
    expect(before.there).toContain(pod?.pod.metadata.uid);
    await at.delete("lives", "Background");
  },
  awayMs + 300_000,
);

it("a drain, a taint that evicts, and a node deleted while no manager leads: shadows come back", async () => {
  const at = await fleet.namespace("harmed");
  await at.submit("pi", { pod: forever });
  await untilShown(at.name, "Running");
  const onWorker = async (): Promise<string> =>
    (await fleet.worker("east").api.list(pods, { namespace: at.mapped })).items
      .map(({ metadata: { uid, deletionTimestamp } }) => `${uid} ${deletionTimestamp ?? "lives"}`)
      .join();
  const before = await onWorker();
  const shadow = async (): Promise<Pod | undefined> => (await shadows(at.name))[0];
  const kubectl = (...args: string[]) => fleet.hub.kubectl(...args);

  const drained = await shadow();
  const { stderr } = await kubectl("drain", "jobferry", "--force", "--ignore-daemonsets", "--timeout=60s");
  await fleet.until("another shadow is there after the drain", async () => {
    const now = await shadow();
    return now?.metadata.uid !== drained?.metadata.uid && now?.status?.phase === "Running";
  });
  expect(stderr).not.toMatch(/forbidden/);
  await kubectl("uncordon", "jobferry");

  await kubectl("taint", "node", "jobferry", "maintenance=yes:NoExecute");
  await fleet.kill("manager");
  await kubectl("delete", "node", "jobferry");
  // Nobody makes it again now; the pod garbage collector takes pods of nodes that are not there.
  await fleet.until("the shadow was collected", async () => (await shadow()) === undefined);
  expect(await onWorker()).toBe(before);
  fleet.startManager();
  await untilShown(at.name, "Running");
  expect((await kubectl("get", "node", "jobferry", "--no-headers")).stdout).toMatch(/^jobferry +Ready /);
  expect(await onWorker()).toBe(before);
  await at.delete("pi", "Background");
}, 300_000);
