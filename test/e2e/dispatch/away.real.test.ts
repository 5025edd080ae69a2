/** A worker's agent is cut off for long: A.7, A.8 and the loss of the cluster meanwhile, and what becomes of it on return. */

import type { Assignment } from "@jobferry/manager/hub/phase.ts";
import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import {
  CLUSTER,
  CLUSTER_SELECTOR,
  EPOCH,
  HUB_UID_LABEL,
  ON_CLUSTER_LOST,
  STOP_AFTER,
} from "@jobferry/shared/protocol/marks.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { clusterUser } from "@jobferry/shared/queue/acl.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FleetNamespace, forever } from "./fleet-namespace.ts";
import type { History } from "./history.ts";
import { RealFleet } from "./real-fleet.ts";
import { expectOwnStatus, failOnce, twoPods } from "./removal.ts";

const fleet = new RealFleet({ managerFlags: ["--deletion-bound-seconds", "20"], spec: { lostAfter: "30s" } });
afterAll(() => fleet.stop());

const EAST = { annotations: { [CLUSTER_SELECTOR]: "name=east", [ON_CLUSTER_LOST]: "Wait" } };

interface Place {
  at: FleetNamespace;
  hub: History;
  mirrors: History;
}
const places = new Map<string, Place>();
const place = (name: string): Place => places.get(name) as Place;

async function prepare(name: string): Promise<Place> {
  const at = await fleet.namespace(name);
  const prepared = { at, hub: await at.follow("j"), mirrors: await at.followOn("east", "j") };
  places.set(name, prepared);
  return prepared;
}

beforeAll(async () => {
  await fleet.start();
  await Promise.all(["underway", "underway-again", "running", "running-again", "lost", "stopped"].map(prepare));
  await Promise.all([
    runUntilIndex0IsDone(place("lost").at),
    runUntilIndex0IsDone(place("stopped").at, "StopThenRedispatch"),
  ]);
  await watchRunning(place("stopped").at);
  await stopSoon(place("stopped").at);
  for (const name of ["running", "running-again"])
    await place(name).at.submit("j", { ...EAST, spec: twoPods, pod: forever });
  for (const name of ["running", "running-again"]) await failOnce(place(name).at, "j");
  await cutOff("east");
  // The manager has not noticed yet: these are assigned, and nobody takes the delivery.
  const underWay = [place("underway").at, place("underway-again").at];
  await Promise.all(underWay.map((at) => at.submit("j", { ...EAST, spec: twoPods, pod: forever })));
  for (const at of underWay) await at.until("assigned", async () => (await at.cluster("j")) === "east");
}, 300_000);

const redisUser = (cluster: string): string => clusterUser(parseClusterName(cluster));

/** Parts the agent from Redis: it runs on, and nobody hears it. */
async function cutOff(cluster: string): Promise<void> {
  await fleet.redis.acl("SETUSER", redisUser(cluster), "off");
  await fleet.redis.client("KILL", "USER", redisUser(cluster));
}

/** Of a Job that will have to go elsewhere. */
async function runUntilIndex0IsDone(at: FleetNamespace, onClusterLost = "Redispatch"): Promise<void> {
  const spec = { completionMode: "Indexed", completions: 2, parallelism: 2 } as const;
  const annotations = { [CLUSTER_SELECTOR]: "name=east", [ON_CLUSTER_LOST]: onClusterLost };
  await at.submit("j", { annotations, spec, pod: { ...forever, spec: { terminationGracePeriodSeconds: 1 } } });
  await at.end("j", 0, 0);
  await at.until("index 0 is done", async () => (await at.job("j"))?.status?.completedIndexes === "0");
  await at.edit("j", { metadata: { annotations: { [CLUSTER_SELECTOR]: null } } });
}

/** Agent and manager go by what was stored at the assignment; a shorter time spares the test 25 seconds. */
async function stopSoon(at: FleetNamespace): Promise<void> {
  const job = (await at.job("j")) as Job;
  const assignment = fleet.phases.assignmentOf(job) as Assignment;
  const annotations = fleet.phases.annotationsOf(job, { ...assignment, stopAfterSeconds: 20 }, false);
  await at.edit("j", { metadata: { annotations } });
  await at.until("its agent knows", async () => {
    return (await at.mirrorOn("east", "j"))?.metadata.annotations?.[STOP_AFTER] === "20";
  });
}

