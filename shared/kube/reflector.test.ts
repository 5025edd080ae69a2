import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { Logger } from "../runtime/logger.ts";
import type { KubeObject } from "./api.ts";
import { ApiError } from "./errors.ts";
import type { ScriptedWatch } from "./testing/scripted-api.ts";
import { added, bookmark, deleted, expired, modified, page, scripted, thing } from "./testing/scripted-reflector.ts";

test("lists page by page, is synced after the last page, and watches from the list's version", async () => {
  const { clock, listed, watches, heard, reflector } = scripted(
    [page([thing("a"), thing("b")], "7", "t1"), page([thing("c")], "7", "t2"), page([thing("d")], "7")],
    { pageSize: 2, labelSelector: "x=y", namespace: "ns" },
  );
  let synced = false;
  void reflector.whenSynced().then(() => {
    synced = true;
  });
  expect(reflector.hasSynced).toBe(false);
  await clock.settle();
  expect(synced && reflector.hasSynced).toBe(true);
  expect(listed.map((list) => [list.limit, list.continue, list.resourceVersion, list.labelSelector])).toEqual([
    [2, undefined, undefined, "x=y"],
    [2, "t1", undefined, "x=y"],
    [2, "t2", undefined, "x=y"],
  ]);
  expect(heard).toEqual(["+a@1", "+b@1", "+c@1", "+d@1"]);
  expect(reflector.size).toBe(4);
  expect(reflector.get("ns", "c")?.metadata.uid).toBe("uid-c");
  const { resourceVersion, allowWatchBookmarks, namespace, labelSelector } = watches[0]?.options ?? {};
  expect({ resourceVersion, allowWatchBookmarks, namespace, labelSelector }).toEqual({
    resourceVersion: "7",
    allowWatchBookmarks: true,
    namespace: "ns",
    labelSelector: "x=y",
  });
});

test("applies events, and a cut watch resumes at the last version seen, bookmarks included", async () => {
  const { clock, listed, watches, heard, reflector, lastWatch } = scripted([page([thing("a")], "7")]);
  await clock.settle();
  lastWatch().push(added(thing("b", "8")), modified(thing("a", "9")));
  lastWatch().push(deleted(thing("b", "10")));
  await clock.settle();
  expect(heard).toEqual(["+a@1", "+b@8", "a@1>a@9", "-b@10"]);
  expect(reflector.resourceVersion).toBe("10");
  lastWatch().push(bookmark("42"));
  lastWatch().end();
  await clock.runUntil(() => watches.length === 2);
  expect(lastWatch().options.resourceVersion).toBe("42");
  lastWatch().push(added(thing("c", "43")));
  lastWatch().fail(new ApiError(0, "ConnectionFailed", "cut"));
  await clock.runUntil(() => watches.length === 3);
  expect(lastWatch().options.resourceVersion).toBe("43");
  expect(listed).toHaveLength(1);
});

test.each([
  { how: "as an event", expire: (watch: ScriptedWatch) => watch.push({ type: "ERROR", object: expired }) },
  { how: "as an answer", expire: (watch: ScriptedWatch) => watch.fail(ApiError.fromStatus(expired)) },
])("410 $how leads to a new list, and what was missed is told", async ({ expire }) => {
  const { clock, watches, heard, reflector, lastWatch } = scripted([
    page([thing("gone"), thing("same"), thing("changed"), thing("replaced")], "7"),
    page([thing("same"), thing("changed", "20"), thing("replaced", "21", { uid: "other" }), thing("new", "22")], "30"),
  ]);
  await clock.settle();
  heard.length = 0;
  expire(lastWatch());
  await clock.runUntil(() => watches.length === 2);
  expect(heard).toEqual(["changed@1>changed@20", "-replaced@1", "+replaced@21", "+new@22", "-gone@1"]);
  expect(reflector.hasSynced).toBe(true);
  expect(lastWatch().options.resourceVersion).toBe("30");
});

test("deletion and creation of one name are told as two things, even if the watch shows one update", async () => {
  const { clock, heard, lastWatch } = scripted([page([thing("a")], "7")]);
  await clock.settle();
  lastWatch().push(modified(thing("a", "8", { uid: "second" })));
  await clock.settle();
  expect(heard).toEqual(["+a@1", "-a@1", "+a@8"]);
});

test("a continue token that expires mid-list starts the list again, losing and doubling nothing", async () => {
  const { clock, heard, reflector } = scripted([
    page([thing("a"), thing("b")], "7", "t1"),
    ApiError.fromStatus(expired),
    page([thing("b"), thing("c")], "9"),
  ]);
  await clock.runUntil(() => reflector.hasSynced);
  expect(heard).toEqual(["+a@1", "+b@1", "+c@1", "-a@1"]);
});

test("failing lists back off with growing waits, and never end it", async () => {
  const failures = Array.from({ length: 5 }, () => new ApiError(503, "ServiceUnavailable", "down"));
  const { clock, listed, reflector } = scripted([...failures, page([], "7")], {
    backoff: { baseMs: 100, maxMs: 1000 },
  });
  for (const [tries, wait] of [100, 200, 400, 800, 1000].entries()) {
    await clock.settle();
    expect(listed).toHaveLength(tries + 1);
    await clock.advance(wait - 1);
    expect(listed).toHaveLength(tries + 1);
    await clock.advance(1);
  }
  expect(reflector.hasSynced).toBe(true);
});

