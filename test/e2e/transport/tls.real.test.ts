/** Redis with TLS, an authority of its own, and certificates that it asks its clients for. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { connectRedis } from "@jobferry/shared/queue/redis-config.ts";
import { openRedisBus } from "@jobferry/shared/queue/redis-flags.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { until } from "../../fleet/until.ts";
import { makeCertificate } from "../../harness/certificate.ts";
import { type GuardedProcess, guardedDirectory, startGuarded } from "../../harness/guarded-process.ts";
import { withFreePorts } from "../../harness/ports.ts";
import { findRedis } from "../../harness/redis.ts";

const directory = guardedDirectory("redis-tls");
const file = (name: string): string => join(directory.path, name);
const options = { clock: realClock, logger: silentLogger };
let server: GuardedProcess | undefined;
let redisUrl = "";
const ours = { redisCaFile: file("redis.crt"), redisCertFile: file("agent.crt"), redisKeyFile: file("agent.key") };

const certificate = (name: string) => makeCertificate(directory.path, name);

beforeAll(async () => {
  const source = await findRedis();
  if (source.kind !== "program") throw new Error("this test needs redis-server or valkey-server on this machine");
  await Promise.all(["redis", "agent"].map(certificate));
  await withFreePorts(1, async ([port = 0]) => {
    redisUrl = `rediss://127.0.0.1:${port}`;
    const args = [
      ...["--bind", "127.0.0.1", "--port", "0", "--tls-port", String(port), "--dir", directory.path],
      ...["--tls-cert-file", file("redis.crt"), "--tls-key-file", file("redis.key")],
      ...["--tls-ca-cert-file", file("agent.crt"), "--tls-auth-clients", "yes", "--maxmemory-policy", "noeviction"],
    ];
    server = startGuarded({ name: "redis-tls", command: source.path, args, logFile: file("redis.log") });
    await until("Redis accepts connections", async () => (await server?.log())?.includes("Ready to accept") === true);
  });
});
afterAll(async () => {
  await server?.stop(0);
  await directory.remove();
});

it("carries messages with the files that the flags name", async () => {
  const bus = await openRedisBus({ redisUrl, ...ours }, options);
  const address = { cluster: parseClusterName("east"), box: "reports" } as const;
  const heard: string[] = [];
  const subscription = bus.consume(address, async (text) => void heard.push(text));
  await bus.send(address, "hello");
  await until("the message has come", async () => heard.length === 1);
  expect(heard).toEqual(["hello"]);
  await subscription.stop(1_000);
  await bus.close(1_000);
});

it("Redis changes its certificate, and then its authority, under connections that stand, and new ones get in all the time", async () => {
  const files = { caFile: ours.redisCaFile, certFile: ours.redisCertFile, keyFile: ours.redisKeyFile };
  const admin = connectRedis({ url: redisUrl, tls: files }, "receiver") as Redis;
  onTestFinished(() => admin.disconnect());
  admin.on("error", () => {});
  const standing = await openRedisBus({ redisUrl, ...ours }, options);
  onTestFinished(() => standing.close(1_000));
  const address = { cluster: parseClusterName("west"), box: "reports" } as const;
  const cuts: boolean[] = [];
  standing.onReachable((reachable) => cuts.push(reachable));

  // First everybody accepts both, then Redis shows the next one, then the former is taken away.
  await certificate("next");
  const both = { ...ours, redisCaFile: file("both.crt") };
  await writeFile(
    both.redisCaFile,
    (await readFile(file("redis.crt"), "utf8")) + (await readFile(file("next.crt"), "utf8")),
  );
  const early = await openRedisBus({ redisUrl, ...both }, options);
  onTestFinished(() => early.close(1_000));
  await admin.config("SET", "tls-cert-file", file("next.crt"), "tls-key-file", file("next.key"));
  const late = await openRedisBus({ redisUrl, ...both }, options);
  onTestFinished(() => late.close(1_000));
  const next = await openRedisBus({ redisUrl, ...ours, redisCaFile: file("next.crt") }, options);
  onTestFinished(() => next.close(1_000));
  for (const bus of [standing, early, late, next]) await bus.send(address, "still here");
  expect(await standing.waiting(address)).toBe(4);
  expect(cuts).toEqual([]);
  await expect(openRedisBus({ redisUrl, ...ours }, options)).rejects.toThrow(/self.signed/);
  await admin.config("SET", "tls-cert-file", file("redis.crt"), "tls-key-file", file("redis.key"));
});

it.each<[string, Partial<typeof ours>]>([
  ["an authority that nobody knows", { redisCertFile: ours.redisCertFile, redisKeyFile: ours.redisKeyFile }],
  ["a client without a certificate", { redisCaFile: ours.redisCaFile }],
])("does not talk with %s", async (_, files) => {
  await expect(openRedisBus({ redisUrl, ...files }, options)).rejects.toThrow(/--redis-url 127\.0\.0\.1/);
});
