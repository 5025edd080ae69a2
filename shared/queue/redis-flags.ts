/** How both services are told where Redis is, and how they connect to it when they start. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import type { Clock } from "../runtime/clock.ts";
import { ConfigError } from "../runtime/config-error.ts";
import type { Logger } from "../runtime/logger.ts";
import { RedisBus } from "./redis-bus.ts";
import { parseRedisConfig, type RedisConfig } from "./redis-config.ts";

export const redisFlags = {
  redisUrl: z
    .string()
    .default("redis://127.0.0.1:6379")
    .describe("redis://host:port or rediss://host:port; user and password may stand in it"),
  redisPasswordFile: z.string().optional().describe("file with the password of the Redis user, instead of in the URL"),
};

interface RedisFlags {
  redisUrl: string;
  redisPasswordFile?: string | undefined;
}

/** A container may start before its network is there; what takes longer is worth an exit and a message. */
const START_MS = 5_000;

/** Resolves when Redis answers and may be used; else rejects with `ConfigError`. */
export async function openRedisBus(flags: RedisFlags, clock: Clock, logger: Logger): Promise<RedisBus> {
  const bus = new RedisBus({ config: readRedisFlags(flags), clock, logger });
  try {
    for (const { message } of await bus.start(START_MS))
      logger.warn({ redis: message }, "Redis could be set up better");
    return bus;
  } catch (cause) {
    await bus.close(0);
    throw new ConfigError(`--redis-url ${hostOf(flags.redisUrl)}: ${(cause as Error).message}`, { cause });
  }
}

/** A user in the URL and a password in a file make one pair of credentials. */
export function readRedisFlags({ redisUrl, redisPasswordFile }: RedisFlags): RedisConfig {
  try {
    if (redisPasswordFile === undefined) return parseRedisConfig({ url: redisUrl });
    const url = new URL(redisUrl);
    const { username } = url;
    url.username = "";
    url.password = "";
    return parseRedisConfig({
      url: url.href,
      password: readFileSync(redisPasswordFile, "utf8").trim(),
      ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    });
  } catch (cause) {
    throw new ConfigError(`--redis-url or --redis-password-file: ${(cause as Error).message}`, { cause });
  }
}

/** Never the credentials. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "(not a URL)");
