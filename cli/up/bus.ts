/** What carries the messages of a fleet: the Redis that was named, a private one, or memory. */
import type { Bus } from "@jobferry/shared/queue/bus.ts";
import { MemoryBus } from "@jobferry/shared/queue/memory-bus.ts";
import { RedisBus } from "@jobferry/shared/queue/redis-bus.ts";
import { type RedisFlags, readRedisFlags } from "@jobferry/shared/queue/redis-flags.ts";
import { placesOf } from "@jobferry/shared/queue/redis-url.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { findRedisServer, startPrivateRedis } from "./redis.ts";

const START_MS = 5_000;

export interface FleetBus {
  readonly bus: Bus;
  /** For people. */
  readonly carrier: string;
  /** Settles when messages cannot be carried any more, with what to do. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

const never = new Promise<never>(() => {});

export interface BusOptions {
  /** URL of a Redis that runs already. */
  redis: string | undefined;
  /** How it is reached. */
  config: Omit<RedisFlags, "redisUrl">;
  /** Where a server is looked for. */
  path: string;
  logger: Logger;
}

export async function openBus({ redis, config, path, logger }: BusOptions): Promise<FleetBus> {
  if (redis !== undefined) return await named({ ...config, redisUrl: redis }, logger);
  const program = await findRedisServer(path);
  if (program === undefined) return inMemory("no redis-server or valkey-server is on PATH");
  try {
    const { bus, failed, stop } = await startPrivateRedis(program, logger);
    return { bus, carrier: `a private ${program}`, failed, close: stop };
  } catch (error) {
    return inMemory(`${program} cannot be used: ${(error as Error).message}`);
  }
}

async function named(flags: RedisFlags, logger: Logger): Promise<FleetBus> {
  let bus: RedisBus | undefined;
  try {
    bus = new RedisBus({ config: readRedisFlags(flags), clock: realClock, logger });
    await bus.start(START_MS);
  } catch (cause) {
    await bus?.close(0);
    throw new ConfigError(
      `--redis: ${(cause as Error).message}; start Redis there, or leave --redis and REDIS_URL out`,
      {
        cause,
      },
    );
  }
  const opened = bus;
  return {
    bus: opened,
    carrier: `Redis at ${placesOf(flags.redisUrl)}`,
    failed: never,
    close: () => opened.close(3_000),
  };
}

function inMemory(why: string): FleetBus {
  const bus = new MemoryBus({ clock: realClock });
  return { bus, carrier: `this process's memory (${why})`, failed: never, close: () => bus.close(0) };
}
