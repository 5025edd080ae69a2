/** Several real Redis processes on this machine: a master with replicas and Sentinels, and a Redis Cluster. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { aclForCluster, aclForManager, clusterUser, MANAGER_USER } from "@jobferry/shared/queue/acl.ts";
import { Redis } from "ioredis";
import { until } from "../../fleet/until.ts";
import { type GuardedProcess, guardedDirectory, startGuarded } from "../../harness/guarded-process.ts";
import { withFreePorts } from "../../harness/ports.ts";
import { findRedis } from "../../harness/redis.ts";

const PASSWORD = "for-tests-only";

export interface Topology {
  /** For --redis-url, with this user. */
  url(user: string): string;
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

  async start(port: number, clusters: readonly string[], args: readonly string[]): Promise<Node> {
    const name = `redis-${port}`;
    const process = startGuarded({
      ...{ name, command: this.program, logFile: join(this.directory.path, `${name}.log`) },
      args: [...settings, "--port", String(port), "--dir", this.directory.path, ...args],
    });
    await until(`${name} is ready`, async () => (await process.log()).includes("Ready to accept"));
    const admin = new Redis(port, "127.0.0.1", { retryStrategy: () => 200 });
    admin.on("error", () => {});
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

async function newNodes(): Promise<Nodes> {
  const source = await findRedis();
  if (source.kind !== "program") throw new Error("this test needs redis-server or valkey-server on this machine");
  const nodes = new Nodes();
  nodes.program = source.path;
  return nodes;
}

/** One master, one replica, three Sentinels. */
export async function startSentinels(clusters: readonly string[]): Promise<Topology> {
  const nodes = await newNodes();
  return await withFreePorts(5, async ([first = 0, second = 0, ...ports]) => {
    const master = await nodes.start(first, clusters, []);
    const replica = await nodes.start(second, clusters, ["--replicaof", "127.0.0.1", String(first)]);
    await until("the replica follows", async () => (await replica.admin.info()).includes("master_link_status:up"));
    for (const port of ports) {
      const file = join(nodes.directory.path, `sentinel-${port}.conf`);
      const watch = [`sentinel monitor main 127.0.0.1 ${first} 2`, "sentinel down-after-milliseconds main 1000"];
      const rest = [
        "sentinel failover-timeout main 6000",
        `dir ${nodes.directory.path}`,
        `port ${port}`,
        "bind 127.0.0.1",
      ];
      await writeFile(file, [...rest.slice(1), ...watch, rest[0], ""].join("\n"));
      nodes.sentinels.push(
        startGuarded({
          ...{ name: `sentinel-${port}`, command: nodes.program, args: [file, "--sentinel"] },
          logFile: join(nodes.directory.path, `sentinel-${port}.log`),
        }),
      );
    }
    const [sentinelPort = 0] = ports;
    const asked = new Redis(sentinelPort, "127.0.0.1");
    asked.on("error", () => {});
    await until("the Sentinels know each other and the replica", async () => {
      const [state] = (await asked.call("SENTINEL", "MASTERS").catch(() => [])) as string[][];
      const field = (name: string): string | undefined => state?.[state.indexOf(name) + 1];
      return state !== undefined && field("num-other-sentinels") === "2" && field("num-slaves") === "1";
    });
    asked.disconnect();
    return {
      url: (user) => `redis://${user}:${PASSWORD}@${ports.map((port) => `127.0.0.1:${port}`).join()}`,
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
export async function startRedisCluster(clusters: readonly string[]): Promise<RedisCluster> {
  const nodes = await newNodes();
  return await withFreePorts(6, async (ports) => {
    for (const port of ports)
      await nodes.start(port, clusters, [
        ...["--cluster-enabled", "yes", "--cluster-config-file", `nodes-${port}.conf`],
        ...["--cluster-node-timeout", "1500", "--cluster-replica-validity-factor", "0"],
        ...["--cluster-require-full-coverage", "no"],
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
      url: (user) =>
        `redis://${user}:${PASSWORD}@${ports
          .slice(0, 2)
          .map((port) => `127.0.0.1:${port}`)
          .join()}`,
      async killMaster(cluster) {
        await masters[await shardOf(cluster)]?.process.stop(0);
      },
      denied: () => nodes.denied(),
      stop: () => nodes.stop(),
    };
  });
}
