/** Several real Redis processes on this machine: a master, its replica and Sentinels, or a Redis Cluster; in the clear or with TLS. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { aclForCluster, aclForManager, clusterUser, MANAGER_USER } from "@jobferry/shared/queue/acl.ts";
import type { RedisFlags } from "@jobferry/shared/queue/redis-flags.ts";
import { Redis } from "ioredis";
import { until } from "../../fleet/until.ts";
import { makeCertificate } from "../../harness/certificate.ts";
import { type GuardedProcess, guardedDirectory, startGuarded } from "../../harness/guarded-process.ts";
import { withFreePorts } from "../../harness/ports.ts";
import { findRedis } from "../../harness/redis.ts";

const PASSWORD = "for-tests-only";
/** What the certificates are made for: a name, and no address. */
const HOST = "localhost";

export interface Topology {
  /** Of manager and agents, with this user. */
  flags(user: string): RedisFlags;
  /** Ends the process that leads (for the keys of this cluster) as a crash would; another takes over by itself. */
  killMaster(cluster: string): Promise<void>;
  /** Of every server: what it refused under the ACL rules. */
  denied(): Promise<string[]>;
  stop(): Promise<void>;
}

interface Node {
  readonly port: number;
  readonly process: GuardedProcess;
  readonly admin: Redis;
}

const settings = ["--bind", "127.0.0.1", "--maxmemory-policy", "noeviction", "--appendonly", "no", "--save", ""];

class Nodes {
  readonly directory = guardedDirectory("redis-nodes");
  readonly all: Node[] = [];
  readonly sentinels: GuardedProcess[] = [];
  program = "";
  tls: { readonly keyFile: string; readonly certFile: string } | undefined;

  /** Where it listens; its peers are spoken to in the same way. */
  listens(port: number): string[][] {
    if (this.tls === undefined) return [["port", String(port)]];
    const { keyFile, certFile } = this.tls;
    const files = [
      ["tls-cert-file", certFile],
      ["tls-key-file", keyFile],
      ["tls-ca-cert-file", certFile],
    ];
    return [
      ["port", "0"],
      ["tls-port", String(port)],
      ...files,
      ["tls-auth-clients", "no"],
      ["tls-replication", "yes"],
    ];
  }

  connect(port: number): Redis {
    const ca = this.tls === undefined ? {} : { tls: { ca: readFileSync(this.tls.certFile, "utf8") } };
    const client = new Redis({ port, host: HOST, retryStrategy: () => 200, ...ca });
    client.on("error", () => {});
    return client;
  }

  flags(user: string, ports: readonly number[]): RedisFlags {
    const places = ports.map((port) => `${HOST}:${port}`).join();
    if (this.tls === undefined) return { redisUrl: `redis://${user}:${PASSWORD}@${places}` };
    return { redisUrl: `rediss://${user}:${PASSWORD}@${places}`, redisCaFile: this.tls.certFile };
  }

  async start(port: number, clusters: readonly string[], args: readonly string[]): Promise<Node> {
    const name = `redis-${port}`;
    const process = startGuarded({
      ...{ name, command: this.program, logFile: join(this.directory.path, `${name}.log`) },
      args: [
        ...settings,
        ...this.listens(port).flatMap(([key, value = ""]) => [`--${key}`, value]),
        ...["--dir", this.directory.path, ...args],
      ],
    });
    await until(`${name} is ready`, async () => (await process.log()).includes("Ready to accept"));
    const admin = this.connect(port);
    // Each server has its own users: nothing hands them on.
    await admin.acl("SETUSER", MANAGER_USER, ...aclForManager(), `>${PASSWORD}`);
    for (const cluster of clusters.map(parseClusterName))
      await admin.acl("SETUSER", clusterUser(cluster), ...aclForCluster(cluster), `>${PASSWORD}`);
    const node = { port, process, admin };
    this.all.push(node);
    return node;
  }

  async denied(): Promise<string[]> {
    const alive = this.all.filter(({ process }) => process.running);
    const logs = await Promise.all(alive.map(({ admin }) => admin.acl("LOG") as unknown as Promise<string[][]>));
    return logs.flat().map((entry) => entry.join(" "));
  }

  async stop(): Promise<void> {
    for (const sentinel of this.sentinels) await sentinel.stop(0);
    for (const { process, admin } of this.all) {
      admin.disconnect();
      await process.stop(0);
    }
    await this.directory.remove();
  }
}

async function newNodes(isTls: boolean): Promise<Nodes> {
  const source = await findRedis();
  if (source.kind !== "program") throw new Error("this test needs redis-server or valkey-server on this machine");
  const nodes = new Nodes();
  nodes.program = source.path;
  if (isTls) nodes.tls = await makeCertificate(nodes.directory.path, "redis", `DNS:${HOST}`);
  return nodes;
}

