import type { Clock } from "../runtime/clock.ts";
import { DelayHeap } from "../runtime/delay-heap.ts";
import { type Logger, silentLogger } from "../runtime/logger.ts";

/** Nothing: done. `requeueAfterMs`: done for now. A throw: back-off and again. */
// biome-ignore lint/suspicious/noConfusingVoidType: most processes return nothing, and `async` makes that void
export type ProcessResult = void | { requeueAfterMs: number };

export interface WorkQueueMetrics {
  added(): void;
  retried(): void;
  /** A key left the queue after waiting this long. */
  taken(waitedMs: number): void;
  processed(durationMs: number): void;
}

/** What can be read off a queue at any moment. */
export interface WorkQueueGauges {
  readonly name: string;
  readonly depth: number;
  unfinishedWorkMs(): { total: number; longest: number };
}

/** Counts what a queue does: `workQueueMetrics` of metrics.ts. */
export type MeasureQueue = (queue: WorkQueueGauges) => WorkQueueMetrics;

export interface WorkQueueOptions {
  name: string;
  clock: Clock;
  /** Keys processed at once, at least 1. */
  concurrency: number;
  process(key: string, signal: AbortSignal): Promise<ProcessResult>;
  /** The n-th failure of a key in a row waits `baseMs * 2^(n-1)`, at most `maxMs`. */
  backoff: { baseMs: number; maxMs: number };
  logger?: Logger;
  metrics?: MeasureQueue | undefined;
  /** How many keys more may run at once while an urgent one waits, and for how long a key is urgent. */
  urgent?: { reserved: number; forMs: number };
  /** How long `stop` lets running keys finish before it aborts their signal. */
  stopGraceMs?: number;
}

/** After this many keys in a row the event loop gets a turn, or a flood of no-op syncs would starve sockets. */
const KEYS_PER_TURN = 256;

/**
 * A key is in one of four places: waiting in line, waiting for its time, running, or running and marked to run again.
 * So a key is in line at most once, never runs twice at the same time, and a change that comes while it runs is not lost.
 */
export class WorkQueue implements WorkQueueGauges {
  readonly #options: WorkQueueOptions;
  readonly #logger: Logger;
  readonly #metrics: WorkQueueMetrics | undefined;
  readonly #line = new Line();
  /** Goes before the other line, the newest first. */
  readonly #urgent = new Line();
  readonly #delayed = new DelayHeap();
  /** Running keys and when they began. */
  readonly #running = new Map<string, number>();
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #abort = new AbortController();
  #state: "new" | "started" | "stopped" = "new";
  #cancelTimer: (() => void) | undefined;
  #timerDue = Number.POSITIVE_INFINITY;
  #takenThisTurn = 0;
  #turnScheduled = false;
  #onDrained: (() => void) | undefined;

  constructor(options: WorkQueueOptions) {
    if (!Number.isInteger(options.concurrency) || options.concurrency < 1)
      throw new RangeError(`work queue ${options.name}: concurrency must be a whole number of at least 1`);
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#metrics = options.metrics?.(this);
  }

  get name(): string {
    return this.#options.name;
  }

