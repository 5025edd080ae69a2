import type { WatchEvent } from "@jobferry/shared/kube/api.ts";
import { describe, expect, it } from "vitest";
import { frozenCopy, type Stored } from "./frozen.ts";
import { Store } from "./store.ts";
import type { StoreLimits } from "./table.ts";

const type = { group: "", plural: "configmaps", apiVersion: "v1", kind: "ConfigMap" };

function aStore(limits: Partial<StoreLimits> = {}) {
  const store = new Store(limits);
  const table = store.table(type);
  const put = (name: string, data: object = {}, namespace = "default"): Stored => {
    const uid = table.get(namespace, name)?.metadata.uid ?? `${namespace}/${name}`;
    const metadata = { name, namespace, uid, resourceVersion: store.nextRevision() };
    const object = frozenCopy({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
    store.put(table, object);
    return object;
  };
  return { store, table, put };
}

const names = (objects: Stored[]): string[] => objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
const everything = { matches: undefined, wantsBookmarks: false };

async function drain(batches: AsyncIterator<WatchEvent<Stored>[]>): Promise<string[]> {
  const { value, done } = await batches.next();
  if (done === true) return ["END"];
  return (value as WatchEvent<Stored>[]).map(
    ({ type, object }) => `${type} ${"name" in object.metadata ? object.metadata.name : ""}`,
  );
}

describe("a table", () => {
  it("lists in the order of etcd's keys", () => {
    const { table, put } = aStore();
    for (const [namespace, name] of [
      ["a", "x"],
      ["a-b", "x"],
      ["a", "a"],
      ["b", "x"],
    ] as const)
      put(name, {}, namespace);
    expect(names(table.sorted())).toEqual(["a-b/x", "a/a", "a/x", "b/x"]);
    expect(names(table.sorted("a"))).toEqual(["a/a", "a/x"]);
  });

  it("can still say what it held at an earlier revision", () => {
    const { store, table, put } = aStore();
    const first = put("a", { v: "1" });
    put("b");
    const { revision } = store;
    put("a", { v: "2" });
    put("c");
    store.remove(table, first);
    expect(names(table.sortedAt(revision))).toEqual(["default/a", "default/b"]);
    expect(table.sortedAt(revision)[0]?.data).toEqual({ v: "1" });
    expect(table.sortedAt(revision, "elsewhere")).toEqual([]);
  });

  it("replays what happened after a revision", async () => {
    const { store, table, put } = aStore();
    put("a");
    const { revision } = store;
    const b = put("b");
    store.remove(table, b);
    expect(await drain(table.watch({ ...everything, revision }))).toEqual(["ADDED b", "DELETED b"]);
  });

  it("forgets the oldest history first and says how far back it reaches", () => {
    const { table, put } = aStore({ history: 4 });
    for (let i = 0; i < 6; i++) put(`o${i}`);
    expect(table.compactedAt).toBeGreaterThan(1);
    expect(table.size).toBe(6);
  });

  it("gives all watchers the same event object", async () => {
    const { store, table, put } = aStore();
    const watchers = [1, 2].map(() => table.watch({ ...everything, revision: store.revision }));
    put("a");
    const [one, two] = await Promise.all(watchers.map((watcher) => watcher.next()));
    expect(one?.value?.[0]).toBe(two?.value?.[0]);
  });

  it("cuts a watcher off that does not read", async () => {
    const { store, table, put } = aStore({ watchBuffer: 3 });
    const slow = table.watch({ ...everything, revision: store.revision });
    for (let i = 0; i < 4; i++) put(`o${i}`);
    expect(slow.closed).toBe(true);
    expect(await drain(slow)).toEqual(["END"]);
    expect([...table.watchers()]).toEqual([]);
  });

  it("keeps watchers of one namespace out of the others", async () => {
    const { store, table, put } = aStore();
    const watcher = table.watch({ ...everything, revision: store.revision, namespace: "a" });
    put("x", {}, "b");
    put("y", {}, "a");
    expect(await drain(watcher)).toEqual(["ADDED y"]);
  });

  it("ends with the reason when aborted", async () => {
    const { store, table } = aStore();
    const watcher = table.watch({ ...everything, revision: store.revision });
    const step = watcher.next();
    watcher.abort(new Error("enough"));
    await expect(step).rejects.toThrow("enough");
  });
});

describe("the index of owners", () => {
  it("follows references as they come and go", () => {
    const { store, table } = aStore();
    const owned = (owners: string[]): Stored => {
      const ownerReferences = owners.map((uid) => ({ apiVersion: "v1", kind: "X", name: "x", uid }));
      const metadata = {
        name: "d",
        namespace: "default",
        uid: "d",
        resourceVersion: store.nextRevision(),
        ownerReferences,
      };
      const object = frozenCopy({ apiVersion: "v1", kind: "ConfigMap", metadata });
      store.put(table, object);
      return object;
    };
    owned(["1", "2"]);
    expect(store.dependentsOf("1")).toHaveLength(1);
    const last = owned(["2"]);
    expect(store.hasDependents("1")).toBe(false);
    expect(store.dependentsOf("2")[0]?.object).toBe(last);
    store.remove(table, last);
    expect(store.hasDependents("2")).toBe(false);
  });
});