/** One master, one replica, three Sentinels. */
export async function startSentinels(clusters: readonly string[], isTls: boolean): Promise<Topology> {
  const nodes = await newNodes(isTls);
  const announced = ["--replica-announce-ip", HOST];
  return await withFreePorts(5, async ([first = 0, second = 0, ...ports]) => {
    const master = await nodes.start(first, clusters, announced);
    const replica = await nodes.start(second, clusters, [...announced, "--replicaof", HOST, String(first)]);
    await until("the replica follows", async () => (await replica.admin.info()).includes("master_link_status:up"));
    for (const port of ports) {
      const file = join(nodes.directory.path, `sentinel-${port}.conf`);
      const lines = [
        ...[`dir ${nodes.directory.path}`, "bind 127.0.0.1", ...nodes.listens(port).map((line) => line.join(" "))],
        ...["sentinel resolve-hostnames yes", "sentinel announce-hostnames yes"],
        ...[`sentinel monitor main ${HOST} ${first} 2`, "sentinel down-after-milliseconds main 1000"],
        "sentinel failover-timeout main 6000",
      ];
      await writeFile(file, `${lines.join("\n")}\n`);
      nodes.sentinels.push(
        startGuarded({
          ...{ name: `sentinel-${port}`, command: nodes.program, args: [file, "--sentinel"] },
          logFile: join(nodes.directory.path, `sentinel-${port}.log`),
        }),
      );
    }
    const [sentinelPort = 0] = ports;
    const asked = nodes.connect(sentinelPort);
    await until("the Sentinels know each other and the replica", async () => {
      const [state] = (await asked.call("SENTINEL", "MASTERS").catch(() => [])) as string[][];
      const field = (name: string): string | undefined => state?.[state.indexOf(name) + 1];
      return state !== undefined && field("num-other-sentinels") === "2" && field("num-slaves") === "1";
    });
    asked.disconnect();
    return {
      flags: (user) => ({ ...nodes.flags(user, ports), redisMode: "sentinel", redisSentinelMaster: "main" }),
      killMaster: () => master.process.stop(0).then(() => {}),
      denied: () => nodes.denied(),
      stop: () => nodes.stop(),
    };
  });
}

export interface RedisCluster extends Topology {
  /** Nobody hears of the nodes that have this cluster's keys from now on; the others go on. */
  holdShard(cluster: string): Promise<void>;
  releaseShard(cluster: string): Promise<void>;
}

/** Three masters with a replica each. */
export async function startRedisCluster(clusters: readonly string[], isTls = false): Promise<RedisCluster> {
  const nodes = await newNodes(isTls);
  return await withFreePorts(6, async (ports) => {
    for (const port of ports)
      await nodes.start(port, clusters, [
        ...["--cluster-enabled", "yes", "--cluster-config-file", `nodes-${port}.conf`],
        ...["--cluster-node-timeout", "1500", "--cluster-replica-validity-factor", "0"],
        ...["--cluster-require-full-coverage", "no"],
        ...["--cluster-announce-hostname", HOST, "--cluster-preferred-endpoint-type", "hostname"],
        ...["--tls-cluster", isTls ? "yes" : "no"],
      ]);
    const [first] = nodes.all;
    if (first === undefined) throw new Error("no node was started");
    for (const { port } of nodes.all) await first.admin.cluster("MEET", "127.0.0.1", port);
    const masters = nodes.all.slice(0, 3);
    const share = Math.ceil(16_384 / masters.length);
    for (const [index, { admin }] of masters.entries()) {
      const slots = [index * share, Math.min(16_383, (index + 1) * share - 1)];
      await admin.call("CLUSTER", "ADDSLOTSRANGE", ...slots.map(String));
    }
    await until("the nodes have met", async () => {
      const known = await Promise.all(nodes.all.map(({ admin }) => admin.cluster("INFO")));
      return known.every((info) => info.includes("cluster_known_nodes:6"));
    });
    for (const [index, { admin }] of nodes.all.slice(3).entries())
      await admin.cluster("REPLICATE", (await masters[index]?.admin.call("CLUSTER", "MYID")) as string);
    await until("the cluster is whole, with a replica of each master", async () => {
      const infos = await Promise.all(nodes.all.map(({ admin }) => admin.cluster("INFO")));
      const links = await Promise.all(nodes.all.slice(3).map(({ admin }) => admin.info("replication")));
      return (
        infos.every((info) => info.includes("cluster_state:ok")) &&
        links.every((info) => info.includes("master_link_status:up"))
      );
    });
    const shardOf = async (cluster: string): Promise<number> => {
      const slot = (await first.admin.cluster("KEYSLOT", `{jobferry-${cluster}}:x`)) as number;
      return Math.floor(slot / share);
    };
    const signal = async (cluster: string, name: NodeJS.Signals): Promise<void> => {
      const index = await shardOf(cluster);
      // The replica first: it must not take over.
      for (const at of [masters.length + index, index]) nodes.all[at]?.process.kill(name);
    };
    return {
      holdShard: (cluster) => signal(cluster, "SIGSTOP"),
      releaseShard: (cluster) => signal(cluster, "SIGCONT"),
      flags: (user) => ({ ...nodes.flags(user, ports.slice(0, 2)), redisMode: "cluster" }),
      async killMaster(cluster) {
        await masters[await shardOf(cluster)]?.process.stop(0);
      },
      denied: () => nodes.denied(),
      stop: () => nodes.stop(),
    };
  });
}
