import { getEventListeners } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { KubeClient, RequestObservation } from "./client.ts";
import type { CredentialSource } from "./credentials.ts";
import { isOutcomeUnknown } from "./errors.ts";
import {
  type Answer,
  connect,
  echo,
  failure,
  impatientClock,
  json,
  key,
  named,
  pods,
  served,
  status,
} from "./testing/served.ts";

test.each([429, 500, 502, 503, 504])("%d is retried with growing, jittered waits", async (code) => {
  const { clock, waits } = impatientClock();
  const { client, seen } = await served(
    (response, _, count) =>
      count <= 3 ? json(response, code, status(code, "X")) : json(response, 200, { metadata: {} }),
    { clock },
  );
  await client.get(pods, key);
  expect(seen).toHaveLength(4);
  expect(waits).toEqual([100, 200, 400]);
});

test("Retry-After is respected", async () => {
  const { clock, waits } = impatientClock();
  const { client } = await served(
    (response, seen, count) =>
      count === 1
        ? json(response, 429, status(429, "TooManyRequests"), { "retry-after": "2" })
        : echo(response, seen, count),
    { clock },
  );
  await client.get(pods, key);
  expect(waits[0]).toBeGreaterThanOrEqual(2000);
});

test("a Retry-After beyond the deadline ends the call with the server's answer", async () => {
  const busy: Answer = (response) => json(response, 429, status(429, "TooManyRequests"), { "retry-after": "60" });
  const { client, seen } = await served(busy);
  expect(await failure(client.get(pods, key))).toMatchObject({ code: 429, retryAfterMs: 60_000 });
  expect(seen).toHaveLength(1);
});

test("retries are bounded", async () => {
  const { clock } = impatientClock();
  const { client, seen } = await served((response) => json(response, 503, status(503, "ServiceUnavailable")), {
    clock,
  });
  expect(await failure(client.get(pods, key))).toMatchObject({ code: 503 });
  expect(seen).toHaveLength(5);
});

const breaks: Answer = (response) => response.destroy();
const writes: [string, number, (client: KubeClient) => Promise<unknown>][] = [
  ["a create with a name", 5, (client) => client.create(pods, "ns", named)],
  ["a create with generateName", 1, (client) => client.create(pods, "ns", { metadata: { generateName: "a-" } })],
  ["a replace", 5, (client) => client.replace(pods, key, named)],
  ["a merge patch", 5, (client) => client.patch(pods, key, { type: "merge", body: {} })],
  ["a JSON patch", 1, (client) => client.patch(pods, key, { type: "json", body: [] })],
  ["a delete", 5, (client) => client.delete(pods, key)],
];
test.each(writes)(
  "when the connection breaks, %s is sent %d times, and its outcome is unknown",
  async (_, times, act) => {
    const { client, seen } = await served(breaks, { clock: impatientClock().clock });
    const error = await failure(act(client));
    expect(error).toMatchObject({ code: 0, reason: "ConnectionFailed" });
    expect(isOutcomeUnknown(error)).toBe(true);
    expect(seen).toHaveLength(times);
  },
);

test("a create with generateName is retried when the server says it did not do it", async () => {
  const { client, seen } = await served(
    (response, _, count) => json(response, count === 1 ? 429 : 201, count === 1 ? status(429, "X") : named),
    { clock: impatientClock().clock },
  );
  await client.create(pods, "ns", { metadata: { generateName: "a-" } });
  expect(seen).toHaveLength(2);
});

test("a refused connection is retried and is known not to have been sent", async () => {
  const { clock, waits } = impatientClock();
  const client = connect("http://127.0.0.1:1", { clock });
  const error = await failure(client.create(pods, "ns", { metadata: { generateName: "a-" } }));
  expect(error).toMatchObject({ code: 0, reason: "NotSent" });
  expect(isOutcomeUnknown(error)).toBe(false);
  expect(waits).toHaveLength(4);
  await client.close();
});

test("a server that never answers costs no more than the deadline", async () => {
  const { client } = await served(() => {}, { timeoutMs: 50 });
  expect(await failure(client.get(pods, key))).toMatchObject({ code: 0, reason: "Timeout" });
  expect(await failure(client.get(pods, key, { timeoutMs: 20 }))).toMatchObject({ message: /within (19|20) ms/ });
});

test("the deadline also ends calls that wait for a connection, and they are never sent", async () => {
  const held: ServerResponse[] = [];
  const { client, seen } = await served((response) => held.push(response), { connections: { calls: 1, watches: 1 } });
  const first = client.get(pods, key);
  expect(await failure(client.get(pods, key, { timeoutMs: 30 }))).toMatchObject({ reason: "Timeout" });
  await expect.poll(() => held.length).toBe(1);
  for (const response of held) json(response, 200, named);
  await first;
  const third = client.get(pods, key);
  await expect.poll(() => held.length).toBe(2);
  for (const response of held.slice(1)) json(response, 200, named);
  await third;
  expect(seen).toHaveLength(2);
});

test("a signal ends the call with its own reason and is not listened to any longer", async () => {
  const { client } = await served((response, seen, count) => {
    if (count === 1) echo(response, seen, count);
  });
  const controller = new AbortController();
  await client.get(pods, key, { signal: controller.signal });
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  const call = client.get(pods, key, { signal: controller.signal });
  const reason = new Error("no longer wanted");
  controller.abort(reason);
  await expect(call).rejects.toBe(reason);
  await expect(client.get(pods, key, { signal: controller.signal })).rejects.toBe(reason);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("401 renews the credentials once; a second 401 is the answer", async () => {
  let token = "old";
  let refreshed = 0;
  const source: CredentialSource = {
    current: () => ({ headers: { authorization: `Bearer ${token}` } }),
    refresh: () => {
      refreshed++;
      token = "new";
    },
  };
  const { client, seen } = await served(
    (response, { headers }) =>
      headers.authorization === "Bearer new"
        ? json(response, 200, named)
        : json(response, 401, status(401, "Unauthorized")),
    {},
    source,
  );
  await client.create(pods, "ns", { metadata: { generateName: "a-" } });
  expect(refreshed).toBe(1);
  const hopeless = await served((response) => json(response, 401, status(401, "Unauthorized")), {}, source);
  expect(await failure(hopeless.client.get(pods, key))).toMatchObject({ code: 401, reason: "Unauthorized" });
  expect([seen.length, hopeless.seen.length]).toEqual([2, 2]);
});

test("credentials that cannot be had are an ApiError", async () => {
  const { clock } = impatientClock();
  const { client, seen } = await served(
    echo,
    { clock },
    { current: () => Promise.reject(new Error("no plugin")), refresh() {} },
  );
  expect(await failure(client.get(pods, key))).toMatchObject({ code: 0, reason: "NotSent", message: /no plugin/ });
  expect(seen).toEqual([]);
});

test("every attempt is observed", async () => {
  const observed: RequestObservation[] = [];
  const { client } = await served(
    (response, _, count) => (count === 1 ? json(response, 500, {}) : json(response, 200, named)),
    { clock: impatientClock().clock, onRequest: (observation) => observed.push(observation) },
  );
  await client.patch(pods, key, { type: "merge", body: {} });
  expect(observed.map(({ method, resource, code }) => `${method} ${resource} ${code}`)).toEqual([
    "PATCH pods 500",
    "PATCH pods 200",
  ]);
});
