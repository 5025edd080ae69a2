import type { Redis } from "ioredis";
import { type Clock, sleep } from "../runtime/clock.ts";
import { clusterPrefix } from "./keys.ts";
import type { LaneAddress, Lanes } from "./lanes.ts";
import { connectRedis, type RedisConfig } from "./redis-config.ts";

/** A blocked wait is renewed this often; a new piece ends it at once. */
const BLOCK_SECONDS = 5;
/** What nobody takes goes after this long. */
const TTL_MS = 60_000;
const PAUSE_MS = 500;

/** Lanes as lists in Redis, over connections of their own: a flood of logs does not stand in line before dispatch. */
export class RedisLanes implements Lanes {
  readonly #config: RedisConfig;
  readonly #clock: Clock;
  readonly #onLost = new Set<() => void>();
  readonly #open = new Set<{ stop(): Promise<void> }>();
  #sender: Redis | undefined;

  constructor(config: RedisConfig, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
  }

  async push(address: LaneAddress, piece: Buffer): Promise<void> {
    const key = keyOf(address);
    const sender = await this.#connected();
    const results = await sender.multi().rpush(key, piece).pexpire(key, TTL_MS).exec();
    for (const [error] of results ?? []) if (error !== null) throw error;
  }

  listen(address: LaneAddress, onPiece: (piece: Buffer) => void): { stop(): Promise<void> } {
    const key = keyOf(address);
    const receiver = connectRedis(this.#config, "receiver") as Redis;
    receiver.on("error", () => {});
    const stopping = new AbortController();
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
    const done = loop();
    const listening = {
      stop: async () => {
        this.#open.delete(listening);
        stopping.abort();
        receiver.disconnect();
        await done;
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
    this.#sender?.disconnect();
  }

  /** Made when first needed: without logs there is no connection for them. */
  async #connected(): Promise<Redis> {
    if (this.#sender === undefined) {
      const sender = connectRedis(this.#config, "sender") as Redis;
      sender.on("error", () => {});
      sender.on("close", () => {
        for (const listener of this.#onLost) listener();
      });
      this.#sender = sender;
    }
    const sender = this.#sender;
    if (sender.status === "ready") return sender;
    await new Promise<void>((resolve, reject) => {
      const cancel = this.#clock.after(2_000, () => settle(() => reject(new Error("Redis is not reachable"))));
      const onReady = (): void => settle(resolve);
      const settle = (how: () => void): void => {
        cancel();
        sender.off("ready", onReady);
        how();
      };
      sender.once("ready", onReady);
    });
    return sender;
  }
}

const keyOf = ({ cluster, lane }: LaneAddress): string => `${clusterPrefix(cluster)}:${lane}`;
