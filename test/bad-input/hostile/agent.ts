import { randomUUID } from "node:crypto";
import { parseOwnKeys, parsePublicKey } from "@jobferry/shared/protocol/keys.ts";
import { type ClusterName, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { Sealer } from "@jobferry/shared/protocol/sealer.ts";
import { clusterUser } from "@jobferry/shared/queue/acl.ts";
import { RedisBus } from "@jobferry/shared/queue/redis-bus.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { Redis } from "ioredis";
import { type Attacker, tryAll } from "./attacker.ts";

/** What is in the Secret of an agent. */
export interface Loot {
  readonly name: string;
  readonly redisUrl: string;
  readonly managerKey: string;
  readonly secret: Readonly<Record<string, string>>;
}

/** Has the key and the Redis password of one cluster, and no cluster. */
export async function maliciousAgent({ name, redisUrl, managerKey, secret }: Loot): Promise<Attacker> {
  const cluster = parseClusterName(name);
  const password = secret["redis-password"] ?? "";
  const keys = parseOwnKeys(secret["key.pem"] ?? "");
  const manager = parsePublicKey(managerKey);
  const sealer = new Sealer(keys);
  const config = { url: redisUrl, username: clusterUser(cluster), password };
  const bus = new RedisBus({ config, clock: realClock, logger: silentLogger, agentOf: cluster });
  const redis = new Redis(redisUrl, { username: clusterUser(cluster), password, lazyConnect: false });
  redis.on("error", () => {});
  const reports = { cluster, box: "reports" } as const;
  const box = `{jobferry-${name}}:reports:`;
  const sealed = (message: object, as: ClusterName = cluster): string =>
    sealer.seal(JSON.stringify(message), { direction: "report", cluster: as }, manager);
  const send = (message: object) => bus.send(reports, sealed(message));
  const process = randomUUID();
  const room = { cpu: "100000", memory: "100Ti", pods: "100000" };
  const health = (kind: string, round: number) => ({
    kind,
    clusterID: "evil-cluster",
    agentVersion: "0.1.0",
    kubernetesVersion: "v1.36.3",
    capacity: room,
    free: room,
    largestFreeNode: room,
    largestNode: room,
    stamp: `${process}:${round * 1000 + 1}`,
    resourceVersion: 9_000_000,
    now: Date.now(),
    managerKeys: [managerKey],
  });
  const done = {
    startTime: "2026-01-02T03:04:05Z",
    completionTime: "2026-01-02T03:05:05Z",
    failed: 7,
    conditions: [
      { type: "FailureTarget", status: "True", lastTransitionTime: "2026-01-02T03:05:05Z" },
      { type: "Failed", status: "True", reason: "Evil", lastTransitionTime: "2026-01-02T03:05:05Z" },
    ],
  };
  await bus.start(10_000);
  await send(health("hello", 0));
  return {
    name: "an agent",
    async attack(round, victims) {
      const lies = victims.slice(0, 5).flatMap(({ uid }) => [
        { kind: "status", uid, epoch: 1, seq: 1_000_000 + round, status: done },
        { kind: "withdrawn", uid, epoch: 1, last: { seq: 1_000_000 + round, status: { failed: 3 } } },
        { kind: "refused", uid, epoch: 1, reason: "Other", message: "no ".repeat(1_300) },
        { kind: "newer", uid, epoch: 1, has: 2_000_000_000 },
        { kind: "ask", uid, epoch: 1, references: [{ kind: "Secret", name: "canary", hash: "0".repeat(64) }] },
        { kind: "pods", uid, epoch: 1, seq: 5, pods: [], more: false, gone: true },
      ]);
      const invented = Array.from({ length: 2_000 }, () => ({
        uid: randomUUID(),
        epoch: 1,
        generation: 1,
        finished: true,
      }));
      await tryAll(
        send(health(round % 3 === 0 ? "hello" : "heartbeat", round)),
        ...lies.map(send),
        send({ kind: "inventory", round: `r${round}`, page: 1, pages: 1000, mirrors: invented }),
        send({ kind: "available", jobs: victims.slice(0, 100).map(({ uid }) => uid) }),
        bus.send(reports, "x".repeat(1_000_000)),
        bus.send(reports, sealed(health("heartbeat", round), parseClusterName("east"))),
        // Into other prefixes, and with what its user may not do.
        redis.lpush("{jobferry-east}:reports:wait", "1"),
        redis.del("{jobferry-east}:deliveries:wait"),
        redis.call("FLUSHALL"),
        redis.call("EVAL", "while true do end", 0),
        redis.call("EVAL", "redis.call('SET', KEYS[1], string.rep('x', 500*1024*1024))", 1, `${box}big`),
        redis.call("SCRIPT", "LOAD", "while true do end"),
        redis.call("CONFIG", "SET", "maxmemory", "1"),
        redis.call("SCRIPT", "FLUSH"),
        redis.call("SHUTDOWN", "NOSAVE"),
        redis.call("ACL", "SETUSER", clusterUser(cluster), "allkeys"),
        redis.call("CLIENT", "KILL", "TYPE", "normal"),
        // Planted where the manager's own hands reach.
        redis.lpush(`${box}active`, ...Array.from({ length: 500 }, (_, index) => `planted-${round}-${index}`)),
        redis.sadd(`${box}stalled`, ...Array.from({ length: 500 }, (_, index) => `planted-${round}-${index}`)),
        redis.hset(`${box}bomb-${round}`, {
          ...{ name: "message", data: '{"a":', opts: "{{{", parent: "}}}", parentKey: "{jobferry-east}:deliveries:1" },
        }),
        redis.lpush(`${box}wait`, `bomb-${round}`, "without-a-hash", ""),
        redis.set(`${box}meta`, "not a hash"),
      );
      await tryAll(redis.del(`${box}meta`));
    },
    async stop() {
      redis.disconnect();
      await bus.close(500);
    },
  };
}
