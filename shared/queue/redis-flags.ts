/** How both services are told where Redis is, and how they connect to it when they start. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { ConfigError } from "../runtime/config-error.ts";
import type { Logger } from "../runtime/logger.ts";
import { TransportError, type TransportErrorCode } from "./errors.ts";
import { RedisBus, type RedisBusOptions } from "./redis-bus.ts";
import { parseRedisConfig, type RedisConfig } from "./redis-config.ts";
import type { Finding } from "./redis-server.ts";

export const redisFlags = {
  redisUrl: z
    .string()
    .default("redis://127.0.0.1:6379")
    .describe("redis://host:port or rediss://host:port; user and password may stand in it"),
  redisPasswordFile: z.string().optional().describe("file with the password of the Redis user, instead of in the URL"),
  redisCaFile: z
    .string()
    .optional()
    .describe("PEM file with the authority of Redis' certificate, with rediss://; else those that Node knows"),
  redisCertFile: z.string().optional().describe("PEM file with our own certificate, where Redis asks for one"),
  redisKeyFile: z.string().optional().describe("PEM file with the private key of that certificate"),
};

interface RedisFlags {
  redisUrl: string;
  redisPasswordFile?: string | undefined;
  redisCaFile?: string | undefined;
  redisCertFile?: string | undefined;
  redisKeyFile?: string | undefined;
}

/** A refused connection or an unknown name shows at once; a host that swallows packets shows by saying nothing for this long. */
const START_MS = 5_000;

/** Resolves when Redis answers and may be used; else rejects with `ConfigError`. */
export async function openRedisBus(flags: RedisFlags, options: BusOptions): Promise<RedisBus> {
  warnInTheClear(flags, options.logger);
  const bus = new RedisBus({ ...options, config: readRedisFlags(flags) });
  try {
    advise(await bus.start(START_MS), options.logger);
    return bus;
  } catch (cause) {
    await bus.close(0);
    throw refusal(flags, cause);
  }
}

type BusOptions = Omit<RedisBusOptions, "config">;

export interface RedisLink {
  readonly bus: RedisBus;
  /** What keeps us from Redis; undefined when nothing does. */
  problem(): string | undefined;
  /** Rejects with `ConfigError` if Redis answers at the start that it will not have us as we are; else resolves. */
  readonly admitted: Promise<void>;
}

/** For those who have work to do without Redis: it is connected to in the background, however long that takes. */
export function followRedis(flags: RedisFlags, options: BusOptions): RedisLink {
  const { logger } = options;
  warnInTheClear(flags, logger);
  const bus = new RedisBus({ ...options, config: readRedisFlags(flags) });
  let unfit: string | undefined;
  const look = async (): Promise<void> => {
    try {
      advise(await bus.start(START_MS), logger);
      unfit = undefined;
    } catch (cause) {
      unfit = refusal(flags, cause).message;
      throw cause;
    }
  };
  const follow = (): void => {
    bus.onReachable((reachable) => {
      if (reachable) look().catch((error: unknown) => logger.error({ error }, "Redis is back, but not fit for use"));
    });
  };
  const admitted = look().then(follow, (cause: unknown) => {
    if (cause instanceof TransportError && FOR_GOOD.has(cause.code)) throw refusal(flags, cause);
    logger.warn({ redis: unfit }, "going on without Redis until it answers");
    follow();
  });
  return { bus, admitted, problem: () => unfit ?? (bus.reachable ? undefined : "Redis is not reachable") };
}

/** Waiting does not help against these. */
const FOR_GOOD: ReadonlySet<string> = new Set<TransportErrorCode>(["transport/credentials", "transport/server"]);

function advise(findings: readonly Finding[], logger: Logger): void {
  for (const { message } of findings) logger.warn({ redis: message }, "Redis could be set up better");
}

const refusal = (flags: RedisFlags, cause: unknown): ConfigError =>
  new ConfigError(`--redis-url ${hostOf(flags.redisUrl)}: ${(cause as Error).message}`, { cause });

/** Passwords cross the network as they are; messages are sealed either way. */
function warnInTheClear({ redisUrl }: RedisFlags, logger: Logger): void {
  if (!isInTheClear(redisUrl)) return;
  logger.warn({ redis: hostOf(redisUrl) }, "the password goes to Redis in the clear: use rediss:// and TLS");
}

/** @internal To another machine, without TLS. */
export function isInTheClear(redisUrl: string): boolean {
  if (!URL.canParse(redisUrl)) return false;
  const { protocol, hostname } = new URL(redisUrl);
  return protocol === "redis:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** A user in the URL and a password in a file make one pair of credentials. */
export function readRedisFlags({ redisUrl, redisPasswordFile, ...files }: RedisFlags): RedisConfig {
  const tls = readTls(redisUrl, files);
  const config = { ...named("--redis-url", () => parseRedisConfig({ url: redisUrl })), ...tls };
  if (redisPasswordFile === undefined) return config;
  const password = named(`--redis-password-file ${redisPasswordFile}`, () => readPassword(redisPasswordFile));
  const url = new URL(redisUrl);
  const username = decodeURIComponent(url.username);
  url.username = "";
  url.password = "";
  return { url: url.href, password, ...(username === "" ? {} : { username }), ...tls };
}

function readTls(
  redisUrl: string,
  { redisCaFile, redisCertFile, redisKeyFile }: Omit<RedisFlags, "redisUrl" | "redisPasswordFile">,
): Pick<RedisConfig, "tls"> {
  const files = [redisCaFile, redisCertFile, redisKeyFile];
  if (files.every((file) => file === undefined)) return {};
  if (!redisUrl.startsWith("rediss://"))
    throw new ConfigError("--redis-url: files for TLS are given, and the URL does not begin with rediss://");
  if ((redisCertFile === undefined) !== (redisKeyFile === undefined))
    throw new ConfigError("--redis-cert-file and --redis-key-file belong together: give both, or none");
  const flags = {
    "--redis-ca-file": redisCaFile,
    "--redis-cert-file": redisCertFile,
    "--redis-key-file": redisKeyFile,
  };
  for (const [flag, file] of Object.entries(flags))
    if (file !== undefined) named(`${flag} ${file}`, () => readFileSync(file, "utf8"));
  return {
    tls: {
      ...(redisCaFile === undefined ? {} : { caFile: redisCaFile }),
      ...(redisCertFile === undefined ? {} : { certFile: redisCertFile }),
      ...(redisKeyFile === undefined ? {} : { keyFile: redisKeyFile }),
    },
  };
}

function readPassword(path: string): string {
  const password = readFileSync(path, "utf8").trim();
  if (password === "") throw new Error("the file is empty; write the password of the Redis user into it");
  return password;
}

function named<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new ConfigError(`${flag}: ${(cause as Error).message}`, { cause });
  }
}

/** Never the credentials. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "(not a URL)");
