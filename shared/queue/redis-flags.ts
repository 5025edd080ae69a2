/** How both services are told where Redis is, and how they connect to it when they start. */
import { readFileSync } from "node:fs";
import { ConfigError } from "../runtime/config-error.ts";
import type { Logger } from "../runtime/logger.ts";
import { TransportError, type TransportErrorCode } from "./errors.ts";
import { RedisBus, type RedisBusOptions } from "./redis-bus.ts";
import { parseRedisConfig, type RedisConfig } from "./redis-config.ts";
import type { Finding } from "./redis-server.ts";
import { isInTheClear, parseRedisUrl, placesOf } from "./redis-url.ts";

export interface RedisFlags {
  redisUrl: string;
  redisMode?: "single" | "sentinel" | "cluster" | undefined;
  redisSentinelMaster?: string | undefined;
  redisSentinelPasswordFile?: string | undefined;
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
  new ConfigError(`--redis-url ${placesOf(flags.redisUrl)}: ${(cause as Error).message}`, { cause });

/** Passwords cross the network as they are; messages are sealed either way. */
function warnInTheClear({ redisUrl }: RedisFlags, logger: Logger): void {
  if (!isInTheClear(redisUrl)) return;
  logger.warn({ redis: placesOf(redisUrl) }, "the password goes to Redis in the clear: use rediss:// and TLS");
}

const USUAL_PORT = { single: 6379, sentinel: 26_379, cluster: 6379 } as const;

/** A user in the URL and a password in a file make one pair of credentials. */
export function readRedisFlags(flags: RedisFlags): RedisConfig {
  const { redisUrl, redisMode: mode = "single", redisPasswordFile, redisSentinelPasswordFile } = flags;
  const url = parseRedisUrl(redisUrl);
  if (url === undefined || (mode !== "single" && url.database !== undefined && url.database !== 0)) {
    const [first, more] = mode === "single" ? ["", ", with a database number after it at most"] : [",host:port", ""];
    throw new ConfigError(`--redis-url: must begin with redis:// or rediss:// and be redis://host:port${first}${more}`);
  }
  const [one, ...others] = url.hosts;
  if (mode === "single" && others.length > 0)
    throw new ConfigError("--redis-url: several hosts need --redis-mode sentinel or cluster, which says what they are");
  const password =
    redisPasswordFile === undefined ? url.password : readPassword("--redis-password-file", redisPasswordFile);
  const nodes = url.hosts.map(({ host, port = USUAL_PORT[mode] }) => ({ host, port }));
  const sentinelPassword =
    redisSentinelPasswordFile === undefined
      ? {}
      : { password: readPassword("--redis-sentinel-password-file", redisSentinelPasswordFile) };
  const ways = {
    single: {
      url: `redis${url.isTls ? "s" : ""}://${bracketed(one?.host ?? "")}:${nodes[0]?.port}/${url.database ?? 0}`,
    },
    sentinel: { sentinel: { master: flags.redisSentinelMaster ?? "mymaster", nodes, ...sentinelPassword } },
    cluster: { cluster: { nodes } },
  };
  return parseRedisConfig({
    ...ways[mode],
    ...(url.username === undefined ? {} : { username: url.username }),
    ...(password === undefined ? {} : { password }),
    ...readTls(url.isTls, flags),
  });
}

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

function readTls(isTls: boolean, { redisCaFile, redisCertFile, redisKeyFile }: RedisFlags): Pick<RedisConfig, "tls"> {
  const files = {
    "--redis-ca-file": redisCaFile,
    "--redis-cert-file": redisCertFile,
    "--redis-key-file": redisKeyFile,
  };
  const isGiven = Object.values(files).some((file) => file !== undefined);
  if (isGiven && !isTls)
    throw new ConfigError("--redis-url: files for TLS are given, and the URL does not begin with rediss://");
  if ((redisCertFile === undefined) !== (redisKeyFile === undefined))
    throw new ConfigError("--redis-cert-file and --redis-key-file belong together: give both, or none");
  for (const [flag, file] of Object.entries(files))
    if (file !== undefined) named(`${flag} ${file}`, () => readFileSync(file, "utf8"));
  if (!isTls) return {};
  return {
    tls: {
      ...(redisCaFile === undefined ? {} : { caFile: redisCaFile }),
      ...(redisCertFile === undefined ? {} : { certFile: redisCertFile }),
      ...(redisKeyFile === undefined ? {} : { keyFile: redisKeyFile }),
    },
  };
}

function readPassword(flag: string, path: string): string {
  return named(`${flag} ${path}`, () => {
    const password = readFileSync(path, "utf8").trim();
    if (password === "") throw new Error("the file is empty; write the password into it");
    return password;
  });
}

function named<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new ConfigError(`${flag}: ${(cause as Error).message}`, { cause });
  }
}
