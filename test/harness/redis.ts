import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { installPackages } from "./apt.ts";
import { dockerVersion } from "./docker.ts";
import { type GuardedProcess, guardedDirectory, startGuarded } from "./guarded-process.ts";
import { PortTakenError, saysPortTaken, withFreePorts } from "./ports.ts";

export interface TestRedis {
  readonly url: string;
  /** Where it comes from, for messages. */
  readonly source: string;
  /** Ends it and starts it again, with what it had on disk. Undefined where it is not ours to end. */
  restart?(): Promise<void>;
  stop(): Promise<void>;
}

/** What Jobferry asks of every Redis: nothing evicted, writes on disk. */
export const settings = ["--maxmemory-policy", "noeviction", "--appendonly", "yes", "--save", ""];
const programs = ["redis-server", "valkey-server"];
const defaultImage = "redis:8";
const readyLimitMs = 10_000;

type RedisSource = { kind: "url"; url: string } | { kind: "program"; path: string } | { kind: "docker"; image: string };

export class RedisMissingError extends Error {
  override name = "RedisMissingError";
}

/** A Redis of its own for one test: its own port and folder (or REDIS_URL, as it is). */
export async function startRedis(report: (line: string) => void = console.error): Promise<TestRedis> {
  const source = await findRedis(report);
  switch (source.kind) {
    case "url":
      return { url: source.url, source: "REDIS_URL", stop: () => Promise.resolve() };
    case "program":
      return startProgram(source.path);
    case "docker":
      return startRedisContainer(source.image);
  }
}

/** The first way to a Redis that works here; installs one where that is allowed. */
export async function findRedis(report: (line: string) => void = console.error): Promise<RedisSource> {
  const { REDIS_URL: url, JOBFERRY_REDIS_IMAGE: image = defaultImage } = process.env;
  if (url) return { kind: "url", url };
  const installed = await onPath(programs);
  if (installed !== undefined) return { kind: "program", path: installed };
  if ((await dockerVersion()) !== undefined) return { kind: "docker", image };
  if (await installPackages("Redis", ["redis-server"], report)) {
    const path = await onPath(programs);
    if (path !== undefined) return { kind: "program", path };
  }
  throw new RedisMissingError(
    "Redis is missing: install redis-server or valkey-server, start Docker, or set REDIS_URL to one that runs.",
  );
}

async function onPath(names: readonly string[]): Promise<string | undefined> {
  for (const name of names)
    for (const directory of (process.env.PATH ?? "").split(delimiter)) {
      const path = join(directory, name);
      const found = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (directory !== "" && found) return path;
    }
  return undefined;
}

async function startProgram(path: string): Promise<TestRedis> {
  const directory = guardedDirectory("redis");
  const start = async ([port = 0]: number[]): Promise<TestRedis> => {
    const args = ["--bind", "127.0.0.1", "--port", String(port), "--dir", directory.path, ...settings];
    const run = () => startGuarded({ name: "redis", command: path, args, logFile: join(directory.path, "redis.log") });
    let server = run();
    const url = `redis://127.0.0.1:${port}`;
    await untilReady(url, server);
    return {
      url,
      source: path,
      async restart() {
        await server.stop(5_000);
        server = run();
        await untilReady(url, server);
      },
      async stop() {
        await server.stop(0);
        await directory.remove();
      },
    };
  };
  return withFreePorts(1, start).catch(async (error: unknown) => {
    await directory.remove();
    throw error;
  });
}

export async function untilReady(url: string, server: GuardedProcess): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: null, enableOfflineQueue: false });
  client.on("error", () => {});
  const deadline = performance.now() + readyLimitMs;
  try {
    for (;;) {
      if (!server.running) {
        const log = await server.log();
        throw saysPortTaken(log) ? new PortTakenError(log) : new Error(`Redis ended while starting\n${log}`);
      }
      const pong = await client.connect().then(
        () => client.ping(),
        () => undefined,
      );
      if (pong === "PONG") return;
      if (performance.now() > deadline) throw new Error(`Redis was not ready after ${readyLimitMs / 1000} s`);
      await delay(20);
    }
  } finally {
    client.disconnect();
  }
}

/** Redis from an image, through testcontainers. */
export async function startRedisContainer(image = defaultImage): Promise<TestRedis> {
  const { GenericContainer, Wait } = await import("testcontainers"); // a second to load
  const password = randomBytes(16).toString("hex"); // Docker may publish the port beyond this machine
  const container = await new GenericContainer(image)
    .withExposedPorts(6379)
    .withCommand(["redis-server", ...settings, "--requirepass", password])
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/i))
    .start();
  return {
    url: `redis://:${password}@${container.getHost()}:${container.getMappedPort(6379)}`,
    source: `image ${image}`,
    async stop() {
      await container.stop({ timeout: 0 });
    },
  };
}