  /** Keys in line; those waiting for their time do not count. */
  get depth(): number {
    return this.#urgent.size + this.#line.size + this.#again.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** For the gauges: how long the running keys have been running, in all and the longest. */
  unfinishedWorkMs(): { total: number; longest: number } {
    const now = this.#options.clock.monotonic();
    let total = 0;
    let longest = 0;
    for (const began of this.#running.values()) {
      total += now - began;
      longest = Math.max(longest, now - began);
    }
    return { total, longest };
  }

  add(key: string): void {
    if (this.#state === "stopped") return;
    if (this.#running.has(key)) {
      if (this.#again.has(key)) return;
      this.#again.add(key);
      this.#metrics?.added();
    } else if (!this.#urgent.has(key) && this.#line.add(key, this.#options.clock.monotonic())) {
      this.#metrics?.added();
      this.#dispatch();
    }
  }

  /**
   * Before all that is not urgent, and before those that were urgent earlier: somebody waits for what is newest. A key that had no
   * turn within `urgent.forMs` stands in line as others do. One that runs will run again in its turn.
   */
  addUrgent(key: string): void {
    if (this.#state === "stopped" || this.#running.has(key)) {
      this.add(key);
      return;
    }
    const since = this.#line.remove(key);
    // However long it has stood in line: it is urgent from now on.
    if (!this.#urgent.add(key, this.#options.clock.monotonic())) return;
    if (since === undefined) this.#metrics?.added();
    this.#dispatch();
  }

  /** Asked for several times, the earliest counts; `add` in between does not cancel it. */
  addAfter(key: string, ms: number): void {
    if (this.#state === "stopped") return;
    if (ms <= 0) {
      this.add(key);
    } else {
      this.#delayed.add(key, this.#options.clock.monotonic() + ms);
      this.#armTimer();
    }
  }

  /** Counts a failure of `key` and adds it after the back-off that is due. */
  addRateLimited(key: string): void {
    const { baseMs, maxMs } = this.#options.backoff;
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    this.#metrics?.retried();
    this.addAfter(key, Math.min(maxMs, baseMs * 2 ** Math.min(failures, 52)));
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  start(): void {
    if (this.#state !== "new") throw new Error(`work queue ${this.name} was started before`);
    this.#state = "started";
    this.#dispatch();
  }

  /** Takes no new keys, lets the running ones finish, and aborts their signal when they take longer than the grace. */
  async stop(): Promise<void> {
    this.#state = "stopped";
    this.#cancelTimer?.();
    this.#delayed.clear();
    this.#line.clear();
    this.#urgent.clear();
    this.#again.clear();
    if (this.#running.size === 0) return;
    const cancel = this.#options.clock.after(this.#options.stopGraceMs ?? 10_000, () => this.#abort.abort());
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#onDrained;
    this.#onDrained = () => {
      waiting?.();
      resolve();
    };
    await promise;
    cancel();
  }

  #dispatch(): void {
    if (this.#state !== "started" || this.#turnScheduled) return;
    for (let next = this.#choose(); next !== undefined; next = this.#choose()) {
      if (this.#takenThisTurn >= KEYS_PER_TURN) {
        this.#nextTurn();
        return;
      }
      const { key, since } = next();
      this.#takenThisTurn++;
      const now = this.#options.clock.monotonic();
      this.#metrics?.taken(now - since);
      this.#running.set(key, now);
      void this.#run(key, now);
    }
  }

  /** How to take the key whose turn it is, if there is one and a place for it. */
  #choose(): (() => { key: string; since: number }) | undefined {
    const { concurrency, clock, urgent = { reserved: 0, forMs: 0 } } = this.#options;
    const running = this.#running.size;
    while (this.#urgent.size > 0 && clock.monotonic() - this.#urgent.oldest > urgent.forMs) {
      const { key, since } = this.#urgent.take();
      this.#line.add(key, since);
    }
    if (this.#urgent.size > 0 && running < concurrency + urgent.reserved) return () => this.#urgent.takeNewest();
    if (this.#line.size > 0 && running < concurrency) return () => this.#line.take();
    return undefined;
  }

  #nextTurn(): void {
    this.#turnScheduled = true;
    this.#options.clock.after(0, () => {
      this.#turnScheduled = false;
      this.#takenThisTurn = 0;
      this.#dispatch();
    });
  }

  async #run(key: string, began: number): Promise<void> {
    let settle: () => void;
    try {
      const result = await this.#options.process(key, this.#abort.signal);
      settle = () => this.#succeeded(key, result);
    } catch (error) {
      settle = () => this.#failed(key, error);
    }
    this.#running.delete(key);
    this.#metrics?.processed(this.#options.clock.monotonic() - began);
    if (this.#state === "stopped") {
      if (this.#running.size === 0) this.#onDrained?.();
      return;
    }
    settle();
    // By `add`, because what settled may have started the key again already.
    if (this.#again.delete(key)) this.add(key);
    this.#dispatch();
  }

  #succeeded(key: string, result: ProcessResult): void {
    this.forget(key);
    if (result !== undefined) this.addAfter(key, result.requeueAfterMs);
  }

  #failed(key: string, error: unknown): void {
    this.addRateLimited(key);
    this.#logger.warn({ queue: this.name, key, failures: this.failures(key), error }, "processing failed, will retry");
  }

  #armTimer(): void {
    const due = this.#delayed.nextDue();
    if (due === undefined || due >= this.#timerDue) return;
    this.#cancelTimer?.();
    this.#timerDue = due;
    const wait = due - this.#options.clock.monotonic();
    this.#cancelTimer = this.#options.clock.after(wait, () => this.#releaseDue());
  }

  #releaseDue(): void {
    this.#timerDue = Number.POSITIVE_INFINITY;
    this.#cancelTimer = undefined;
    const now = this.#options.clock.monotonic();
    for (let key = this.#delayed.takeDue(now); key !== undefined; key = this.#delayed.takeDue(now)) this.add(key);
    this.#armTimer();
  }
}

/** First in, first out, each key once. */
class Line {
  readonly #since = new Map<string, number>();
  /** With those that were removed meanwhile: they are passed over. */
  #keys: string[] = [];
  #head = 0;

  get size(): number {
    return this.#since.size;
  }

  has(key: string): boolean {
    return this.#since.has(key);
  }

  add(key: string, now: number): boolean {
    if (this.#since.has(key)) return false;
    this.#since.set(key, now);
    this.#keys.push(key);
    return true;
  }

  /** Since when it waited, if it did. */
  remove(key: string): number | undefined {
    const since = this.#since.get(key);
    this.#since.delete(key);
    return since;
  }

  /** Since when the first in line waits. */
  get oldest(): number {
    while (this.#head < this.#keys.length && !this.#since.has(this.#keys[this.#head] ?? "")) this.#head++;
    return this.#since.get(this.#keys[this.#head] ?? "") ?? Number.POSITIVE_INFINITY;
  }

  takeNewest(): { key: string; since: number } {
    for (let key = this.#keys.pop(); key !== undefined; key = this.#keys.pop()) {
      this.#head = Math.min(this.#head, this.#keys.length);
      const since = this.remove(key);
      if (since !== undefined) return { key, since };
    }
    throw new Error("the line is empty");
  }

  take(): { key: string; since: number } {
    for (;;) {
      const key = this.#keys[this.#head++];
      if (key === undefined) throw new Error("the line is empty");
      if (this.#head > 1024 && this.#head * 2 > this.#keys.length) {
        this.#keys = this.#keys.slice(this.#head);
        this.#head = 0;
      }
      const since = this.remove(key);
      if (since !== undefined) return { key, since };
    }
  }

  clear(): void {
    this.#since.clear();
    this.#keys = [];
    this.#head = 0;
  }
}