/** Where pods of that namespace were not over, at each change. */
const runningOn: string[] = [];

async function watchRunning(at: FleetNamespace): Promise<void> {
  const watched = [...fleet.workers].map(([cluster, { api }]) => {
    return { cluster, reflector: new Reflector({ api, clock: realClock, resource: pods, namespace: at.mapped }) };
  });
  const isLive = ({ status }: Pod): boolean => !["Succeeded", "Failed"].includes(status?.phase ?? "");
  const note = (): void => {
    const live = watched.filter(({ reflector }) => reflector.list().some(isLive));
    runningOn.push(live.map(({ cluster }) => cluster).join());
  };
  const end = new AbortController();
  const running = watched.map(({ reflector }) => {
    reflector.addHandler({ added: note, updated: note, deleted: note });
    return reflector.start(end.signal);
  });
  fleet.attach({
    stop: async () => {
      end.abort();
      await Promise.all(running);
    },
  });
  await at.until("seen to run", async () => runningOn.at(-1) === "east");
}

it.concurrent("A.7 A.8 deleted while it waits for a cluster: gone at once, and another one of that name runs", async () => {
  const at = await fleet.namespace("queued");
  const hub = await at.follow("j");
  await at.submit("j", { annotations: { [CLUSTER_SELECTOR]: "name=nowhere" }, spec: twoPods });
  await at.untilMessage("j", /^cannot run anywhere until something is changed: .*selector does not match/);
  await at.delete("j");
  expect(await at.job("j")).toBeUndefined();
  const second = await at.submit("j");
  expect((await at.untilFinished("j")).status).toMatchObject({ succeeded: 1 });
  await expectOwnStatus(hub, second.metadata.uid);
});

describe("while the worker's agent is away", () => {
  it.concurrent.each(["underway", "running"])("A.7 deleted while %s: gone within the bound", async (name) => {
    const { at } = place(name);
    await at.delete("j", "Foreground");
    await at.untilGone("j");
  });

  it.concurrent.each(["underway-again", "running-again"])(
    "A.8 %s: deleted, and created again for the same cluster",
    async (name) => {
      const { at } = place(name);
      await at.delete("j");
      await at.untilGone("j");
      await at.submit("j", EAST);
      await at.untilMessage("j", /east: not connected/);
    },
  );

  it.concurrent("B lost past lostAfter: the Job goes on elsewhere, with its completed indexes", async () => {
    const { at } = place("lost");
    await at.until("running on the other one", async () => {
      return (await at.pods("j")).some(({ cluster }) => cluster === "west");
    });
    const { metadata, status } = (await at.job("j")) ?? {};
    expect(metadata?.annotations?.[EPOCH]).toBe("2");
    expect(status?.completedIndexes).toBe("0");
    expect(await at.mirrorOn("east", "j")).toBeDefined();
    const reasons = (await at.events("j")).map(({ reason }) => reason);
    expect(reasons).toEqual(expect.arrayContaining(["ClusterLost", "Redispatched"]));
  });

  it.concurrent("B StopThenRedispatch: stopped on the lost cluster first, then started elsewhere", async () => {
    const { at, mirrors } = place("stopped");
    await mirrors.until(({ spec }) => spec.suspend === true);
    await at.until("running on the other one", async () => runningOn.at(-1) === "west");
    expect(runningOn).not.toContain("east,west");
    const { metadata, status } = (await at.job("j")) ?? {};
    expect(metadata?.annotations).toMatchObject({ [CLUSTER]: "west", [EPOCH]: "2" });
    expect(status?.completedIndexes).toBe("0");
  }, 240_000);
});

