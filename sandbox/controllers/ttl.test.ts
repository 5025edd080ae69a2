import { jobs } from "@jobferry/shared/kube/resources.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { VirtualControllers } from "./testing/virtual-controllers.ts";

let world: VirtualControllers;
beforeEach(async () => {
  world = await new VirtualControllers().start();
});
afterEach(() => world.stop());

const key = { namespace: "default", name: "j" };

test("TT-2: deleted when the time is over, not before", async () => {
  await world.createJob("j", { ttlSecondsAfterFinished: 30 });
  await world.clock.advance(60_000);
  await world.finishJob("j");
  await world.clock.advance(29_000);
  expect(await world.jobNames()).toEqual(["j"]);
  await world.clock.advance(1000);
  expect(await world.jobNames()).toEqual([]);
});

test("TT-2: zero means at once, and a failed Job counts as well", async () => {
  await world.createJob("j", { ttlSecondsAfterFinished: 0 });
  await world.finishJob("j", "Failed");
  expect(await world.jobNames()).toEqual([]);
});

test("TT-1: without a TTL, or unfinished, a Job stays", async () => {
  await world.createJob("kept");
  await world.createJob("running", { ttlSecondsAfterFinished: 1 });
  await world.finishJob("kept");
  await world.clock.advance(3_600_000);
  expect(await world.jobNames()).toEqual(["kept", "running"]);
});

test("TT-3: a TTL raised meanwhile counts", async () => {
  await world.createJob("j", { ttlSecondsAfterFinished: 10 });
  await world.finishJob("j");
  await world.clock.advance(9000);
  await world.api.patch(jobs, key, { type: "merge", body: { spec: { ttlSecondsAfterFinished: 100 } } });
  await world.clock.advance(50_000);
  expect(await world.jobNames()).toEqual(["j"]);
  await world.clock.advance(50_000);
  expect(await world.jobNames()).toEqual([]);
});

test("TT-3: the live Job decides, even when the cache is behind", async () => {
  await world.createJob("j", { ttlSecondsAfterFinished: 10 });
  await world.finishJob("j");
  world.cluster.faults.injectWatch({ client: "controllers", resource: "jobs" }, { effect: "dropEvent" });
  await world.api.patch(jobs, key, { type: "merge", body: { spec: { ttlSecondsAfterFinished: 100 } } });
  await world.clock.advance(50_000);
  expect(await world.jobNames()).toEqual(["j"]);
});

test("TT-3: the deletion waits for dependents (Foreground)", async () => {
  await world.createJob("j", { ttlSecondsAfterFinished: 0 });
  const seen: unknown[] = [];
  const watch = new AbortController();
  const { metadata } = await world.api.list(jobs);
  const watching = (async () => {
    for await (const batch of world.api.watch(jobs, { ...metadata, signal: watch.signal }))
      for (const event of batch) if (event.type === "MODIFIED") seen.push(...(event.object.metadata.finalizers ?? []));
  })().catch(() => {});
  await world.finishJob("j");
  await world.clock.settle();
  watch.abort();
  await watching;
  expect(seen).toContain("foregroundDeletion");
});
