import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { afterEach, describe, expect, it, vi } from "vitest";
import { dockerVersion, requireDocker } from "./docker.ts";
import { findRedis, RedisMissingError, startRedis, startRedisContainer, type TestRedis } from "./redis.ts";
import { runCommand } from "./run-command.ts";

const image = "jobferry-test/redis:local";
let redis: TestRedis | undefined;

afterEach(async () => {
  vi.unstubAllEnvs();
  await redis?.stop();
  redis = undefined;
});

describe("startRedis", () => {
  it("starts a server that evicts nothing and keeps an append-only file", async () => {
    redis = await startRedis();
    const client = new Redis(redis.url);
    expect(await client.config("GET", "maxmemory-policy")).toEqual(["maxmemory-policy", "noeviction"]);
    expect(await client.config("GET", "appendonly")).toEqual(["appendonly", "yes"]);
    client.disconnect();
  });

  it("hands one job over through BullMQ", async () => {
    redis = await startRedis();
    const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
    const queue = new Queue("handover", { connection });
    let hear: (delivery: unknown[]) => void = () => {};
    const delivery = new Promise<unknown[]>((resolve) => {
      hear = resolve;
    });
    const worker = new Worker("handover", async (job) => hear([job.name, job.data]), { connection });
    await queue.add("deliver", { uid: "u-1", epoch: 3 });
    expect(await delivery).toEqual(["deliver", { uid: "u-1", epoch: 3 }]);
    await worker.close();
    await queue.close();
    connection.disconnect();
  });

  it("gives every caller a server of its own", async () => {
    redis = await startRedis();
    const other = await startRedis();
    expect(other.url).not.toBe(redis.url);
    await other.stop();
    const client = new Redis(redis.url);
    expect(await client.ping()).toBe("PONG");
    client.disconnect();
  });

  it("takes REDIS_URL as it is", async () => {
    vi.stubEnv("REDIS_URL", "redis://redis.example:7000");
    expect(await findRedis()).toEqual({ kind: "url", url: "redis://redis.example:7000" });
  });

  it("says in one sentence what to install when there is no way", async () => {
    vi.stubEnv("REDIS_URL", "");
    vi.stubEnv("PATH", "/nonexistent");
    await expect(findRedis()).rejects.toThrow(RedisMissingError);
    await expect(findRedis()).rejects.toThrow("install redis-server or valkey-server, start Docker, or set REDIS_URL");
  });
});

describe("Redis in a container", () => {
  it("is refused with what it needs where Docker does not answer", async () => {
    vi.stubEnv("PATH", "/nonexistent");
    await expect(requireDocker("this test")).rejects.toThrow(
      'this test needs Docker, and "docker info" does not answer',
    );
  });

  it("starts through testcontainers", async ({ skip }) => {
    const source = await findRedis();
    if ((await dockerVersion()) === undefined) skip('Docker is missing: "docker info" does not answer');
    if (source.kind === "program") await importRedisImage(source.path);
    vi.stubEnv("TESTCONTAINERS_RYUK_DISABLED", "true"); // its helper image may not be to be had either
    redis = await startRedisContainer(source.kind === "program" ? image : undefined);
    const client = new Redis(redis.url);
    expect(await client.config("GET", "maxmemory-policy")).toEqual(["maxmemory-policy", "noeviction"]);
    client.disconnect();
  });
});

/** An image without a registry: the installed redis-server and its libraries are the whole file system. */
async function importRedisImage(program: string): Promise<void> {
  const script = `set -e
    root=$(mktemp -d); trap 'rm -rf "$root"' EXIT
    mkdir -p "$root/usr/bin" "$root/data"; cp -L "$1" "$root/usr/bin/redis-server"
    for library in $(ldd "$1" | grep -o '/[^ ]*'); do mkdir -p "$root$(dirname "$library")"; cp -L "$library" "$root$library"; done
    tar -C "$root" -c . | docker import - "$2"`;
  const result = await runCommand("sh", ["-c", script, "sh", program, image]);
  if (result.code !== 0) throw new Error(result.stderr);
}
