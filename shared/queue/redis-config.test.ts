import { afterEach, expect, it } from "vitest";
import { connectRedis, parseRedisConfig } from "./redis-config.ts";
import type { Client } from "./script-runner.ts";

const node = { host: "127.0.0.1", port: 1 };
const opened: Client[] = [];
const connect = (input: unknown, role: "sender" | "receiver"): Client => {
  const client = connectRedis(parseRedisConfig(input), role);
  client.on("error", () => {});
  opened.push(client);
  return client;
};

afterEach(() => {
  for (const client of opened.splice(0)) client.disconnect();
});

const bad: Record<string, { input: unknown; names: string }> = {
  nothing: { input: {}, names: "exactly one of url, sentinel and cluster" },
  "two ways": { input: { url: "redis://x", cluster: { nodes: [node] } }, names: "exactly one" },
  "another scheme": { input: { url: "http://x" }, names: "redis.url: must begin with redis://" },
  "a port out of range": {
    input: { cluster: { nodes: [{ host: "x", port: 70_000 }] } },
    names: "redis.cluster.nodes.0.port",
  },
  "an unknown key": { input: { url: "redis://x", urll: 1 }, names: "urll" },
};
for (const [name, { input, names }] of Object.entries(bad)) {
  it(`refuses ${name} and names the field`, () => expect(() => parseRedisConfig(input)).toThrow(names));
}

it("names the certificate file that cannot be read", () => {
  const input = { url: "rediss://127.0.0.1:1", tls: { caFile: "/nowhere/ca.pem" } };
  expect(() => connect(input, "sender")).toThrow("redis.tls.caFile: cannot read /nowhere/ca.pem");
});

it("makes senders fail fast and receivers wait", () => {
  const sender = connect({ url: "redis://127.0.0.1:1" }, "sender");
  expect(sender.options).toMatchObject({ enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: 5000 });
  const receiver = connect({ url: "redis://127.0.0.1:1" }, "receiver");
  expect(receiver.options).toMatchObject({ enableOfflineQueue: true, maxRetriesPerRequest: null });
});

it("gives the clients of Sentinel and Cluster the same credentials and TLS", () => {
  const common = { username: "jobferry-manager", password: "p", tls: { servername: "redis.example" } };
  const sentinel = connect({ ...common, sentinel: { master: "main", nodes: [node] } }, "sender");
  expect(sentinel.options).toMatchObject({
    name: "main",
    sentinels: [node],
    username: "jobferry-manager",
    tls: { servername: "redis.example" },
  });
  const cluster = connect({ ...common, cluster: { nodes: [node] } }, "sender");
  expect(cluster.options).toMatchObject({
    enableOfflineQueue: false,
    redisOptions: { username: "jobferry-manager", password: "p" },
  });
});
