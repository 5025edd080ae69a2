import { type Clock, sleep } from "./clock.ts";

/** Lets `burst` through at once and then `perSecond` per second, first come, first served. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #burst: number;
  /** When the bucket will be full again if nobody takes more. */
  #fullAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, options: { perSecond: number; burst: number }) {
    this.#clock = clock;
    this.#intervalMs = 1000 / options.perSecond;
    this.#burst = options.burst;
  }

  /** Takes a token if one is there. */
  tryTake(): boolean {
    if (this.#waitMs() > 0) return false;
    this.#take();
    return true;
  }

  /** Takes a token and waits until it is due; false, and nothing taken, when that is later than `limitMs` from now. */
  async take(limitMs: number, signal?: AbortSignal): Promise<boolean> {
    const wait = this.#waitMs();
    if (wait > limitMs) return false;
    this.#take();
    if (wait > 0) await sleep(this.#clock, wait, signal);
    return true;
  }

  #waitMs(): number {
    const afterTaking = Math.max(this.#fullAt, this.#clock.monotonic()) + this.#intervalMs;
    return afterTaking - this.#burst * this.#intervalMs - this.#clock.monotonic();
  }

  #take(): void {
    this.#fullAt = Math.max(this.#fullAt, this.#clock.monotonic()) + this.#intervalMs;
  }
}
