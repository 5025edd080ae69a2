import { isAlreadyExists, isConflict, isGone, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { configMaps, pods } from "@jobferry/shared/kube/resources.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { describe, expect, it } from "vitest";
import { SandboxCluster } from "./cluster.ts";
import { bindings } from "./nodes/resources.ts";

const aPod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: "c", image: "busybox:1" }] } });
const at = (name: string) => ({ namespace: "default", name });

describe("an in-process cluster", () => {
  it("creates, reads, replaces with optimistic locking, and deletes", async () => {
    const { api } = new SandboxCluster({ clock: new VirtualClock(), seed: 1 });
    const created = await api.create(configMaps, "default", { metadata: { name: "a" }, data: { x: "1" } });
    await expect(api.create(configMaps, "default", { metadata: { name: "a" } })).rejects.toSatisfy(isAlreadyExists);
    const replaced = await api.replace(configMaps, at("a"), { ...created, data: { x: "2" } });
    expect(replaced.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
    await expect(api.replace(configMaps, at("a"), { ...created, data: { x: "3" } })).rejects.toSatisfy(isConflict);
    const again = await api.replace(configMaps, at("a"), replaced);
    expect(again.metadata.resourceVersion).toBe(replaced.metadata.resourceVersion);
    expect(await api.delete(configMaps, at("a"))).toBeUndefined();
    await expect(api.get(configMaps, at("a"))).rejects.toSatisfy(isNotFound);
  });

  it("keeps stored objects out of the caller's reach", async () => {
    const { api } = new SandboxCluster({ seed: 1 });
    const mine = { metadata: { name: "a" }, data: { x: "1" } };
    const created = await api.create(configMaps, "default", mine);
    mine.data.x = "2";
    expect((await api.get(configMaps, at("a"))).data).toEqual({ x: "1" });
    expect(() => Object.assign(created.data ?? {}, { x: "3" })).toThrow(TypeError);
  });

  it("turns leaving and entering a selection into DELETED and ADDED", async () => {
    const { api } = new SandboxCluster({ seed: 1 });
    const { resourceVersion } = (await api.list(configMaps)).metadata;
    await api.create(configMaps, "default", { metadata: { name: "a", labels: { on: "yes" } } });
    await api.patch(configMaps, at("a"), { type: "merge", body: { metadata: { labels: { on: "no" } } } });
    await api.patch(configMaps, at("a"), { type: "merge", body: { metadata: { labels: { on: "yes" } } } });
    await api.delete(configMaps, at("a"));
    const seen: string[] = [];
    for await (const batch of api.watch(configMaps, { resourceVersion, labelSelector: "on=yes" })) {
      seen.push(...batch.map((event) => event.type));
      if (seen.length >= 4) break;
    }
    expect(seen).toEqual(["ADDED", "DELETED", "ADDED", "DELETED"]);
  });

  it("answers a watch from before a compaction with 410", async () => {
    const cluster = new SandboxCluster({ seed: 1 });
    const { api } = cluster;
    const { resourceVersion } = (await api.list(configMaps)).metadata;
    await api.create(configMaps, "default", { metadata: { name: "a" } });
    cluster.compact();
    const step = api.watch(configMaps, { resourceVersion })[Symbol.asyncIterator]().next();
    await expect(step).rejects.toSatisfy(isGone);
  });

  it("keeps a deleted pod on a node for its grace period, and one without a node not at all", async () => {
    const clock = new VirtualClock();
    const { api } = new SandboxCluster({ clock, seed: 1 });
    await api.create(pods, "default", aPod("waiting"));
    expect(await api.delete(pods, at("waiting"))).toBeUndefined();
    await api.create(pods, "default", aPod("bound"));
    await api.create(bindings, "default", {
      metadata: { name: "bound" },
      target: { apiVersion: "v1", kind: "Node", name: "n1" },
    });
    const marked = await api.delete(pods, at("bound"));
    expect(marked?.metadata).toMatchObject({
      deletionTimestamp: "2026-01-01T00:00:30Z",
      deletionGracePeriodSeconds: 30,
    });
    expect(await api.delete(pods, at("bound"), { gracePeriodSeconds: 0 })).toBeUndefined();
  });

  it("lists in pages that agree with each other while writes go on", async () => {
    const { api } = new SandboxCluster({ seed: 1 });
    for (const name of ["a", "b", "c"]) await api.create(configMaps, "default", { metadata: { name } });
    const first = await api.list(configMaps, { namespace: "default", limit: 2 });
    expect(first.metadata.remainingItemCount).toBe(1);
    await api.delete(configMaps, at("c"));
    const token = first.metadata.continue ?? "";
    const second = await api.list(configMaps, { namespace: "default", limit: 2, continue: token });
    expect(second.items.map((object) => object.metadata.name)).toEqual(["c"]);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });
});
