import { pods } from "@jobferry/shared/kube/resources.ts";
import { afterEach, expect, test } from "vitest";
import { nodes } from "./resources.ts";
import { aPod } from "./testing/pod.ts";
import { VirtualNodes } from "./testing/virtual-nodes.ts";
import { RUN_FOR } from "./virtual-runtime.ts";

let world: VirtualNodes;
afterEach(() => world.stop());

const forever = { annotations: { [RUN_FOR]: "forever" } };
const cpu = (quantity: string) => ({ containers: [{ resources: { requests: { cpu: quantity } } }] });
const nodeOf = async (name: string): Promise<string | undefined> => (await world.pod(name)).spec.nodeName;
const scheduledCondition = async (name: string) =>
  (await world.pod(name)).status?.conditions?.find(({ type }) => type === "PodScheduled");

test("pods are spread over the nodes, the least loaded first", async () => {
  world = await new VirtualNodes({ nodes: [{ cpu: "4" }, { cpu: "4" }] }).start();
  for (const name of ["a", "b", "c", "d"]) await world.create(aPod(name, { ...forever, ...cpu("1") }));
  const placed = await Promise.all(["a", "b", "c", "d"].map(nodeOf));
  expect(placed.sort()).toEqual(["test-node-1", "test-node-1", "test-node-2", "test-node-2"]);
});

test("a pod that fits nowhere says why, and is placed when another one ends", async () => {
  world = await new VirtualNodes({ nodes: [{ cpu: "1" }, { cpu: "2", labels: { zone: "b" } }] }).start();
  const hog = { ...cpu("1"), nodeSelector: { zone: "b" }, annotations: { [RUN_FOR]: "10s" } };
  await world.create(aPod("first", hog));
  await world.create(aPod("second", hog));
  await world.create(aPod("waits", { ...hog, ...forever }));
  const why = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector.";
  expect(await scheduledCondition("waits")).toMatchObject({ status: "False", reason: "Unschedulable", message: why });
  expect(world.events).toContainEqual({ object: "waits", type: "Warning", reason: "FailedScheduling", message: why });
  await world.clock.advance(10_000);
  expect(await nodeOf("waits")).toBe("test-node-2");
  expect(await scheduledCondition("waits")).toMatchObject({ status: "True" });
});

test("without any node pods wait, and a new node takes them", async () => {
  world = await new VirtualNodes({ nodes: [] }).start();
  await world.create(aPod("waits"));
  expect(await scheduledCondition("waits")).toMatchObject({ message: "no nodes available to schedule pods" });
  await world.api.create(nodes, undefined, {
    metadata: { name: "late" },
    status: { allocatable: { cpu: "1", memory: "1Gi", pods: "10" } },
  });
  await world.clock.settle();
  expect(await nodeOf("waits")).toBe("late");
});

test("a deleted pod frees its place; one deleted while it waits is forgotten", async () => {
  world = await new VirtualNodes({ nodes: [{ pods: 1 }] }).start();
  await world.create(aPod("first", forever));
  await world.create(aPod("never", forever));
  await world.create(aPod("next", forever));
  await world.api.delete(pods, world.key("never"));
  await world.api.delete(pods, world.key("first"));
  await world.clock.settle();
  expect(await nodeOf("next")).toBe("test-node-1");
});

test("an important pod goes first when room is made", async () => {
  world = await new VirtualNodes({ nodes: [{ pods: 1 }] }).start();
  await world.create(aPod("running", { annotations: { [RUN_FOR]: "5s" } }));
  await world.create(aPod("early", forever));
  await world.create(aPod("important", { ...forever, priority: 100 }));
  await world.clock.advance(5000);
  expect(await nodeOf("important")).toBe("test-node-1");
  expect(await nodeOf("early")).toBeUndefined();
});

test("gated pods and pods of other schedulers are left alone", async () => {
  world = await new VirtualNodes().start();
  await world.create(aPod("gated", { schedulingGates: [{ name: "example.com/wait" }] }));
  await world.create(aPod("foreign", { schedulerName: "other" }));
  expect(await nodeOf("gated")).toBeUndefined();
  expect(await nodeOf("foreign")).toBeUndefined();
  await world.api.patch(pods, world.key("gated"), { type: "merge", body: { spec: { schedulingGates: null } } });
  await world.clock.settle();
  expect(await nodeOf("gated")).toBe("test-node-1");
});

test("a bind that fails is tried again and takes its place only once", async () => {
  world = await new VirtualNodes({ nodes: [{ pods: 1 }] }).start();
  world.cluster.faults.inject({ client: "nodes", subresource: "binding" }, { effect: "fail", code: 500 });
  await world.create(aPod("a", forever));
  expect(await nodeOf("a")).toBeUndefined();
  await world.clock.advance(1000);
  expect(await nodeOf("a")).toBe("test-node-1");
});

test("a thousand pods through ten places: none is placed above capacity", async () => {
  world = await new VirtualNodes({ nodes: [{ pods: 5 }, { pods: 5 }] }).start();
  const running = new Map<string, number>();
  let most = 0;
  world.plane.reflectors.pods.addHandler({
    updated(before, after) {
      const node = after.spec.nodeName ?? "";
      if (before.spec.nodeName === undefined && node !== "") running.set(node, (running.get(node) ?? 0) + 1);
      if (before.status?.phase !== "Succeeded" && after.status?.phase === "Succeeded")
        running.set(node, (running.get(node) ?? 0) - 1);
      most = Math.max(most, ...running.values());
    },
  });
  for (let i = 0; i < 1000; i++)
    await world.api.create(pods, "default", aPod(`p${i}`, { annotations: { [RUN_FOR]: "1s" } }));
  const finished = (): number =>
    world.plane.reflectors.pods.list().filter(({ status }) => status?.phase === "Succeeded").length;
  await world.clock.runUntil(() => finished() === 1000);
  expect(most).toBe(5);
});
