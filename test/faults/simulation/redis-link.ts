import { attempt } from "@jobferry/shared/queue/attempt.ts";
import {
  type Address,
  addressName,
  type Bus,
  type ConsumeOptions,
  DEFAULT_CONSUME,
  type MessageHandler,
  type SendOptions,
  type Subscription,
} from "@jobferry/shared/queue/bus.ts";
import { TransportError } from "@jobferry/shared/queue/errors.ts";
import { sleep } from "@jobferry/shared/runtime/clock.ts";
import type { Party } from "./party.ts";
import type { RedisServer, Taken } from "./redis-server.ts";
import { Pipe, type Scheduler } from "./scheduler.ts";

const COMMAND_TIMEOUT_MS = 5_000;
const LOCK_MARGIN_MS = 2_000;
const BLOCK_MS = 5_000;
const PAUSE_MS = 500;
const MAX_RECONNECT_MS = 2_000;

export interface RedisLinkOptions {
  readonly party: Party;
  readonly redis: RedisServer;
  readonly scheduler: Scheduler;
  readonly maxLagMs: number;
  /** How much later than usual answers come at this moment. */
  extraLagMs(): number;
  /** The process can reach Redis at this moment. */
  isOpen(): boolean;
}

interface Command {
  reject(error: Error): void;
}

