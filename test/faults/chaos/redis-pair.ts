/** A primary, a replica and a Sentinel that makes the one of the other; real processes, each with its writes on disk. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { until } from "../../fleet/until.ts";
import { type GuardedProcess, guardedDirectory, startGuarded } from "../../harness/guarded-process.ts";
import { withFreePorts } from "../../harness/ports.ts";
import { findRedis, settings, type TestRedis, untilReady } from "../../harness/redis.ts";

const MASTER = "fleet";

export class RedisPair implements TestRedis {
  readonly source = "a primary and its replica";
  readonly #directory = guardedDirectory("redis-pair");
  readonly #servers: GuardedProcess[] = [];
  readonly #ports: readonly number[];
  readonly #sentinel: Redis;
  /** Where the primary is now. */
  primary: number;

  private constructor(ports: readonly number[]) {
    this.#ports = ports;
    this.primary = ports[0] ?? 0;
    this.#sentinel = new Redis({ port: ports[2] ?? 0, host: "127.0.0.1", lazyConnect: true });
    this.#sentinel.on("error", () => {});
  }

  static async start(): Promise<RedisPair> {
    const found = await findRedis();
    if (found.kind !== "program") throw new Error("chaos needs redis-server as a program");
    return withFreePorts(3, async (ports) => {
      const pair = new RedisPair(ports);
      await pair.#start(found.path);
      return pair;
    });
  }

  get url(): string {
    return `redis://127.0.0.1:${this.primary}`;
  }

  /** The primary dies. Resolves when the replica has taken its place. */
  async failOver(): Promise<void> {
    const before = this.primary;
    await this.#servers[this.#ports.indexOf(before)]?.stop(0);
    await until(
      "Sentinel has promoted the replica",
      async () => {
        const answer = (await this.#sentinel.call("SENTINEL", "get-master-addr-by-name", MASTER)) as string[];
        this.primary = Number(answer[1]);
        return this.primary !== before;
      },
      { limitMs: 60_000 },
    );
  }

  /** Users and their rights are not replicated. */
  async copyUsers(): Promise<void> {
    const [primary = 0, replica = 0] = this.#ports;
    const [from, to] = [new Redis(primary, "127.0.0.1"), new Redis(replica, "127.0.0.1")];
    for (const line of (await from.call("ACL", "LIST")) as string[]) {
      const [, name = "", ...rules] = line.split(" ");
      await to.call("ACL", "SETUSER", name, "reset", ...rules);
    }
    from.disconnect();
    to.disconnect();
  }

  async stop(): Promise<void> {
    this.#sentinel.disconnect();
    await Promise.all(this.#servers.map((server) => server.stop(0)));
    await this.#directory.remove();
  }

  async #start(command: string): Promise<void> {
    const [primary = 0, replica = 0, sentinel = 0] = this.#ports;
    const run = async (name: string, port: number, args: readonly string[]): Promise<void> => {
      const server = startGuarded({ name, command, args, logFile: join(this.#directory.path, `${name}.log`) });
      this.#servers.push(server);
      await untilReady(`redis://127.0.0.1:${port}`, server);
    };
    const folder = (name: string): string => {
      const path = join(this.#directory.path, name);
      mkdirSync(path);
      return path;
    };
    const serve = (name: string, port: number, more: readonly string[]): Promise<void> =>
      run(name, port, [
        ...["--bind", "127.0.0.1", "--port", String(port), "--dir", folder(name), ...settings],
        ...["--repl-diskless-sync-delay", "0", ...more],
      ]);
    await serve("primary", primary, []);
    await serve("replica", replica, ["--replicaof", "127.0.0.1", String(primary)]);
    const file = join(folder("sentinel"), "sentinel.conf");
    const monitor = [`monitor ${MASTER} 127.0.0.1 ${primary} 1`, `down-after-milliseconds ${MASTER} 1000`];
    writeFileSync(
      file,
      [`port ${sentinel}`, "bind 127.0.0.1", ...monitor.map((line) => `sentinel ${line}`)].join("\n"),
    );
    await run("sentinel", sentinel, [file, "--sentinel"]);
    await this.#sentinel.connect();
    await until("Sentinel knows the replica", async () => {
      const replicas = (await this.#sentinel.call("SENTINEL", "replicas", MASTER)) as unknown[];
      return replicas.length === 1;
    });
  }
}
