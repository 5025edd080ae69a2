import type { Pod } from "@jobferry/shared/job/types.ts";
import type { DeleteOptions } from "@jobferry/shared/kube/api.ts";
import { isNamespaceTerminating, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs, namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { SandboxCluster } from "../cluster.ts";

const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox:1" }] } };
const at = (name: string, namespace = "default") => ({ namespace, name });

let clock: VirtualClock;
let cluster: SandboxCluster;

beforeEach(async () => {
  clock = new VirtualClock();
  cluster = new SandboxCluster({ clock, seed: 1 });
  await cluster.start();
});

async function aJobWithPod(finalizers?: string[]): Promise<void> {
  const job = await cluster.api.create(jobs, "default", { metadata: { name: "j" }, spec: { template } });
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "j", uid: job.metadata.uid ?? "" };
  await cluster.api.create(pods, "default", {
    metadata: {
      name: "p",
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      ...(finalizers === undefined ? {} : { finalizers }),
    },
    spec: template.spec,
  });
}

async function deleteJob(options: DeleteOptions): Promise<void> {
  await cluster.api.delete(jobs, at("j"), options);
  await clock.settle();
}

const pod = (): Promise<Pod | undefined> => cluster.api.get(pods, at("p")).catch(ifGone);
const job = () => cluster.api.get(jobs, at("j")).catch(ifGone);
function ifGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

describe("deleting an owner", () => {
  it("in the background removes it first and its dependents after (OR-7)", async () => {
    await aJobWithPod(["example.com/hold"]);
    await deleteJob({ propagationPolicy: "Background" });
    expect(await job()).toBeUndefined();
    expect((await pod())?.metadata.deletionTimestamp).toBeDefined();
  });

  it("in the foreground keeps it until its dependents are gone (OR-7)", async () => {
    await aJobWithPod(["example.com/hold"]);
    await deleteJob({ propagationPolicy: "Foreground" });
    expect((await job())?.metadata.finalizers).toEqual(["foregroundDeletion"]);
    expect((await pod())?.metadata.deletionTimestamp).toBeDefined();
    await cluster.api.patch(pods, at("p"), { type: "merge", body: { metadata: { finalizers: null } } });
    await clock.settle();
    expect(await pod()).toBeUndefined();
    expect(await job()).toBeUndefined();
  });

  it("orphaning takes the owner reference off its dependents (OR-7)", async () => {
    await aJobWithPod();
    await deleteJob({ propagationPolicy: "Orphan" });
    expect(await job()).toBeUndefined();
    expect((await pod())?.metadata.ownerReferences).toBeUndefined();
  });

  it("orphans the pods of a Job when no policy is given (AP-7)", async () => {
    await aJobWithPod();
    await deleteJob({});
    expect(await job()).toBeUndefined();
    expect(await pod()).toBeDefined();
  });
});

describe("a dependent", () => {
  const create = (owners: { kind: string; uid: string }[]) =>
    cluster.api.create(pods, "default", {
      metadata: {
        name: "p",
        ownerReferences: owners.map(({ kind, uid }) => ({ apiVersion: "batch/v1", kind, name: "j", uid })),
      },
      spec: template.spec,
    });

  it("is collected when its owner never was", async () => {
    await create([{ kind: "Job", uid: "no-such-uid" }]);
    await clock.settle();
    expect(await pod()).toBeUndefined();
  });

  it("is left alone when the kind of its owner is not served", async () => {
    await create([{ kind: "Task", uid: "no-such-uid" }]);
    await clock.settle();
    expect(await pod()).toBeDefined();
  });

  it("stays with its remaining owner and loses the reference that dangles", async () => {
    const owner = await cluster.api.create(jobs, "default", { metadata: { name: "j" }, spec: { template } });
    const uid = owner.metadata.uid ?? "";
    await create([
      { kind: "Job", uid: "no-such-uid" },
      { kind: "Job", uid },
    ]);
    await clock.settle();
    expect((await pod())?.metadata.ownerReferences?.map((reference) => reference.uid)).toEqual([uid]);
  });

  it("is collected even when the first attempts fail", async () => {
    cluster.faults.inject({ client: "garbage-collector", verb: "delete" }, { effect: "fail", code: 500 }, { times: 2 });
    await create([{ kind: "Job", uid: "no-such-uid" }]);
    await clock.advance(1000);
    expect(await pod()).toBeDefined();
    await clock.advance(1000);
    expect(await pod()).toBeUndefined();
  });
});

describe("deleting a namespace", () => {
  it("empties it, refuses new content meanwhile, and waits for finalizers", async () => {
    const { api } = cluster;
    await api.create(namespaces, undefined, { metadata: { name: "n" } });
    await api.create(pods, "n", { metadata: { name: "p", finalizers: ["example.com/hold"] }, spec: template.spec });
    await api.create(pods, "n", { metadata: { name: "q" }, spec: template.spec });
    await api.delete(namespaces, { name: "n" });
    await clock.settle();
    expect((await api.list(pods, { namespace: "n" })).items.map((object) => object.metadata.name)).toEqual(["p"]);
    const late = api.create(pods, "n", { metadata: { name: "r" }, spec: template.spec });
    await expect(late).rejects.toSatisfy(isNamespaceTerminating);
    await api.patch(pods, at("p", "n"), { type: "merge", body: { metadata: { finalizers: null } } });
    await clock.settle();
    await expect(api.get(namespaces, { name: "n" })).rejects.toSatisfy(isNotFound);
  });
});

describe("many dependents", () => {
  it("cost a foreground deletion one look each, not one look per pair", async () => {
    const { api } = cluster;
    const owner = await api.create(jobs, "default", { metadata: { name: "j" }, spec: { template } });
    const reference = { apiVersion: "batch/v1", kind: "Job", name: "j", uid: owner.metadata.uid ?? "" };
    const names = Array.from({ length: 300 }, (_, index) => `p${index}`);
    for (const name of names)
      await api.create(pods, "default", {
        metadata: {
          name,
          finalizers: ["example.com/hold"],
          ownerReferences: [{ ...reference, blockOwnerDeletion: true }],
        },
        spec: template.spec,
      });
    let writes = 0;
    cluster.faults.observeWrites({
      before({ client }) {
        if (client === "garbage-collector") writes++;
      },
    });
    await deleteJob({ propagationPolicy: "Foreground" });
    for (const name of names)
      await api.patch(pods, at(name), { type: "merge", body: { metadata: { finalizers: null } } });
    await clock.settle();
    expect(await job()).toBeUndefined();
    expect(writes).toBe(names.length + 1);
  });
});