describe("when it is back", () => {
  beforeAll(async () => {
    await fleet.kill("east");
    await fleet.redis.acl("SETUSER", redisUser("east"), "on");
    fleet.startAgent("east");
  });

  it.concurrent("A.7 a delivery of a deleted Job never becomes a mirror", async () => {
    const { at, mirrors } = place("underway");
    // When this one is through, the agent has seen all that was sent before.
    await at.submit("next", EAST);
    await at.untilFinished("next");
    expect(mirrors.states).toEqual([]);
    await at.untilNothingIsLeft("j");
  });

  it.concurrent("A.7 the mirror of a deleted Job goes, with its pods", async () => {
    await place("running").at.untilNothingIsLeft("j");
  });

  it.concurrent.each(["lost", "stopped"])("B %s: the old mirror goes, and the Job ends elsewhere", async (name) => {
    const { at } = place(name);
    await at.until("the old mirror is gone", async () => (await at.mirrorOn("east", "j")) === undefined);
    await at.end("j", 0, 1);
    expect((await at.untilFinished("j")).status).toMatchObject({ succeeded: 2, completedIndexes: "0,1" });
    expect(await at.cluster("j")).toBe("west");
  });

  it.concurrent.each(["underway-again", "running-again"])("A.8 %s: the old mirror goes first", async (name) => {
    const { at, hub, mirrors } = place(name);
    const { metadata } = await at.untilFinished("j");
    await expectOwnStatus(hub, metadata.uid);
    await mirrors.until((job) => job.metadata.labels?.[HUB_UID_LABEL] === metadata.uid && isFinished(job));
    const owners = mirrors.values((job) => job.metadata.labels?.[HUB_UID_LABEL] ?? "");
    expect(owners.at(-1)).toBe(metadata.uid);
    expect(owners).toHaveLength(name === "running-again" ? 2 : 1);
    await at.untilNothingIsLeft("j");
  });
});

it("B all workers away at once: nothing is moved, that is said, and deletion still ends", async () => {
  const at = await fleet.namespace("all-away");
  for (const name of ["kept", "deleted"]) {
    await at.submit(name, { pod: forever });
    await at.untilActive(name, 1);
  }
  const created = await at.countPods();
  for (const name of fleet.workers.keys()) await fleet.kill(name);
  await at.delete("deleted");
  await at.untilGone("deleted");
  const status = /"status":"(http:[^"]+)","msg":"manager running"/.exec(await fleet.log("manager"))?.[1];
  await at.until("the loss timers are frozen", async () =>
    (await (await fetch(`${status}/metrics`)).text()).includes("\njobferry_loss_timers_frozen 1\n"),
  );
  await at.until("said so", async () => {
    const { status } = await fleet.hub.api.get(workerClusters, { name: "west" });
    return status?.conditions?.some(({ reason }) => reason === "MostClustersSilent") === true;
  });
  expect((await at.job("kept"))?.metadata.annotations?.[EPOCH]).toBe("1");
  for (const name of fleet.workers.keys()) fleet.startAgent(name);
  await at.untilNothingIsLeft("deleted");
  await at.end("kept", 0);
  expect((await at.untilFinished("kept")).status).toMatchObject({ succeeded: 1 });
  expect(await created("kept")).toBe(1);
});

it("B an agent that stands still past lostAfter and goes on: what it still had to do is not done", async () => {
  const at = await fleet.namespace("frozen");
  const created = await at.countPods();
  const lateMirrors = await at.followOn("east", "delivered");
  await runUntilIndex0IsDone(at);
  fleet.process("east").kill("SIGSTOP");
  // The manager has not noticed yet: this one is assigned, and lies in Redis.
  await at.submit("delivered", { annotations: { [CLUSTER_SELECTOR]: "name=east" } });
  await at.until("assigned", async () => (await at.cluster("delivered")) === "east");
  await at.edit("delivered", { metadata: { annotations: { [CLUSTER_SELECTOR]: null } } });
  await at.until("running on the other one", async () =>
    (await at.pods("j")).some(({ cluster }) => cluster === "west"),
  );
  await at.untilFinished("delivered");
  fleet.process("east").kill("SIGCONT");
  await at.until("the old mirror is gone", async () => (await at.mirrorOn("east", "j")) === undefined);
  await at.end("j", 0, 1);
  expect((await at.untilFinished("j")).status).toMatchObject({ succeeded: 2, completedIndexes: "0,1" });
  // When this one is through, the agent has seen all that was sent before.
  await at.submit("next", EAST);
  await at.untilFinished("next");
  expect(lateMirrors.states).toEqual([]);
  expect(await created("delivered")).toBe(1);
});
