import type { Clock } from "@jobferry/shared/runtime/clock.ts";

interface Lane {
  startedAt: number;
  next: (() => void) | undefined;
  cancel: (() => void) | undefined;
}

/** Does a thing for each at most every so often: the first at once, and of those that come too soon the last, when it is time. */
export class Paced<K extends object> {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #lanes = new Map<K, Lane>();

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Resolves when `work` is done, or at once where it is put off; what fails then is the business of `work`. */
  run(key: K, work: () => Promise<void>): Promise<void> {
    const lane = this.#lanes.get(key) ?? { startedAt: Number.NEGATIVE_INFINITY, next: undefined, cancel: undefined };
    this.#lanes.set(key, lane);
    const waitMs = lane.startedAt + this.#everyMs - this.#clock.monotonic();
    if (waitMs <= 0 && lane.cancel === undefined) {
      lane.startedAt = this.#clock.monotonic();
      return work();
    }
    lane.next = () => {
      lane.startedAt = this.#clock.monotonic();
      work().catch(() => {});
    };
    lane.cancel ??= this.#clock.after(Math.max(0, waitMs), () => {
      const { next } = lane;
      lane.cancel = undefined;
      lane.next = undefined;
      next?.();
    });
    return Promise.resolve();
  }

  forget(key: K): void {
    this.#lanes.get(key)?.cancel?.();
    this.#lanes.delete(key);
  }

  stop(): void {
    for (const key of [...this.#lanes.keys()]) this.forget(key);
  }
}