test("the wait is at least what the server asks for", async () => {
  const busy = new ApiError(429, "TooManyRequests", "busy", { retryAfterMs: 7000 });
  const { clock, listed } = scripted([busy, page([], "7")]);
  await clock.advance(6999);
  expect(listed).toHaveLength(1);
  await clock.advance(2000);
  expect(listed).toHaveLength(2);
});

test("a server that closes every watch at once is not asked in a hot loop", async () => {
  const { clock, watches, lastWatch } = scripted([page([], "7")], { backoff: { baseMs: 100, maxMs: 1000 } });
  await clock.settle();
  for (const wait of [100, 200, 400]) {
    const before = watches.length;
    lastWatch().push(bookmark("8"));
    lastWatch().end();
    await clock.advance(wait - 1);
    expect(watches).toHaveLength(before);
    await clock.advance(1);
    expect(watches).toHaveLength(before + 1);
  }
});

test("a watch without a sign of life is replaced, once the server has shown that it sends bookmarks", async () => {
  const { clock, watches, lastWatch } = scripted([page([], "7")], { watchIdleMs: 90_000 });
  await clock.advance(200_000);
  expect(watches).toHaveLength(1);
  lastWatch().push(bookmark("8"));
  await clock.advance(60_000);
  lastWatch().push(bookmark("9"));
  await clock.advance(89_000);
  expect(watches).toHaveLength(1);
  await clock.advance(1_000);
  expect(watches).toHaveLength(2);
  expect(lastWatch().options.resourceVersion).toBe("9");
});

test("a handler that throws is logged, and the others hear the event", async () => {
  const logged: string[] = [];
  const logger: Logger = {
    debug() {},
    info() {},
    warn() {},
    error: (_, message) => logged.push(message),
    child: () => logger,
  };
  const { clock, heard, reflector, lastWatch } = scripted([page([], "7")], { logger });
  reflector.addHandler({
    added: () => {
      throw new Error("my fault");
    },
  });
  const after: string[] = [];
  reflector.addHandler({ added: (object) => after.push(object.metadata.name ?? "") });
  await clock.settle();
  lastWatch().push(added(thing("a", "8")), added(thing("b", "9")));
  await clock.settle();
  expect(heard).toEqual(["+a@8", "+b@9"]);
  expect(after).toEqual(["a", "b"]);
  expect(logged).toEqual(["event handler failed", "event handler failed"]);
});

test("a handler added late hears of what is there", async () => {
  const { clock, reflector } = scripted([page([thing("a"), thing("b")], "7")]);
  await clock.settle();
  const names: string[] = [];
  reflector.addHandler({ added: (object) => names.push(object.metadata.name ?? "") });
  expect(names).toEqual(["a", "b"]);
});

test("transform decides what is kept; one that throws leaves the object out and the rest intact", async () => {
  const { clock, reflector, lastWatch } = scripted(
    [page([thing("a", "1", { managedFields: [{}] }), thing("bad")], "7")],
    {
      transform: (object) => {
        if (object.metadata.name === "bad") throw new Error("cannot");
        const { managedFields, ...metadata } = object.metadata;
        return { ...object, metadata };
      },
    },
  );
  await clock.settle();
  expect(reflector.list()).toEqual([thing("a")]);
  lastWatch().push(modified(thing("a", "2", { managedFields: [{}] })));
  await clock.settle();
  expect(reflector.list()).toEqual([thing("a", "2")]);
});

test("indexes follow the objects", async () => {
  const owned = (name: string, resourceVersion: string, ...owners: string[]): KubeObject =>
    thing(name, resourceVersion, { labels: { owners: owners.join("_") } });
  const { clock, reflector, lastWatch } = scripted([page([owned("a", "1", "x"), owned("b", "1", "x", "y")], "7")], {
    indexers: { owner: (object) => (object.metadata.labels?.owners ?? "").split("_") },
  });
  const names = (owner: string) => reflector.byIndex("owner", owner).map((object) => object.metadata.name);
  await clock.settle();
  expect([names("x"), names("y"), names("z")]).toEqual([["a", "b"], ["b"], []]);
  lastWatch().push(modified(owned("a", "8", "z")), deleted(owned("b", "9", "x", "y")));
  await clock.settle();
  expect([names("x"), names("y"), names("z")]).toEqual([[], [], ["a"]]);
  expect(reflector.byIndex("owner", "z")[0]?.metadata.resourceVersion).toBe("8");
  expect(() => reflector.byIndex("unknown", "x")).toThrow("no index unknown");
});

test.each(["watching", "listing", "waiting to retry"])(
  "stopping while %s ends it and leaves no listener",
  async (when) => {
    const lists = when === "waiting to retry" ? [new ApiError(500, "InternalError", "down")] : [page([], "7")];
    const { clock, stop, done } = scripted(lists);
    if (when !== "listing") await clock.settle();
    stop.abort(new Error("enough"));
    await expect(done).resolves.toBeUndefined();
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  },
);

test("many watches in a row leave no listeners on a long-lived signal", async () => {
  const { clock, stop, watches, lastWatch } = scripted([page([], "7")]);
  await clock.settle();
  for (let round = 0; round < 20; round++) {
    lastWatch().push(added(thing(`t${round}`, String(10 + round))));
    lastWatch().end();
    await clock.runUntil(() => watches.length === round + 2);
  }
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
});
