import type { WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { EAST } from "../testing/hub-job.ts";
import { Clusters } from "./clusters.ts";
import type { Health } from "./health.ts";
import { ClusterStatusWriter } from "./status-writer.ts";

const key = (): string => generateKeyPair().publicKey.text;
const managerKey = key();

const health = (clusterID: string): Health => ({
  kind: "hello",
  clusterID,
  agentVersion: "1",
  kubernetesVersion: "v1.36.3",
  capacity: {},
  free: {},
  largestFreeNode: {},
  largestNode: {},
  stamp: "agent:1",
  resourceVersion: 1,
  managerKeys: [managerKey],
});

const conditionsOf = ({ status }: WorkerCluster) =>
  Object.fromEntries((status?.conditions ?? []).map(({ type, status: holds, reason }) => [type, `${holds} ${reason}`]));

/** A hub that stores the object; each write waits until it is let through. */
function aHub() {
  const clusters = new Clusters(new VirtualClock(), managerKey);
  const spec = { publicKey: key() };
  let stored: WorkerCluster = { metadata: { name: "east", uid: "u", resourceVersion: "1" }, spec };
  const held: (() => void)[] = [];
  const patch = async (_: unknown, __: unknown, { body }: { body: { status: WorkerCluster["status"] } }) => {
    await new Promise<void>((resolve) => held.push(resolve));
    const resourceVersion = String(Number(stored.metadata.resourceVersion) + 1);
    stored = { ...stored, metadata: { ...stored.metadata, resourceVersion }, status: body.status as never };
    return stored;
  };
  const east = clusters.upsert(EAST, stored);
  const api = { patch } as unknown as KubeApi;
  const writer = new ClusterStatusWriter({ api, clock: new VirtualClock(), clusters, runningJobs: () => 0 });
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    east,
    writer,
    stored: () => stored,
    underWay: () => held.length,
    turn,
    async letThrough() {
      await turn();
      held.shift()?.();
      await turn();
    },
  };
}

it("a hello while the first write is under way is shown right after it, and not before", async () => {
  const { east, writer, stored, underWay, turn, letThrough } = aHub();
  const first = writer.write(east);
  await turn();
  east.heard(health("one"));
  const second = writer.write(east);
  await turn();
  expect(underWay()).toBe(1);
  await letThrough();
  await first;
  expect(conditionsOf(stored())).toEqual({ Connected: "False Silent", Ready: "False NotConnected" });
  await letThrough();
  await second;
  expect(conditionsOf(stored())).toEqual({ Connected: "True Heartbeats", Ready: "True Accepting" });
});

it("knows what it wrote before the watch does", async () => {
  const { east, writer, underWay, turn, letThrough } = aHub();
  east.heard(health("one"));
  const first = writer.write(east);
  await letThrough();
  await first;
  await writer.write(east);
  await turn();
  expect(underWay()).toBe(0);
});

it("a cluster of another identity under the same name is not ready and not heard", async () => {
  const { east, writer, stored, letThrough } = aHub();
  const write = async () => {
    const written = writer.write(east);
    await letThrough();
    await written;
  };
  east.heard(health("one"));
  await write();
  east.heard(health("another"));
  await write();
  expect(conditionsOf(stored())).toMatchObject({ Ready: "False Rebuilt" });
  expect(stored().status?.clusterID).toBe("one");
  expect(east.notReady).toMatch(/enrolled again/);
});

it("a cluster whose agent trusts another manager's key is not connected, and its conditions say how to mend that", async () => {
  const { east, writer, stored, letThrough } = aHub();
  const heard = async (...managerKeys: string[]) => {
    east.heard({ ...health("one"), managerKeys });
    const written = writer.write(east);
    await letThrough();
    await written;
    return conditionsOf(stored());
  };
  const accepting = { Connected: "True Heartbeats", Ready: "True Accepting" };
  expect(await heard(key(), managerKey)).toEqual(accepting);
  expect(await heard(key())).toEqual({ Connected: "False OtherManagerKey", Ready: "False OtherManagerKey" });
  for (const { message } of stored().status?.conditions ?? []) expect(message).toContain(`put ${managerKey} under`);
  expect([east.isConnected, east.notReady]).toEqual([false, "its agent trusts another manager key"]);
  expect(await heard(managerKey)).toEqual(accepting);
});
