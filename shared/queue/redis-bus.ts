import { Queue } from "bullmq";
import { ReplyError } from "ioredis";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import { Box, type Client } from "./box.ts";
import {
  type Address,
  addressName,
  type Bus,
  type ConsumeOptions,
  DEFAULT_CONSUME,
  MAX_WAITING,
  type MessageHandler,
  type Quarantined,
  type SendOptions,
  type Subscription,
} from "./bus.ts";
import { Consumer } from "./consumer.ts";
import { TransportError } from "./errors.ts";
import { prefixOf } from "./keys.ts";
import { connectRedis, type RedisConfig } from "./redis-config.ts";
import { type Finding, judgeServer } from "./redis-server.ts";

/** BullMQ writes an event per step, which nobody here reads. */
const KEPT_EVENTS = 100;

export interface RedisBusOptions {
  readonly config: RedisConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly maxWaiting?: number;
  readonly onQuarantine?: (message: Quarantined) => void;
}

interface Outbox {
  readonly queue: Queue;
  readonly box: Box;
  /** At least what waits, as far as this process knows. */
  estimate: number;
}

/** The bus over BullMQ. One connection for all commands, and one more per box that is listened to. */
export class RedisBus implements Bus {
  readonly #options: RedisBusOptions;
  readonly #client: Client;
  readonly #outboxes = new Map<string, Outbox>();
  readonly #consumers = new Set<Subscription>();
  readonly #listeners = new Set<(reachable: boolean) => void>();
  #reachable = false;
  #closed = false;

  constructor(options: RedisBusOptions) {
    this.#options = options;
    this.#client = connectRedis(options.config, "sender");
    let lastError = "";
    this.#client.on("error", (error: Error) => {
      // One line per kind of trouble, not one per attempt to reconnect.
      if (error.message !== lastError) options.logger.warn({ error: error.message }, "Redis connection failed");
      lastError = error.message;
    });
    this.#client.on("ready", () => {
      lastError = "";
      this.#setReachable(true);
    });
    this.#client.on("close", () => this.#setReachable(false));
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  onReachable(listener: (reachable: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Resolves when Redis answers and is fit for use; findings that do not forbid it are returned. The first failure to connect
   * rejects at once, a host that does not answer at all after the deadline. The bus goes on trying either way, until closed.
   */
  async start(deadlineMs: number): Promise<Finding[]> {
    const findings = judgeServer(await this.#ask(deadlineMs));
    const error = findings.find(({ severity }) => severity === "error");
    if (error !== undefined) throw new TransportError("transport/server", error.message);
    return findings;
  }

  async send(address: Address, text: string, options: SendOptions = {}): Promise<void> {
    if (this.#closed) throw new TransportError("transport/closed");
    if (!this.#reachable) throw new TransportError("transport/unreachable");
    const outbox = this.#outbox(address);
    const limit = this.#options.maxWaiting ?? MAX_WAITING;
    try {
      if (outbox.estimate >= limit) outbox.estimate = await outbox.box.waiting();
      if (outbox.estimate >= limit) throw new TransportError("transport/full", addressName(address));
      outbox.estimate++;
      const { priority } = options;
      await outbox.queue.add("message", text, priority === undefined ? {} : { priority });
    } catch (error) {
      asTransportError(error);
    }
  }

  consume(address: Address, handler: MessageHandler, partial: Partial<ConsumeOptions> = {}): Subscription {
    if (this.#closed) throw new TransportError("transport/closed");
    const { config, clock, logger, onQuarantine } = this.#options;
    const blockingClient = connectRedis(config, "receiver");
    blockingClient.on("error", () => {});
    const consumer = new Consumer({
      ...DEFAULT_CONSUME,
      ...partial,
      address,
      client: this.#client,
      blockingClient,
      handler,
      clock,
      logger,
      settled: (outcome) => {
        if (outcome.kind !== "quarantine") return;
        const { code, reason } = outcome;
        logger.warn({ box: addressName(address), code, reason }, "message put in quarantine");
        onQuarantine?.({ address, code, reason });
      },
    });
    const subscription: Subscription = {
      stop: (deadlineMs) => {
        this.#consumers.delete(subscription);
        return consumer.stop(deadlineMs);
      },
    };
    this.#consumers.add(subscription);
    return subscription;
  }

  async waiting(address: Address): Promise<number> {
    return await this.#outbox(address).box.waiting().catch(asTransportError);
  }

  async close(deadlineMs: number): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop(deadlineMs)));
    await Promise.all([...this.#outboxes.values()].map(({ queue }) => queue.close().catch(() => {})));
    this.#client.disconnect();
  }

  #outbox(address: Address): Outbox {
    const name = addressName(address);
    const known = this.#outboxes.get(name);
    if (known !== undefined) return known;
    const queue = new Queue(address.box, {
      connection: this.#client,
      prefix: prefixOf(address),
      streams: { events: { maxLen: KEPT_EVENTS } },
    });
    queue.on("error", () => {});
    const outbox = { queue, box: new Box(this.#client, prefixOf(address), address.box), estimate: 0 };
    this.#outboxes.set(name, outbox);
    return outbox;
  }

  #setReachable(reachable: boolean): void {
    if (this.#reachable === reachable) return;
    this.#reachable = reachable;
    for (const listener of this.#listeners) listener(reachable);
  }

  async #ask(deadlineMs: number): Promise<string> {
    try {
      await this.#whenReachable(deadlineMs);
      return await this.#client.info();
    } catch (cause) {
      throw startError(cause);
    }
  }

  async #whenReachable(deadlineMs: number): Promise<void> {
    if (this.#reachable) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#client.on("error", reject);
    this.#client.once("ready", resolve);
    const cancel = this.#options.clock.after(deadlineMs, () => reject(new Error("no connection")));
    try {
      await promise;
    } finally {
      cancel();
      this.#client.off("error", reject);
      this.#client.off("ready", resolve);
    }
  }
}

/** What Redis answers when a user, a password or a right is missing. */
const BAD_CREDENTIALS = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;

function startError(cause: unknown): TransportError {
  const detail = (cause instanceof Error ? cause.message || cause.name : String(cause)).slice(0, 300);
  if (BAD_CREDENTIALS.test(detail)) return new TransportError("transport/credentials", detail, cause);
  return new TransportError(isReply(cause) ? "transport/rejected" : "transport/unreachable", detail, cause);
}

/** Replies of the server (NOPERM, OOM, READONLY) are refusals; everything else means that no answer came. */
function asTransportError(error: unknown): never {
  if (error instanceof TransportError) throw error;
  const detail = error instanceof Error ? error.message : String(error);
  throw new TransportError(
    isReply(error) ? "transport/rejected" : "transport/unreachable",
    detail.slice(0, 300),
    error,
  );
}

const isReply = (error: unknown): boolean => error instanceof ReplyError;
