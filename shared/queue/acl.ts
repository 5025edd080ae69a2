/**
 * Redis ACL rules: an allow-list of what BullMQ, ioredis and our scripts call, and the keys of one prefix. Key patterns
 * hold inside Lua too. `+@all -@dangerous` would not do: it leaves SCRIPT FLUSH, SCAN and RANDOMKEY.
 */
import type { ClusterName } from "../protocol/names.ts";
import { clusterPrefix } from "./keys.ts";

const CONNECTION = ["auth", "hello", "ping", "quit", "select", "info"];
/** Asked by the client of a Redis Cluster. */
const TOPOLOGY = ["cluster|slots"];
const SCRIPTS = ["eval", "evalsha", "multi", "exec"];
const KEYS = ["del", "exists", "get", "set", "incr", "pexpire"];
const HASHES = ["hset", "hmset", "hget", "hgetall", "hmget", "hdel", "hexists", "hincrby", "hstrlen"];
const LISTS = ["lpush", "rpush", "lrem", "llen", "lrange", "rpoplpush"];
const SETS = ["sadd", "srem", "smembers", "scard"];
const SORTED_SETS = ["zadd", "zrem", "zcard", "zscore", "zrange", "zrangebyscore", "zremrangebyrank"];
const BLOCKING = ["zpopmin", "bzpopmin", "blpop"];
const STREAMS = ["xadd", "xtrim"];

const COMMANDS = [
  ...CONNECTION,
  ...TOPOLOGY,
  ...SCRIPTS,
  ...KEYS,
  ...HASHES,
  ...LISTS,
  ...SETS,
  ...SORTED_SETS,
  ...BLOCKING,
  ...STREAMS,
].map((command) => `+${command}`);

const rules = (patterns: readonly string[]): string[] => [
  "reset",
  "on",
  ...patterns.map((pattern) => `~${pattern}`),
  "resetchannels",
  "-@all",
  ...COMMANDS,
];

export const clusterUser = (cluster: ClusterName): string => `jobferry-${cluster}`;
/** @internal For tests: deploy/redis/users.acl says the same to administrators. */
export const MANAGER_USER = "jobferry-manager";

/** Words after `ACL SETUSER <name>`; add `>password` or `#sha256`. The pattern ends at the brace: c1 must not match c10. */
export const aclForCluster = (cluster: ClusterName): string[] => rules([`${clusterPrefix(cluster)}:*`]);

/** @internal Likewise. */
export const aclForManager = (): string[] => rules(["{jobferry-*}:*"]);
