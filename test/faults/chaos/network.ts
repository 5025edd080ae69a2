/** A proxy of its own between each program and Redis, and between each program and its API server. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Wires } from "../../e2e/dispatch/real-fleet.ts";
import { FlakyProxy } from "../../harness/flaky-proxy.ts";
import { RedisPair } from "./redis-pair.ts";

/** Until it is known where they lead. */
const NOWHERE = "http://127.0.0.1:1";

export class Network implements Wires {
  readonly redis = new Map<string, FlakyProxy>();
  readonly api = new Map<string, FlakyProxy>();
  readonly #pair: RedisPair;

  private constructor(pair: RedisPair) {
    this.#pair = pair;
  }

  static async of(programs: readonly string[]): Promise<Network> {
    const network = new Network(await RedisPair.start());
    for (const name of programs) {
      network.redis.set(name, await FlakyProxy.to(network.#pair.url));
      network.api.set(name, await FlakyProxy.to(NOWHERE));
    }
    return network;
  }

  get pair(): RedisPair {
    return this.#pair;
  }

  readonly startRedis = (): Promise<RedisPair> => Promise.resolve(this.#pair);

  redisUrl(program: string, real: string): string {
    const proxy = this.redis.get(program);
    return proxy === undefined ? real : proxy.url.replace(/^https/, "redis");
  }

  kubeconfig(program: string, path: string): string {
    const proxy = this.api.get(program);
    if (proxy === undefined) return path;
    const text = readFileSync(path, "utf8");
    const [, server = ""] = /"?server"?: *"?(https:\/\/[^"\s]+)/.exec(text) ?? [];
    proxy.redirect(server);
    const changed = `${path}.${program}`;
    writeFileSync(changed, text.replaceAll(server, proxy.url), { mode: 0o600 });
    return changed;
  }

  /** The replica takes over, and everybody is led to it: as behind a service address that follows Sentinel. */
  async failOver(): Promise<void> {
    await this.#pair.failOver();
    for (const proxy of this.redis.values()) {
      proxy.redirect(this.#pair.url);
      proxy.cut();
    }
  }

  /** Nothing is in anybody's way any more; what hangs is cut. */
  mend(): void {
    for (const proxy of [...this.redis.values(), ...this.api.values()]) proxy.restore();
  }

  async close(): Promise<void> {
    await Promise.all([...this.redis.values(), ...this.api.values()].map((proxy) => proxy.close()));
  }
}