/** One process's connection to Redis. */
export class RedisLink implements Bus {
  readonly #options: RedisLinkOptions;
  readonly #out: Pipe;
  readonly #in: Pipe;
  readonly #listeners = new Set<(reachable: boolean) => void>();
  readonly #unanswered = new Set<Command>();
  /** Of the present connection; what belongs to an earlier one is lost. */
  #life = 0;
  #reachable = true;
  #reconnecting = false;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
    const { party, scheduler, maxLagMs } = options;
    const lag = (): number => party.random.int(0, maxLagMs);
    this.#out = new Pipe(scheduler, lag);
    this.#in = new Pipe(scheduler, () => lag() + options.extraLagMs(), party);
    this.#reachable = options.isOpen();
    if (!this.#reachable) this.#reconnect();
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  onReachable(listener: (reachable: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The other end hung up: known at once, unless the process is frozen. */
  reset(): void {
    this.#in.send(`${this.#options.party.name} redis reset`, () => this.#close());
  }

  async send(address: Address, text: string, { priority = 0 }: SendOptions = {}): Promise<void> {
    if (!this.#reachable) throw new TransportError("transport/unreachable");
    await this.#command(address, `send ${addressName(address)}`, (redis) => redis.add(address, text, priority));
  }

  waiting(address: Address): Promise<number> {
    return this.#command(address, "waiting", (redis) => redis.waiting(address), false);
  }

  async bytes(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {}

  consume(address: Address, handler: MessageHandler, partial: Partial<ConsumeOptions> = {}): Subscription {
    const { party } = this.#options;
    const { clock } = party;
    const options = { ...DEFAULT_CONSUME, ...partial };
    const stopping = new AbortController();
    const running = new Set<Promise<void>>();
    let slotFreed = (): void => {};
    let serial = 0;
    let answeredAt = Number.NEGATIVE_INFINITY;
    const handle = async ({ id, text, tries }: Taken, token: string): Promise<void> => {
      const outcome = await attempt(handler, text, tries, options, clock);
      await this.#command(address, "settle", (redis) => redis.settle(address, id, token, outcome, clock.now()));
      answeredAt = clock.monotonic();
    };
    const take = async (): Promise<void> => {
      while (running.size >= options.concurrency && !stopping.signal.aborted)
        await new Promise<void>((resolve) => {
          slotFreed = resolve;
        });
      if (stopping.signal.aborted) return;
      const token = `${party.name}@${party.startedAt}:${serial++}`;
      const lockMs = options.deadlineMs + LOCK_MARGIN_MS;
      const taken = await this.#command(address, "take", (redis) => redis.take(address, token, lockMs, clock.now()));
      answeredAt = clock.monotonic();
      if ("dueAt" in taken) {
        await this.#block(address, taken.dueAt > 0 ? taken.dueAt - clock.now() : BLOCK_MS, stopping.signal);
        return;
      }
      const work: Promise<void> = handle(taken, token)
        .catch(() => {})
        .finally(() => {
          running.delete(work);
          slotFreed();
        });
      running.add(work);
    };
    const loop = async (step: () => Promise<void>): Promise<void> => {
      while (!stopping.signal.aborted) {
        try {
          await step();
        } catch {
          await sleep(clock, PAUSE_MS, stopping.signal).catch(() => {});
        }
      }
    };
    const sweep = async (): Promise<void> => {
      await this.#command(address, "sweep", (redis) => redis.sweep(address));
      await sleep(clock, options.stalledCheckMs, stopping.signal).catch(() => {});
    };
    const loops = Promise.all([loop(take), loop(sweep)]);
    return {
      get reachable() {
        return clock.monotonic() - answeredAt <= 2 * BLOCK_MS;
      },
      stop: async (deadlineMs) => {
        stopping.abort();
        slotFreed();
        const late = new Promise<void>((resolve) => clock.after(deadlineMs, resolve));
        await Promise.race([loops.then(() => Promise.all(running)), late]);
        return { abandoned: running.size };
      },
    };
  }

  /** Waits for a message, on a connection of its own. */
  #block(address: Address, ms: number, signal: AbortSignal): Promise<void> {
    const { party, redis } = this.#options;
    return new Promise((resolve) => {
      const finish = (): void => {
        cancelTimer();
        forget();
        signal.removeEventListener("abort", finish);
        resolve();
      };
      const cancelTimer = party.clock.after(Math.min(BLOCK_MS, Math.max(1, ms)), finish);
      const forget = redis.listen(address, () => this.#in.send(`${party.name} ring`, finish));
      signal.addEventListener("abort", finish, { once: true });
    });
  }

  #command<T>({ cluster }: Address, label: string, perform: (redis: RedisServer) => T, writes = true): Promise<T> {
    const { party, redis, isOpen } = this.#options;
    if (!this.#reachable) return Promise.reject(new TransportError("transport/unreachable"));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const life = this.#life;
    const command = { reject };
    this.#unanswered.add(command);
    const cancelTimer = party.clock.after(COMMAND_TIMEOUT_MS, () => {
      if (life === this.#life) this.#close();
    });
    const answer = (settle: () => void): void =>
      this.#in.send(`${party.name} redis`, () => {
        if (!this.#unanswered.delete(command)) return;
        settle();
      });
    this.#out.send(`${party.name} ${label}`, () => {
      if (!isOpen() || life !== this.#life) return;
      if (redis.shardsAway.has(cluster))
        return answer(() => reject(new TransportError("transport/rejected", "CLUSTERDOWN Hash slot not served")));
      if (writes && redis.isReplica)
        return answer(() =>
          reject(new TransportError("transport/rejected", "READONLY You can't write against a read only replica.")),
        );
      const value = perform(redis);
      answer(() => resolve(value));
    });
    promise.then(cancelTimer, cancelTimer);
    return promise;
  }

  #close(): void {
    if (!this.#reachable) return;
    this.#life++;
    this.#reachable = false;
    for (const { reject } of [...this.#unanswered]) reject(new TransportError("transport/unreachable"));
    this.#unanswered.clear();
    for (const listener of [...this.#listeners]) listener(false);
    this.#reconnect();
  }

  #reconnect(): void {
    if (this.#reconnecting) return;
    this.#reconnecting = true;
    const { party, isOpen } = this.#options;
    let tries = 0;
    const again = (): void => {
      party.clock.after(Math.min(50 * 2 ** tries++, MAX_RECONNECT_MS), () => {
        if (!isOpen()) return again();
        this.#reconnecting = false;
        this.#reachable = true;
        for (const listener of [...this.#listeners]) listener(true);
      });
    };
    again();
  }
}
