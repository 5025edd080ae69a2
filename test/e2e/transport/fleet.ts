import type { Delivery } from "@jobferry/shared/protocol/delivery.ts";
import { generateKeyPair, type KeyPair } from "@jobferry/shared/protocol/keys.ts";
import { type ClusterName, epoch, hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import { aclForCluster, aclForManager, clusterUser, MANAGER_USER } from "@jobferry/shared/queue/acl.ts";
import type { Quarantined } from "@jobferry/shared/queue/bus.ts";
import { RedisBus, type RedisBusOptions } from "@jobferry/shared/queue/redis-bus.ts";
import {
  type AgentTransport,
  agentTransport,
  type ManagerTransport,
  managerTransport,
} from "@jobferry/shared/queue/transport.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { Redis } from "ioredis";
import { expect, vi } from "vitest";
import { startRedis } from "../../harness/redis.ts";

const PASSWORD = "for-tests-only";

export interface Fleet {
  readonly admin: Redis;
  /** As this user, straight to Redis. */
  as(user: string, password?: string): Redis;
  manager(
    options?: Partial<RedisBusOptions>,
  ): Promise<{ bus: RedisBus; transport: ManagerTransport; quarantine: Quarantined[] }>;
  agent(
    name: string,
    options?: Partial<RedisBusOptions>,
    startMs?: number,
  ): Promise<{ bus: RedisBus; transport: AgentTransport; quarantine: Quarantined[] }>;
  /** What Redis refused under the ACL rules so far. */
  denied(): Promise<string[]>;
  /** Ends every manager and agent made so far, so that no test receives what another sends. */
  closeBuses(): Promise<void>;
  stop(): Promise<void>;
}

/** Redis with one user per cluster and one for the manager, exactly as the rules in shared/queue/acl.ts say. */
export async function startFleet(names: readonly string[]): Promise<Fleet> {
  const redis = await startRedis();
  const admin = new Redis(redis.url);
  const clients: Redis[] = [admin];
  const buses: RedisBus[] = [];
  const managerKeys = generateKeyPair();
  const agentKeys = new Map<string, KeyPair>(names.map((name) => [name, generateKeyPair()]));
  await admin.acl("SETUSER", MANAGER_USER, ...aclForManager(), `>${PASSWORD}`);
  for (const name of names.map(parseClusterName)) {
    await admin.acl("SETUSER", clusterUser(name), ...aclForCluster(name), `>${PASSWORD}`);
  }
  await admin.acl("LOG", "RESET");

  const bus = async (user: string, options: Partial<RedisBusOptions>, startMs = 30_000) => {
    const quarantine: Quarantined[] = [];
    const made = new RedisBus({
      config: { url: redis.url, username: user, password: PASSWORD },
      clock: realClock,
      logger: silentLogger,
      onQuarantine: (message) => quarantine.push(message),
      ...options,
    });
    buses.push(made);
    await made.start(startMs);
    return { bus: made, quarantine };
  };

  const closeBuses = async (): Promise<void> => {
    await Promise.all(buses.splice(0).map((made) => made.close(1_000)));
  };

  return {
    admin,
    as(user, password = PASSWORD) {
      const client = new Redis(redis.url, { username: user, password, retryStrategy: null });
      client.on("error", () => {});
      clients.push(client);
      return client;
    },
    async manager(options = {}) {
      const made = await bus(MANAGER_USER, options);
      const clusterKeys = (cluster: ClusterName) => [agentKeys.get(cluster)?.publicKey ?? []].flat();
      return {
        ...made,
        transport: managerTransport({ bus: made.bus, keys: [managerKeys], clusterKeys }),
      };
    },
    async agent(name, options = {}, startMs) {
      const cluster = parseClusterName(name);
      const made = await bus(clusterUser(cluster), { agentOf: cluster, ...options }, startMs);
      const keys = [agentKeys.get(name) ?? generateKeyPair()] as const;
      return {
        ...made,
        transport: agentTransport({ bus: made.bus, cluster, keys, managerKeys: [managerKeys.publicKey] }),
      };
    },
    async denied() {
      const entries = (await admin.acl("LOG")) as unknown as string[][];
      return entries.map((entry) => entry.join(" "));
    },
    closeBuses,
    async stop() {
      await closeBuses();
      for (const client of clients) client.disconnect();
      await redis.stop();
    },
  };
}

export const until = (condition: () => boolean | Promise<boolean>, timeout = 60_000): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBe(true), { timeout, interval: 5 });

export const ack = (number: number): Delivery => ({
  kind: "release",
  uid: hubUid.parse(`u-${number}`),
  epoch: epoch.parse(1),
});

export const withdrawn = (number: number): Report => ({
  kind: "withdrawn",
  uid: hubUid.parse(`u-${number}`),
  epoch: epoch.parse(1),
});

export const assignment = (number: number, image = "busybox"): Delivery => ({
  kind: "assignment",
  uid: hubUid.parse(`u-${number}`),
  epoch: epoch.parse(1),
  generation: 1,
  revision: 1,
  namespace: "default",
  name: `job-${number}`,
  desired: "run",
  job: { spec: { template: { spec: { containers: [{ name: "main", image }] } } } },
});
