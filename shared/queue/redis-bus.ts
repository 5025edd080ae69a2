import { ReplyError } from "ioredis";
import type { ClusterName } from "../protocol/names.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import { Box } from "./box.ts";
import {
  type Address,
  addressName,
  BOX_BOUNDS,
  type BoxBounds,
  type Bus,
  type ConsumeOptions,
  DEFAULT_CONSUME,
  type MessageHandler,
  type Quarantined,
  type SendOptions,
  type Subscription,
} from "./bus.ts";
import { Consumer } from "./consumer.ts";
import { TransportError } from "./errors.ts";
import { clusterPrefix, prefixOf } from "./keys.ts";
import { connectRedis, type RedisConfig } from "./redis-config.ts";
import { type Finding, judgeServer } from "./redis-server.ts";
import { type Client, Scripts } from "./script-runner.ts";

/** How often an agent looks whether the manager has loaded the scripts. */
const LOOK_MS = 1_000;

export interface RedisBusOptions {
  readonly config: RedisConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** An agent's own cluster: it waits until the manager has loaded the scripts. Without it we load them. */
  readonly agentOf?: ClusterName;
  readonly bounds?: BoxBounds;
  readonly onQuarantine?: (message: Quarantined) => void;
}

/** The bus over queues in BullMQ's layout. One connection for all commands, and one more per box that is listened to. */
export class RedisBus implements Bus {
  readonly #options: RedisBusOptions;
  readonly #client: Client;
  readonly #scripts: Scripts;
  readonly #consumers = new Set<Subscription>();
  readonly #listeners = new Set<(reachable: boolean) => void>();
  readonly #onUnfit = new Set<(error: Error) => void>();
  #reachable = false;
  #closed = false;
  /** Of the present connection. */
  #life = 0;
  /** Why a connection that stands is of no use. */
  #unfit: Error | undefined;

  constructor(options: RedisBusOptions) {
    this.#options = options;
    this.#client = connectRedis(options.config, "sender");
    this.#scripts = new Scripts({
      client: this.#client,
      loads: options.agentOf === undefined,
      onMissing: () => this.#reachable && void this.#admit(),
    });
    let lastError = "";
    this.#client.on("error", (error: Error) => {
      // One line per kind of trouble, not one per attempt to reconnect.
      if (error.message !== lastError) options.logger.warn({ error: error.message }, "Redis connection failed");
      lastError = error.message;
    });
    this.#client.on("ready", () => {
      lastError = "";
      void this.#admit();
    });
    this.#client.on("close", () => {
      this.#life++;
      this.#setReachable(false);
    });
  }

  /** A connection is of use once the scripts are there. Until then an agent waits for the manager, as it would for Redis. */
  async #admit(): Promise<void> {
    const { clock, logger, agentOf } = this.#options;
    const life = ++this.#life;
    this.#setReachable(false);
    for (let said = ""; life === this.#life && !this.#closed; ) {
      try {
        if (agentOf === undefined) await this.#scripts.load();
        else await this.#scripts.run("ready", [`${clusterPrefix(agentOf)}:ready`], []);
        if (life !== this.#life) return;
        this.#unfit = undefined;
        this.#setReachable(true);
        return;
      } catch (error) {
        if (life !== this.#life) return;
        this.#unfit = error as Error;
        if (this.#unfit.message !== said) logger.warn({ error: this.#unfit.message }, "Redis cannot be used yet");
        said = this.#unfit.message;
        for (const listener of this.#onUnfit) listener(this.#unfit);
        await sleep(clock, LOOK_MS);
      }
    }
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
    const { clock, bounds = BOX_BOUNDS } = this.#options;
    try {
      const isIn = await this.#box(address).push(text, options.priority ?? 0, clock.now(), bounds);
      if (!isIn) throw new TransportError("transport/full", addressName(address));
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
      scripts: this.#scripts,
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
      get reachable() {
        return consumer.reachable;
      },
      stop: (deadlineMs) => {
        this.#consumers.delete(subscription);
        return consumer.stop(deadlineMs);
      },
    };
    this.#consumers.add(subscription);
    return subscription;
  }

  async waiting(address: Address): Promise<number> {
    return await this.#box(address).waiting().catch(asTransportError);
  }

  async bytes(address: Address): Promise<number> {
    return await this.#box(address).bytes().catch(asTransportError);
  }

  async close(deadlineMs: number): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop(deadlineMs)));
    this.#client.disconnect();
  }

  #box(address: Address): Box {
    return new Box(this.#scripts, prefixOf(address), address.box);
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
    const forget = this.onReachable((reachable) => reachable && resolve());
    // That the scripts are missing may change within the deadline; whoever may not load them never can.
    const onUnfit = (error: Error): void => {
      if (!(error instanceof TransportError)) reject(error);
    };
    this.#client.on("error", reject);
    this.#onUnfit.add(onUnfit);
    if (this.#unfit !== undefined) onUnfit(this.#unfit);
    const cancel = this.#options.clock.after(deadlineMs, () => reject(this.#unfit ?? new Error("no connection")));
    try {
      await promise;
    } finally {
      cancel();
      forget();
      this.#client.off("error", reject);
      this.#onUnfit.delete(onUnfit);
    }
  }
}

/** What Redis answers when a user, a password or a right is missing. */
const BAD_CREDENTIALS = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;

function startError(cause: unknown): TransportError {
  if (cause instanceof TransportError) return cause;
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
