import { readFileSync } from "node:fs";
import { Cluster, Redis, type RedisOptions } from "ioredis";
import { z } from "zod";
import { TransportError } from "./errors.ts";

const hostPort = z.strictObject({ host: z.string().min(1).max(253), port: z.int().min(1).max(65_535) });

/** How to reach Redis. Exactly one of `url`, `sentinel` and `cluster`. */
const redisConfig = z
  .strictObject({
    /** redis://user:password@host:port/0, or rediss:// for TLS. */
    url: z
      .string()
      .regex(/^rediss?:\/\/\S+$/, "must begin with redis:// or rediss://")
      .refine(isRedisUrl, "must be redis://host:port or rediss://host:port, with a database number after it at most")
      .optional(),
    sentinel: z
      .strictObject({ master: z.string().min(1), nodes: z.array(hostPort).min(1), password: z.string().optional() })
      .optional(),
    cluster: z.strictObject({ nodes: z.array(hostPort).min(1) }).optional(),
    username: z.string().min(1).optional(),
    password: z.string().min(1).optional(),
    tls: z
      .strictObject({
        caFile: z.string().optional(),
        certFile: z.string().optional(),
        keyFile: z.string().optional(),
        servername: z.string().optional(),
      })
      .optional(),
  })
  .refine(
    ({ url, sentinel, cluster }) => [url, sentinel, cluster].filter((way) => way !== undefined).length === 1,
    "give exactly one of url, sentinel and cluster",
  );
function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, pathname } = new URL(text);
  return hostname !== "" && /^\/?\d{0,4}$/.test(pathname);
}

export type RedisConfig = z.infer<typeof redisConfig>;

export function parseRedisConfig(input: unknown): RedisConfig {
  const result = redisConfig.safeParse(input);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new TransportError("transport/config", `redis.${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
}

/**
 * `sender` fails fast, so that its caller can decide; `receiver` waits for Redis to come back, which BullMQ demands of
 * connections that block.
 */
export type Role = "sender" | "receiver";

const CONNECT_TIMEOUT_MS = 5_000;
/** A hand-over takes a millisecond: an answer later than this is a broken connection. */
const COMMAND_TIMEOUT_MS = 5_000;
/** First at once, then slower, never slower than this: an agent must not be away long after Redis is back. */
const MAX_RECONNECT_MS = 2_000;

type Options = Omit<RedisOptions, "replyMapping">;

function roleOptions(role: Role): Options {
  return role === "sender"
    ? {
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        commandTimeout: COMMAND_TIMEOUT_MS,
        socketTimeout: COMMAND_TIMEOUT_MS,
      }
    : { maxRetriesPerRequest: null };
}

/** Connects in the background; the caller must listen to `error`. */
export function connectRedis(config: RedisConfig, role: Role): Redis | Cluster {
  const options: Options = {
    ...roleOptions(role),
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Redis before 7.2 has no CLIENT SETINFO, and its ACL rules cannot name it.
    disableClientInfo: true,
    // A server that became a replica under a standing connection: behind the same name there may be another one by now.
    reconnectOnError: (error) => error.message.includes("READONLY"),
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times - 1, 10), MAX_RECONNECT_MS),
    ...(config.username === undefined ? {} : { username: config.username }),
    ...(config.password === undefined ? {} : { password: config.password }),
    ...tlsOptions(config),
  };
  if (config.cluster !== undefined) {
    const { enableOfflineQueue = true, ...redisOptions } = options;
    return new Cluster(config.cluster.nodes, {
      enableOfflineQueue,
      redisOptions,
      // Certificates name hosts: a host that is looked up beforehand is an address that none of them has.
      ...(options.tls === undefined ? {} : { dnsLookup: (address, found) => found(null, address) }),
      clusterRetryStrategy: (times) => Math.min(100 * times, MAX_RECONNECT_MS),
    });
  }
  if (config.sentinel !== undefined) {
    const { master, nodes, password } = config.sentinel;
    return new Redis({
      ...options,
      name: master,
      sentinels: nodes,
      // Sentinels and the Redis that they name are asked alike.
      ...(options.tls === undefined ? {} : { sentinelTLS: options.tls, enableTLSForSentinelMode: true }),
      ...(password === undefined ? {} : { sentinelPassword: password }),
    });
  }
  return new Redis(config.url ?? "", options);
}

function tlsOptions({ tls }: RedisConfig): Pick<RedisOptions, "tls"> {
  if (tls === undefined) return {};
  return {
    tls: {
      ...(tls.caFile === undefined ? {} : { ca: read("tls.caFile", tls.caFile) }),
      ...(tls.certFile === undefined ? {} : { cert: read("tls.certFile", tls.certFile) }),
      ...(tls.keyFile === undefined ? {} : { key: read("tls.keyFile", tls.keyFile) }),
      ...(tls.servername === undefined ? {} : { servername: tls.servername }),
    },
  };
}

function read(field: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new TransportError("transport/config", `redis.${field}: cannot read ${path}`, cause);
  }
}
