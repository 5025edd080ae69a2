/**
 * Redis ACL rules: allow-lists of commands, and the keys of one prefix. What a script calls is judged by the rules of whoever runs
 * it, so an agent has the commands of our scripts too. `+@all -@dangerous` would not do: it leaves SCRIPT FLUSH, SCAN, RANDOMKEY.
 *
 * An agent gets no command that keeps Redis busy by itself: no script but those that the manager has loaded, no MULTI, nothing
 * that reads a whole list, hash or set.
 */
import type { ClusterName } from "../protocol/names.ts";
import { clusterPrefix } from "./keys.ts";

const CONNECTION = ["auth", "hello", "ping", "quit", "select", "info"];
/** Of the client of a Redis Cluster: where keys are, whether it is whole, whether a connection may go to a replica, its name. */
const TOPOLOGY = ["cluster|slots", "cluster|info", "readonly", "readwrite", "client|setname"];
const KEYS = ["del", "exists", "get", "set", "incr", "decrby", "pexpire"];
const HASHES = ["hset", "hmset", "hget", "hmget", "hdel", "hincrby", "hstrlen"];
const LISTS = ["lpush", "rpush", "lrem", "llen", "rpoplpush"];
const SETS = ["srem"];
const SORTED_SETS = ["zadd", "zrem", "zcard", "zrange", "zrangebyscore", "zremrangebyrank", "zpopmin"];
const BLOCKING = ["bzpopmin", "blpop"];
/** Of agents of the previous release, which add messages by BullMQ's script. */
const STREAMS = ["xadd"];

const AGENT = [
  ...CONNECTION,
  ...TOPOLOGY,
  "evalsha",
  ...KEYS,
  ...HASHES,
  ...LISTS,
  ...SETS,
  ...SORTED_SETS,
  ...BLOCKING,
  ...STREAMS,
];

/** Beyond an agent's: it loads the scripts. The others are for the way back to the previous release, and for BullMQ's tools. */
const MANAGER = [
  ...AGENT,
  ...["script|load", "eval", "multi", "exec"],
  ...["hgetall", "hexists", "lrange", "sadd", "smembers", "scard", "zscore", "xtrim"],
];

const rules = (pattern: string, commands: readonly string[]): string[] => [
  "reset",
  "on",
  `~${pattern}`,
  "resetchannels",
  "-@all",
  ...commands.map((command) => `+${command}`),
];

export const clusterUser = (cluster: ClusterName): string => `jobferry-${cluster}`;
/** @internal For tests: deploy/redis/users.acl says the same to administrators. */
export const MANAGER_USER = "jobferry-manager";

/** Words after `ACL SETUSER <name>`; add `>password` or `#sha256`. The pattern ends at the brace: c1 must not match c10. */
export const aclForCluster = (cluster: ClusterName): string[] => rules(`${clusterPrefix(cluster)}:*`, AGENT);

/** @internal Likewise. */
export const aclForManager = (): string[] => rules("{jobferry-*}:*", MANAGER);
