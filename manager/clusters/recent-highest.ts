import type { Clock } from "@jobferry/shared/runtime/clock.ts";

/** Longer than any message is on its way. */
const WINDOW_MS = 120_000;

/**
 * The highest number heard within the last minutes. A number above it that was stored earlier cannot come from the same
 * history: the cluster's etcd was restored from a backup and counts from there again.
 */
export class RecentHighest {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #since: number;
  #windowFrom: number;
  #current = 0;
  #previous = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#since = clock.monotonic();
    this.#windowFrom = this.#since;
  }

  note(value: number): void {
    this.#turn();
    this.#current = Math.max(this.#current, value);
  }

  /** Infinite until enough was heard to tell. */
  get value(): number {
    this.#turn();
    if (this.#clock.monotonic() - this.#since < WINDOW_MS) return Number.POSITIVE_INFINITY;
    const highest = Math.max(this.#current, this.#previous);
    return highest === 0 ? Number.POSITIVE_INFINITY : highest;
  }

  #turn(): void {
    const now = this.#clock.monotonic();
    if (now - this.#windowFrom < WINDOW_MS) return;
    this.#previous = now - this.#windowFrom < 2 * WINDOW_MS ? this.#current : 0;
    this.#current = 0;
    this.#windowFrom = now;
  }
}
