import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { KubeObject, WatchEvent } from "./api.ts";
import { failure, impatientClock, json, key, named, pods, served, status } from "./testing/served.ts";

const event = (name: string): string => `${JSON.stringify({ type: "ADDED", object: { metadata: { name } } })}\n`;
async function namesOf(watch: AsyncIterable<WatchEvent<KubeObject>[]>): Promise<string[]> {
  const names: string[] = [];
  for await (const batch of watch)
    for (const { type, object } of batch) names.push(type === "ADDED" ? (object.metadata.name ?? "") : type);
  return names;
}

test("a watch yields events cut across chunks and ends with the stream", async () => {
  const { client, seen } = await served((response) => {
    response.writeHead(200);
    const text = event("a") + event("b");
    response.write(text.slice(0, 10));
    setImmediate(() => {
      response.write(text.slice(10));
      response.end(event("c"));
    });
  });
  const watch = client.watch(pods, {
    namespace: "ns",
    resourceVersion: "5",
    allowWatchBookmarks: true,
    timeoutSeconds: 60,
  });
  expect(await namesOf(watch)).toEqual(["a", "b", "c"]);
  expect(seen[0]?.url).toBe(
    "/api/v1/namespaces/ns/pods?resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=60&watch=true",
  );
});

test("a refused watch rejects with the Status, after one renewal of credentials for 401", async () => {
  const { client, seen } = await served((response, _, count) =>
    count === 1 ? json(response, 401, status(401, "Unauthorized")) : json(response, 410, status(410, "Expired")),
  );
  expect(await failure(namesOf(client.watch(pods, { resourceVersion: "5" })))).toMatchObject({
    code: 410,
    reason: "Expired",
  });
  expect(seen).toHaveLength(2);
});

test("a cut watch gives the events before the cut, then rejects", async () => {
  const { client } = await served((response) => {
    response.writeHead(200);
    response.write(event("a"), () => response.destroy());
  });
  const names: string[] = [];
  const reading = (async () => {
    for await (const batch of client.watch(pods, { resourceVersion: "5" }))
      for (const { object } of batch) names.push((object as KubeObject).metadata.name ?? "");
  })();
  expect(await failure(reading)).toMatchObject({ code: 0, reason: "ConnectionFailed" });
  expect(names).toEqual(["a"]);
});

test("leaving a watch closes its connection and drops its listener", async () => {
  const { client, sockets } = await served((response) => {
    response.writeHead(200);
    response.write(event("a"));
  });
  const controller = new AbortController();
  for await (const _ of client.watch(pods, { resourceVersion: "5", signal: controller.signal })) break;
  await expect.poll(() => [...sockets].every((socket) => socket.destroyed)).toBe(true);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("a watch the server does not end in time is ended by us", async () => {
  const { clock } = impatientClock();
  const { client } = await served((response) => response.writeHead(200).flushHeaders(), { clock });
  const watch = client.watch(pods, { resourceVersion: "5", timeoutSeconds: 1 });
  expect(await failure(namesOf(watch))).toMatchObject({ code: 0, reason: "Timeout" });
});

test("a slow reader of a watch stops the server instead of filling the memory", async () => {
  let written = 0;
  const block = event("x".repeat(1000)).repeat(100);
  const { client } = await served((response) => {
    response.writeHead(200);
    const pump = (): void => {
      while (written < 5000 && response.write(block)) written++;
      if (written++ < 5000) response.once("drain", pump);
    };
    pump();
  });
  const reader = client.watch(pods, { resourceVersion: "5" })[Symbol.asyncIterator]();
  const first = await reader.next();
  let before = -1;
  await expect
    .poll(() => {
      const stalled = written === before;
      before = written;
      return stalled;
    })
    .toBe(true);
  expect(written).toBeLessThan(5000);
  expect(first.done).toBe(false);
  await reader.return?.();
});

test("open watches take no connection from calls", async () => {
  const { client } = await served(
    (response, { url }) =>
      url.includes("watch=true") ? response.writeHead(200).flushHeaders() : json(response, 200, named),
    { connections: { calls: 1, watches: 8 } },
  );
  const controller = new AbortController();
  const watches = Array.from({ length: 8 }, () =>
    namesOf(client.watch(pods, { resourceVersion: "5", signal: controller.signal })).catch(() => "ended"),
  );
  await client.get(pods, key);
  controller.abort();
  expect(await Promise.all(watches)).toEqual(watches.map(() => "ended"));
});
