import { pods } from "@jobferry/shared/kube/resources.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { aPod } from "../nodes/testing/pod.ts";
import { RUN_FOR } from "../nodes/virtual-runtime.ts";
import { VirtualControllers } from "./testing/virtual-controllers.ts";

let world: VirtualControllers;
beforeEach(async () => {
  world = await new VirtualControllers().start();
});
afterEach(() => world.stop());

const finalizers = ["batch.kubernetes.io/job-tracking"];

test("GC-1: an unscheduled pod that is being deleted is marked Failed; its finalizer keeps it", async () => {
  await world.create(aPod("p", { finalizers, nodeSelector: { zone: "nowhere" } }));
  await world.api.delete(pods, world.key("p"));
  await world.clock.advance(19_000);
  expect((await world.pod("p")).status?.phase).toBe("Pending");
  await world.clock.advance(1000);
  const { metadata, status } = await world.pod("p");
  expect(status?.phase).toBe("Failed");
  expect(metadata.finalizers).toEqual(finalizers);
});

test("GC-1: pods of a vanished node fail with DisruptionTarget and are deleted", async () => {
  const annotations = { [RUN_FOR]: "forever" };
  await world.create(aPod("kept", { finalizers, annotations }));
  await world.create(aPod("gone", { annotations }));
  await world.plane.removeNode("test-node-1");
  await world.clock.advance(39_000);
  expect((await world.pod("kept")).status?.phase).toBe("Running");
  await world.clock.advance(1000);
  const { metadata, status } = await world.pod("kept");
  expect(status?.phase).toBe("Failed");
  expect(metadata.deletionTimestamp).toBeDefined();
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "DeletionByPodGC" }),
  );
  expect(await world.isGone("gone")).toBe(true);
});

test("running pods and pods that wait for a node are left alone", async () => {
  await world.create(aPod("runs", { annotations: { [RUN_FOR]: "forever" } }));
  await world.create(aPod("waits", { nodeSelector: { zone: "nowhere" } }));
  await world.clock.advance(600_000);
  expect((await world.pod("runs")).status?.phase).toBe("Running");
  expect((await world.pod("waits")).status?.phase).toBe("Pending");
});
