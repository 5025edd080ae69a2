/** Behaviour that needs caches, queue and API together; single rules are tested beside the code. */
import { TRACKING_FINALIZER } from "@jobferry/shared/job/keys.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import { events, jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { afterEach, describe, expect, it } from "vitest";
import { Rig } from "./rig.ts";

let rig: Rig;
afterEach(() => rig.stop());

const inNamespace = (name: string) => ({ namespace: "default", name });
const isTracked = (pod: Pod) => pod.metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;
const conditions = async () =>
  (await rig.job()).status?.conditions?.filter(({ status }) => status === "True").map(({ type }) => type);

async function strangerLike(job: { metadata: { uid?: string } }, name: string): Promise<void> {
  const labels = { "batch.kubernetes.io/controller-uid": job.metadata.uid ?? "" };
  await rig.api.create(pods, "default", {
    metadata: { name, labels },
    spec: { containers: [{ name: "main", image: "busybox" }], restartPolicy: "Never" },
  });
}

describe("adoption and release", () => {
  it("AD-4 adopts a matching pod instead of creating one more", async () => {
    rig = await new Rig().start();
    await rig.submit({ parallelism: 2, completions: 5 });
    await rig.editJob({ parallelism: 3 });
    await rig.clock.advance(5000);
    await strangerLike(await rig.job(), "stranger");
    await rig.clock.advance(5000);
    const stranger = (await rig.pods()).find((pod) => pod.metadata.name === "stranger");
    expect(stranger === undefined || isTracked(stranger)).toBe(true);
    expect((await rig.job()).status?.active).toBe(3);
  });

  it("AD-3 releases a pod whose labels no longer match, and replaces it", async () => {
    rig = await new Rig().start();
    await rig.submit();
    const [pod] = await rig.pods();
    const labels = { "batch.kubernetes.io/controller-uid": "someone-else" };
    await rig.api.patch(pods, inNamespace(pod?.metadata.name ?? ""), { type: "merge", body: { metadata: { labels } } });
    await rig.clock.advance(5000);
    const all = await rig.pods();
    expect(all).toHaveLength(2);
    const released = all.find(({ metadata }) => metadata.name === pod?.metadata.name);
    expect(released?.metadata.ownerReferences ?? []).toEqual([]);
    expect(released && isTracked(released)).toBe(false);
  });
});

describe("deletion", () => {
  it("OR-6, OR-8 takes the finalizers from all pods of a Job under foreground deletion", async () => {
    rig = await new Rig().start();
    await rig.submit({ parallelism: 2, completions: 2 });
    await rig.ready("a", "b");
    await rig.api.delete(jobs, inNamespace("job"), { propagationPolicy: "Foreground" });
    await rig.clock.advance(5000);
    expect((await rig.pods()).filter(isTracked)).toEqual([]);
    expect(rig.trace.filter((line) => line.startsWith("create"))).toHaveLength(2);
  });

  it("OR-2 takes the finalizer from pods whose Job is gone", async () => {
    rig = await new Rig().start();
    await rig.submit();
    await rig.ready("a");
    await rig.api.delete(jobs, inNamespace("job"), { propagationPolicy: "Background" });
    await rig.clock.advance(1000);
    await rig.delete("a");
    await rig.clock.advance(60_000);
    expect((await rig.pods()).filter(isTracked)).toEqual([]);
  });
});

describe("failures of the API", () => {
  it("SX-4, Q-14 a refused creation is retried with back-off, and the status is written all the same", async () => {
    rig = new Rig();
    rig.cluster.faults.inject(
      { client: "controller", verb: "create", resource: "pods" },
      { effect: "fail", code: 403 },
      { times: 3 },
    );
    await rig.start();
    await rig.submit({ parallelism: 4, completions: 4 });
    expect((await rig.job()).status).toMatchObject({ ready: 0, terminating: 0 });
    await rig.clock.advance(8000);
    expect((await rig.job()).status?.active).toBe(4);
    expect(await rig.pods()).toHaveLength(4);
    const reasons = (await rig.api.list(events, { namespace: "default" })).items.map(({ reason }) => reason);
    expect(reasons).toContain("FailedCreate");
  });

  it("a creation that was applied although its answer was lost does not stop the Job", async () => {
    rig = new Rig();
    rig.cluster.faults.inject({ client: "controller", verb: "create", resource: "pods" }, { effect: "dropAnswer" });
    await rig.start();
    await rig.submit();
    await rig.clock.advance(30_000);
    expect((await rig.pods()).length).toBe(1);
    expect((await rig.job()).status?.active).toBe(1);
  });

  it("TK-13, SW-2 a conflict on the status loses no pod", async () => {
    rig = await new Rig().start();
    await rig.submit();
    rig.cluster.faults.inject(
      { client: "controller", verb: "update", resource: "jobs", subresource: "status" },
      { effect: "fail", code: 409, reason: "Conflict" },
    );
    await rig.succeed("a");
    expect((await rig.pods()).filter(isTracked)).toHaveLength(1);
    await rig.clock.advance(2000);
    expect(await conditions()).toEqual(["SuccessCriteriaMet", "Complete"]);
    expect((await rig.job()).status?.succeeded).toBe(1);
  });

  it("TK-17 pods whose finalizer could not be removed are counted later", async () => {
    rig = await new Rig().start();
    await rig.submit({ parallelism: 2, completions: 2 });
    rig.cluster.faults.inject({ client: "controller", verb: "patch", resource: "pods" }, { effect: "fail", code: 500 });
    await rig.succeed("a", "b");
    expect((await rig.job()).status).toMatchObject({
      succeeded: 1,
      uncountedTerminatedPods: { succeeded: [expect.any(String)] },
    });
    await rig.clock.advance(3000);
    expect((await rig.job()).status).toMatchObject({ succeeded: 2, uncountedTerminatedPods: {} });
    expect(await conditions()).toEqual(["SuccessCriteriaMet", "Complete"]);
  });
});

