import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { MinHeap } from "@jobferry/shared/runtime/min-heap.ts";

interface Timer {
  readonly due: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

const before = (one: Timer, other: Timer): boolean =>
  one.due < other.due || (one.due === other.due && one.order < other.order);

/** A clock that jumps from one event to the next, without promises in between: a simulated day has a million of them. */
export class EventClock implements Clock {
  readonly #start: number;
  readonly #timers = new MinHeap<Timer>(before);
  #elapsed = 0;
  #order = 0;

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#start = startMs;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, callback: () => void): () => void {
    const timer: Timer = { due: this.#elapsed + Math.max(0, ms), order: this.#order++, callback };
    this.#timers.push(timer);
    return () => {
      timer.callback = undefined;
    };
  }

  /** Goes to the next event. False: there is none. */
  step(): boolean {
    for (let timer = this.#timers.pop(); timer !== undefined; timer = this.#timers.pop()) {
      if (timer.callback === undefined) continue;
      this.#elapsed = timer.due;
      timer.callback();
      return true;
    }
    return false;
  }
}
