import type { Clock } from "./clock.ts";
import { MinHeap } from "./min-heap.ts";

interface Timer {
  due: number;
  order: number;
  callback: () => void;
  cancelled: boolean;
}

const before = (a: Timer, b: Timer): boolean => a.due < b.due || (a.due === b.due && a.order < b.order);

/**
 * A clock that stands still until it is moved. Everything that runs on it must wait only on promises and on this clock
 * (no sockets, no processes): then `settle` can tell that nothing more will happen at this instant, and a simulated day
 * takes as long as its events.
 */
export class VirtualClock implements Clock {
  #now: number;
  readonly #start: number;
  #order = 0;
  readonly #timers = new MinHeap<Timer>(before);

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
    this.#start = startMs;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  after(ms: number, callback: () => void): () => void {
    // Whole milliseconds: a fraction gets lost beside a date, and a timer a hair ahead would then never come.
    const timer = { due: this.#now + Math.max(0, Math.ceil(ms)), order: this.#order++, callback, cancelled: false };
    this.#timers.push(timer);
    return () => {
      timer.cancelled = true;
    };
  }

  /** Lets everything that can happen at this instant happen. */
  async settle(): Promise<void> {
    // One macrotask turn drains every microtask chain; the second catches work that a chain handed to setImmediate.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves time forward by `ms`, stopping at every timer on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.settle();
    for (let next = this.#next(); next !== undefined && next.due <= end; next = this.#next()) await this.#fire(next);
    this.#now = Math.max(this.#now, end);
  }

  /** Moves time forward until `condition` holds; rejects when it does not within `limitMs` of virtual time. */
  async runUntil(condition: () => boolean, limitMs = 3_600_000): Promise<void> {
    const end = this.#now + limitMs;
    await this.settle();
    while (!condition()) {
      const next = this.#next();
      if (next === undefined) throw new Error("nothing is left to happen, and the condition does not hold");
      if (next.due > end) throw new Error(`the condition did not hold within ${limitMs} ms of virtual time`);
      await this.#fire(next);
    }
  }

  #next(): Timer | undefined {
    while (this.#timers.peek()?.cancelled === true) this.#timers.pop();
    return this.#timers.peek();
  }

  async #fire(timer: Timer): Promise<void> {
    this.#timers.pop();
    this.#now = Math.max(this.#now, timer.due);
    timer.callback();
    await this.settle();
  }
}