describe("caches that lag behind", () => {
  it("SW-8, CL-9 nothing is created from a cache that has not seen our own write", async () => {
    rig = await new Rig().start();
    await rig.submit();
    rig.cluster.faults.injectWatch(
      { client: "controller", resource: "jobs" },
      { effect: "delayEvent", ms: 20_000 },
      { times: Number.POSITIVE_INFINITY },
    );
    await rig.ready("a");
    await rig.clock.advance(2000);
    await rig.succeed("a");
    await rig.clock.advance(10_000);
    expect(await rig.pods()).toHaveLength(1);
    await rig.clock.advance(60_000);
    expect(await conditions()).toEqual(["SuccessCriteriaMet", "Complete"]);
    expect(await rig.pods()).toHaveLength(1);
  });

  it("SX-1 pods are not created twice while their events are under way", async () => {
    rig = new Rig();
    rig.cluster.faults.injectWatch(
      { client: "controller", resource: "pods" },
      { effect: "delayEvent", ms: 10_000 },
      { times: Number.POSITIVE_INFINITY },
    );
    await rig.start();
    await rig.submit({ parallelism: 3, completions: 3 });
    await rig.editJob({ parallelism: 4 });
    await rig.clock.advance(60_000);
    expect(await rig.pods()).toHaveLength(3);
  });
});

describe("large Jobs", () => {
  it("K-5, TK-10 creates and accounts in loads, and goes on without waiting for a batch", async () => {
    rig = await new Rig({ limits: { maxPodsPerSync: 10, maxUncountedPods: 10 } }).start();
    await rig.submit({ completionMode: "Indexed", parallelism: 35, completions: 35 });
    expect(await rig.pods()).toHaveLength(35);
    const all = (await rig.pods()).map(({ metadata }) => metadata.name ?? "");
    for (const name of all)
      await rig.api.patch(
        pods,
        inNamespace(name),
        { type: "merge", body: { status: { phase: "Succeeded" } } },
        { subresource: "status" },
      );
    await rig.clock.advance(1000);
    expect((await rig.job()).status).toMatchObject({ succeeded: 35, completedIndexes: "0-34" });
    expect(await conditions()).toEqual(["SuccessCriteriaMet", "Complete"]);
    expect((await rig.pods()).filter(isTracked)).toEqual([]);
  });
});

describe("who is claimed", () => {
  it("CL-3 leaves Jobs of others alone, and their pods with the finalizer", async () => {
    rig = await new Rig({ claim: { managedBy: "jobferry.dev/worker-agent" } }).start();
    await rig.submit({ managedBy: "example.com/other" });
    await rig.clock.advance(10_000);
    expect((await rig.job()).status ?? {}).toEqual({});
    expect(rig.written()).toEqual([]);
  });

  it("CL-14 runs Jobs that name it", async () => {
    rig = await new Rig({ claim: { managedBy: "jobferry.dev/worker-agent" } }).start();
    await rig.submit({ managedBy: "jobferry.dev/worker-agent" });
    await rig.succeed("a");
    expect(await conditions()).toEqual(["SuccessCriteriaMet", "Complete"]);
  });
});

describe("successors", () => {
  it("TK-21 a controller that starts afresh goes on where the last one stopped", async () => {
    rig = await new Rig().start();
    await rig.submit({ parallelism: 2, completions: 2 });
    await rig.stop();
    await rig.succeed("a", "b");
    await rig.start();
    await rig.clock.advance(2000);
    expect((await rig.job()).status).toMatchObject({ succeeded: 2, uncountedTerminatedPods: {} });
    expect(await conditions()).toEqual(["SuccessCriteriaMet", "Complete"]);
  });
});

it("TK-21 a crash between the two status writes counts every pod once", async () => {
  rig = await new Rig().start();
  await rig.submit({ parallelism: 2, completions: 2 });
  let statusWrites = 0;
  const withdraw = rig.cluster.faults.observeWrites({
    after: (call) => {
      if (call.subresource === "status" && call.client === "controller" && ++statusWrites === 1) rig.crash();
    },
  });
  await rig.succeed("a", "b");
  withdraw();
  const uids = (await rig.pods()).map(({ metadata }) => metadata.uid);
  expect((await rig.job()).status?.uncountedTerminatedPods?.succeeded?.toSorted()).toEqual(uids.toSorted());
  expect((await rig.pods()).filter(isTracked)).toHaveLength(2);
  await rig.start();
  await rig.clock.advance(2000);
  expect((await rig.job()).status).toMatchObject({ succeeded: 2, uncountedTerminatedPods: {} });
  expect(await conditions()).toEqual(["SuccessCriteriaMet", "Complete"]);
});

it("SU-12 a suspended elastic Job that is scaled down to what is done completes", async () => {
  rig = await new Rig().start();
  await rig.submit({ completionMode: "Indexed", parallelism: 2, completions: 2 });
  await rig.succeed("a");
  await rig.clock.advance(2000);
  await rig.editJob({ suspend: true });
  await rig.clock.advance(2000);
  await rig.editJob({ parallelism: 1, completions: 1 });
  await rig.clock.advance(5000);
  expect(await conditions()).toContain("Complete");
});
