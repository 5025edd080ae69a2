import { type Random, realRandom } from "../runtime/random.ts";

/** Exponential back-off with jitter: the n-th wait in a row lies between half and all of `baseMs * 2^n`, capped. */
export class Backoff {
  readonly #baseMs: number;
  readonly #maxMs: number;
  readonly #random: Random;
  #tries = 0;

  constructor(options: { baseMs: number; maxMs: number; random?: Random }) {
    this.#baseMs = options.baseMs;
    this.#maxMs = options.maxMs;
    this.#random = options.random ?? realRandom;
  }

  /** The next wait, never shorter than what the server asked for. */
  next(atLeastMs = 0): number {
    const full = Math.min(this.#maxMs, this.#baseMs * 2 ** Math.min(this.#tries++, 52));
    const jittered = full / 2 + (full / 2) * this.#random();
    return atLeastMs > 0 ? Math.max(jittered, atLeastMs + (this.#baseMs / 2) * this.#random()) : jittered;
  }

  reset(): void {
    this.#tries = 0;
  }
}
