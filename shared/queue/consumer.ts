import { randomUUID } from "node:crypto";
import { QueueKeys, RedisConnection, RedisQueueBackend, type WorkerOptions } from "bullmq";
import { type Clock, sleep } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import { attempt, type Outcome } from "./attempt.ts";
import { Box, type Taken } from "./box.ts";
import { type Address, addressName, type ConsumeOptions, type MessageHandler, type Subscription } from "./bus.ts";
import { prefixOf } from "./keys.ts";
import type { Client, Scripts } from "./script-runner.ts";

/** How long a blocked wait lasts before it is renewed. A new message ends it at once, so this costs no latency. */
const BLOCK_SECONDS = 5;
/** A lock outlives its handler's deadline, so that the message is not given away while its outcome is written. */
const LOCK_MARGIN_MS = 2_000;
/** After trouble with Redis or a box that it finds unreadable. */
const PAUSE_MS = 500;
/** We ask at least once in each blocked wait: a silence of Redis that is longer than two of them is one. */
const ANSWERED_MS = 2_000 * BLOCK_SECONDS;
/** Wake-ups in a row that found nothing; more than a few mean that somebody rings for no reason. */
const IDLE_RINGS = 20;

export interface ConsumerOptions extends ConsumeOptions {
  readonly address: Address;
  readonly client: Client;
  readonly scripts: Scripts;
  /** For this consumer alone: it waits on it. Closed with the consumer. */
  readonly blockingClient: Client;
  readonly handler: MessageHandler;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settled: (outcome: Outcome) => void;
}

/**
 * Takes messages of one box and hands them to the handler, `concurrency` at a time. A message is locked only while its
 * handler runs. BullMQ wakes us (its marker key); a sweep of our own returns the messages of receivers that died.
 */
export class Consumer implements Subscription {
  readonly #options: ConsumerOptions;
  readonly #box: Box;
  readonly #backend: RedisQueueBackend;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #loops: Promise<unknown>;
  readonly #id = randomUUID();
  #taken = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #slotFreed = (): void => {};

  constructor(options: ConsumerOptions) {
    this.#options = options;
    const { address, client, scripts, blockingClient } = options;
    const prefix = prefixOf(address);
    this.#box = new Box(scripts, prefix, address.box);
    const keys = new QueueKeys(prefix);
    const worker: WorkerOptions = { connection: client, prefix };
    this.#backend = new RedisQueueBackend(
      new RedisConnection(client, { shared: true, blocking: false }),
      address.box,
      keys.getKeys(address.box),
      (type) => keys.toKey(address.box, type),
      worker,
      new RedisConnection(blockingClient, { shared: false, blocking: true }),
    );
    // Lost connections show in the loops, which go on by themselves.
    this.#backend.on("error", () => {});
    this.#loops = Promise.all([this.#takeLoop(), this.#stalledLoop()]);
  }

  get reachable(): boolean {
    return this.#options.clock.monotonic() - this.#answeredAt <= ANSWERED_MS;
  }

  async stop(deadlineMs: number): Promise<{ readonly abandoned: number }> {
    this.#stopping.abort(new Error("stopping"));
    this.#slotFreed();
    this.#options.blockingClient.disconnect();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(deadlineMs, resolve);
    await Promise.race([this.#loops.then(() => Promise.all(this.#running)), late]);
    cancel();
    await this.#backend.close(true).catch(() => {});
    return { abandoned: this.#running.size };
  }

  async #takeLoop(): Promise<void> {
    let idleRings = 0;
    await this.#untilStopped(async () => {
      await this.#slot();
      if (this.#stopping.signal.aborted) return;
      const { clock, deadlineMs } = this.#options;
      const token = `${this.#id}:${this.#taken++}`;
      const taken = await this.#box.take(token, deadlineMs + LOCK_MARGIN_MS, clock.now());
      this.#answeredAt = clock.monotonic();
      if ("id" in taken) {
        idleRings = 0;
        this.#start(taken);
        return;
      }
      if (++idleRings > IDLE_RINGS) await sleep(clock, PAUSE_MS, this.#stopping.signal);
      const rang = await this.#backend.waitForJob(blockSeconds(taken.dueAt - clock.now(), taken.dueAt > 0));
      if (rang === null) idleRings = 0;
    });
  }

  async #stalledLoop(): Promise<void> {
    await this.#untilStopped(async () => {
      await this.#box.sweep();
      await sleep(this.#options.clock, this.#options.stalledCheckMs, this.#stopping.signal);
    });
  }

  /** Repeats `step`; one that fails is reported and tried again after a pause. */
  async #untilStopped(step: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    const { clock, logger, address } = this.#options;
    let trouble = "";
    while (!signal.aborted) {
      try {
        await step();
        trouble = "";
      } catch (error) {
        if (signal.aborted) return;
        // One line per kind of trouble: an outage lasts for many tries.
        if (String(error) !== trouble)
          logger.warn({ box: addressName(address), error: String(error) }, "receiving failed");
        trouble = String(error);
        await sleep(clock, PAUSE_MS, signal).catch(() => {});
      }
    }
  }

  async #slot(): Promise<void> {
    while (this.#running.size >= this.#options.concurrency && !this.#stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#slotFreed = resolve;
      });
    }
  }

  #start(taken: Taken): void {
    const work = this.#handle(taken)
      .catch((error: unknown) => {
        // Not settled: the stalled sweep hands the message out again, and handlers do not mind.
        const { logger, address } = this.#options;
        logger.warn({ box: addressName(address), error: String(error) }, "settling a message failed");
      })
      .finally(() => {
        this.#running.delete(work);
        this.#slotFreed();
      });
    this.#running.add(work);
  }

  async #handle(taken: Taken): Promise<void> {
    const { handler, clock, settled } = this.#options;
    const text = storedText(taken.data);
    const outcome: Outcome =
      text === undefined ? unreadable(taken) : await attempt(handler, text, taken.tries, this.#options, clock);
    await this.#box.settle(taken, outcome, clock.now());
    this.#answeredAt = clock.monotonic();
    settled(outcome);
  }
}

function blockSeconds(untilDueMs: number, something: boolean): number {
  if (!something) return BLOCK_SECONDS;
  return Math.min(Math.max(untilDueMs / 1000, 0.001), BLOCK_SECONDS);
}

const unreadable = ({ data }: Taken): Outcome =>
  data === undefined
    ? { kind: "quarantine", code: "protocol/too-large", reason: "more text than any message may have" }
    : { kind: "quarantine", code: "protocol/malformed", reason: "no readable text" };

function storedText(data: string | undefined): string | undefined {
  if (data === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
