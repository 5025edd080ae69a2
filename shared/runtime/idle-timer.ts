import type { Clock } from "./clock.ts";

/** Calls back when `restart` has not been called for `ms`; one clock timer at a time, however busy the watch. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #onIdle: () => void;
  #since = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, ms: number, onIdle: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#onIdle = onIdle;
  }

  restart(): void {
    this.#since = this.#clock.monotonic();
    this.#cancel ??= this.#arm(this.#ms);
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(ms: number): () => void {
    return this.#clock.after(ms, () => {
      const left = this.#since + this.#ms - this.#clock.monotonic();
      if (left <= 0) this.#onIdle();
      else this.#cancel = this.#arm(left);
    });
  }
}
