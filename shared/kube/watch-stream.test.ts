import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { realClock } from "../runtime/clock.ts";
import type { KubeObject, WatchEvent } from "./api.ts";
import { failure, impatientClock, json, key, named, pods, served, status } from "./testing/served.ts";
import type { ResponseSink } from "./transport.ts";
import { watchStream } from "./watch-stream.ts";

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

test("a reader that falls behind stops the socket, and starts it again when it has caught up", async () => {
  const flow: string[] = [];
  let sink: ResponseSink | undefined;
  const watch = watchStream<KubeObject>({
    clock: realClock,
    request: { method: "GET", path: "/", headers: {} },
    resource: pods,
    credentials: { current: () => ({ headers: {} }), refresh() {} },
    openMs: 1000,
    onOpened() {},
    transport: {
      stream: (_request, _credentials, _openMs, opened) => {
        sink = opened;
        opened.start(200, {}, { pause: () => flow.push("pause"), resume: () => flow.push("resume") });
        opened.data(Buffer.from(event("first")));
        return (reason) => opened.fail(reason);
      },
    },
  });
  expect((await watch.next()).value).toHaveLength(1);
  sink?.data(Buffer.from(event("a").repeat(1999)));
  expect(flow).toEqual([]);
  sink?.data(Buffer.from(event("a")));
  expect(flow).toEqual(["pause"]);
  expect((await watch.next()).value).toHaveLength(2000);
  expect(flow).toEqual(["pause", "resume"]);
  await watch.return(undefined);
});

test("what a slow reader was sent arrives in full and in order", async () => {
  const sent = Array.from({ length: 20_000 }, (_, i) => String(i));
  const { client } = await served((response) => response.writeHead(200).end(sent.map(event).join("")));
  const names: string[] = [];
  for await (const batch of client.watch(pods, { resourceVersion: "5" })) {
    for (const { object } of batch) names.push((object as KubeObject).metadata.name ?? "");
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(names).toEqual(sent);
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
