import { pods } from "@jobferry/shared/kube/resources.ts";
import { afterEach, expect, test } from "vitest";
import { nodes } from "./resources.ts";
import { aPod } from "./testing/pod.ts";
import { VirtualNodes } from "./testing/virtual-nodes.ts";
import { EXIT_CODE, RUN_FOR, STOP_IN } from "./virtual-runtime.ts";

let world: VirtualNodes;
afterEach(() => world.stop());

const forever = { annotations: { [RUN_FOR]: "forever" } };
const phaseOf = async (name: string) => (await world.pod(name)).status?.phase;

/** Writes of the kubelet to this pod's status. */
function countStatusWrites(): () => number {
  let writes = 0;
  world.cluster.faults.observeWrites({
    after(call) {
      if (call.client === "nodes" && call.subresource === "status") writes++;
    },
  });
  return () => writes;
}

test("a pod that ends at once takes one status write, one that runs for a while two", async () => {
  world = await new VirtualNodes().start();
  const writes = countStatusWrites();
  await world.create(aPod("instant"));
  expect(await phaseOf("instant")).toBe("Succeeded");
  expect(writes()).toBe(1);
  await world.create(aPod("short", { annotations: { [RUN_FOR]: "2s", [EXIT_CODE]: "4" } }));
  expect(await phaseOf("short")).toBe("Running");
  await world.clock.advance(2000);
  expect(await phaseOf("short")).toBe("Failed");
  expect(writes()).toBe(3);
});

test("conditions that others set stay", async () => {
  world = await new VirtualNodes().start();
  await world.create(aPod("p", forever));
  const body = { status: { conditions: [{ type: "example.com/Mine", status: "True" }] } };
  await world.api.patch(pods, world.key("p"), { type: "strategic", body }, { subresource: "status" });
  const { uid = "" } = (await world.pod("p")).metadata;
  expect(world.plane.finish(uid, 0)).toBe(true);
  await world.clock.settle();
  const { phase, conditions } = (await world.pod("p")).status ?? {};
  expect(phase).toBe("Succeeded");
  expect(conditions?.map(({ type }) => type)).toContain("example.com/Mine");
});

test("a deleted pod is stopped, reported and then removed", async () => {
  world = await new VirtualNodes().start();
  await world.create(aPod("p", { annotations: { [RUN_FOR]: "forever", [STOP_IN]: "5s" } }));
  await world.api.delete(pods, world.key("p"));
  await world.clock.advance(4999);
  expect(await phaseOf("p")).toBe("Running");
  await world.clock.advance(1);
  expect(await world.isGone("p")).toBe(true);
});

test("a finalizer keeps the deleted pod, with its final state", async () => {
  world = await new VirtualNodes().start();
  await world.create(aPod("p", { ...forever, finalizers: ["example.com/keep"] }));
  await world.api.delete(pods, world.key("p"));
  await world.clock.settle();
  const pod = await world.pod("p");
  expect(pod.status?.phase).toBe("Failed");
  expect(pod.metadata.deletionGracePeriodSeconds).toBe(0);
  await world.api.patch(pods, world.key("p"), { type: "merge", body: { metadata: { finalizers: null } } });
  expect(await world.isGone("p")).toBe(true);
});

test("a pod force-deleted and re-created under its name is run anew", async () => {
  world = await new VirtualNodes().start();
  await world.create(aPod("p", forever));
  await world.api.delete(pods, world.key("p"), { gracePeriodSeconds: 0 });
  await world.create(aPod("p", { annotations: { [RUN_FOR]: "1s" } }));
  await world.clock.advance(1000);
  expect(await phaseOf("p")).toBe("Succeeded");
});

test("a late event about a finished pod does not start it again", async () => {
  let runs = 0;
  world = await new VirtualNodes({
    behaviour: () => {
      runs++;
      return {};
    },
  }).start();
  world.cluster.faults.injectWatch(
    { client: "nodes", resource: "pods" },
    { effect: "delayEvent", ms: 1000 },
    { nth: 3 },
  );
  await world.create(aPod("p"));
  await world.api.patch(pods, world.key("p"), { type: "merge", body: { metadata: { labels: { a: "b" } } } });
  await world.clock.advance(5000);
  expect(await phaseOf("p")).toBe("Succeeded");
  expect(runs).toBe(1);
});

test("a status write that fails is tried again", async () => {
  world = await new VirtualNodes().start();
  world.cluster.faults.inject({ client: "nodes", subresource: "status" }, { effect: "fail", code: 500 }, { times: 3 });
  await world.create(aPod("p"));
  expect(await phaseOf("p")).toBe("Pending");
  await world.clock.advance(10_000);
  expect(await phaseOf("p")).toBe("Succeeded");
});

test("a lost node: its pods stay as last seen, and catch up when it is back", async () => {
  world = await new VirtualNodes().start();
  await world.create(aPod("p", { annotations: { [RUN_FOR]: "10s" } }));
  await world.plane.loseNode("test-node-1");
  await world.clock.advance(60_000);
  expect(await phaseOf("p")).toBe("Running");
  const lost = await world.api.get(nodes, { name: "test-node-1" });
  expect(lost.status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({ status: "Unknown" });
  await world.create(aPod("waits"));
  expect((await world.pod("waits")).spec.nodeName).toBeUndefined();
  await world.plane.recoverNode("test-node-1");
  await world.clock.settle();
  expect(await phaseOf("p")).toBe("Succeeded");
  expect(await phaseOf("waits")).toBe("Succeeded");
});

test.each([
  ["eviction", "EvictionByEvictionAPI"],
  ["preemption", "PreemptionByScheduler"],
  ["taint", "DeletionByTaintManager"],
] as const)("%s marks the pod as a disruption target and deletes it (GC-2)", async (by, reason) => {
  world = await new VirtualNodes().start();
  await world.create(aPod("p", { ...forever, finalizers: ["example.com/keep"] }));
  await world.plane.disrupt(world.key("p"), by);
  await world.clock.settle();
  const { metadata, status } = await world.pod("p");
  expect(metadata.deletionTimestamp).toBeDefined();
  expect(status?.phase).toBe("Failed");
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({ type: "DisruptionTarget", status: "True", reason }),
  );
});

test("eviction by the kubelet fails the pod without deleting it", async () => {
  world = await new VirtualNodes().start();
  await world.create(aPod("p", forever));
  await world.plane.disrupt(world.key("p"), "kubelet");
  await world.clock.settle();
  const { metadata, status } = await world.pod("p");
  expect(metadata.deletionTimestamp).toBeUndefined();
  expect(status).toMatchObject({ phase: "Failed", reason: "Evicted" });
  expect(status?.conditions).toContainEqual(expect.objectContaining({ reason: "TerminationByKubelet" }));
});
