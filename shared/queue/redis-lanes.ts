import { type Clock, sleep } from "../runtime/clock.ts";
import { TransportError } from "./errors.ts";
import { clusterPrefix } from "./keys.ts";
import type { LaneAddress, Lanes } from "./lanes.ts";
import { connectRedis, type RedisConfig } from "./redis-config.ts";
import { type Client, Scripts } from "./script-runner.ts";

/** A blocked wait is renewed this often; a new piece ends it at once. */
const BLOCK_SECONDS = 5;
/** What nobody takes goes after this long. */
const TTL_MS = 60_000;
const PAUSE_MS = 500;
const STOP_MS = 500;
/** Pieces in one lane: 128 MiB of the largest. The windows of the streams keep an honest sender far below. */
const MAX_PIECES = 2_048;
/** Pieces asked for before the first has arrived. */
const ASKS_AHEAD = 8;

/** Lanes as lists in Redis, over connections of their own: a flood of logs does not stand in line before dispatch. */
export class RedisLanes implements Lanes {
  readonly #config: RedisConfig;
  readonly #clock: Clock;
  readonly #onLost = new Set<() => void>();
  readonly #open = new Set<{ stop(): Promise<void> }>();
  readonly #loads: boolean;
  #sender: { readonly client: Client; readonly scripts: Scripts } | undefined;

  /** `loads`: the manager loads the script that puts pieces into a lane, agents wait for it. */
  constructor(config: RedisConfig, clock: Clock, loads: boolean) {
    this.#config = config;
    this.#clock = clock;
    this.#loads = loads;
  }

  async push(address: LaneAddress, piece: Buffer): Promise<void> {
    const scripts = await this.#connected();
    const isIn = await scripts.run("lane", [keyOf(address)], [piece, TTL_MS, MAX_PIECES]);
    if (isIn !== 1) throw new TransportError("transport/full", `${address.cluster}/${address.lane}`);
  }

  listen(address: LaneAddress, onPiece: (piece: Buffer) => void): { stop(): Promise<void> } {
    const key = keyOf(address);
    const receiver = connectRedis(this.#config, "receiver");
    receiver.on("error", () => {});
    const stopping = new AbortController();
    receiver.on("close", () => {
      if (!stopping.signal.aborted) this.#lost();
    });
    const loop = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        try {
          const popped = await receiver.blpopBuffer(key, BLOCK_SECONDS);
          if (popped !== null && !stopping.signal.aborted) onPiece(popped[1]);
        } catch {
          if (stopping.signal.aborted) return;
          await sleep(this.#clock, PAUSE_MS, stopping.signal).catch(() => {});
        }
      }
    };
    // Redis answers what one connection asks in the order it was asked: the next piece does not wait for word that the last arrived.
    const done = Promise.all(Array.from({ length: ASKS_AHEAD }, loop));
    const listening = {
      stop: async () => {
        this.#open.delete(listening);
        stopping.abort();
        receiver.disconnect();
        // A client that is ended while it connects again never answers what it was asked.
        await Promise.race([done, sleep(this.#clock, STOP_MS)]);
      },
    };
    this.#open.add(listening);
    return listening;
  }

  onLost(listener: () => void): () => void {
    this.#onLost.add(listener);
    return () => void this.#onLost.delete(listener);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((each) => each.stop()));
    this.#sender?.client.disconnect();
  }

  #lost(): void {
    for (const listener of this.#onLost) listener();
  }

  /** Made when first needed: without logs there is no connection for them. */
  async #connected(): Promise<Scripts> {
    if (this.#sender === undefined) {
      const client = connectRedis(this.#config, "sender");
      client.on("error", () => {});
      client.on("close", () => this.#lost());
      this.#sender = { client, scripts: new Scripts({ client, loads: this.#loads }) };
    }
    const { client, scripts } = this.#sender;
    if (client.status === "ready") return scripts;
    await new Promise<void>((resolve, reject) => {
      const cancel = this.#clock.after(2_000, () => settle(() => reject(new Error("Redis is not reachable"))));
      const onReady = (): void => settle(resolve);
      const settle = (how: () => void): void => {
        cancel();
        client.off("ready", onReady);
        how();
      };
      client.once("ready", onReady);
    });
    return scripts;
  }
}

const keyOf = ({ cluster, lane }: LaneAddress): string => `${clusterPrefix(cluster)}:${lane}`;
