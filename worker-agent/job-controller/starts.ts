/**
 * When many Jobs begin at once, pods come first (a goal of KEP-2307): a first status that is a mere start (core/mere-start.ts)
 * waits for K-1, like a change of a busy Job's pods. Mostly the pod has ended by then, and one write tells begin and end. The
 * time of the start is remembered meanwhile; a successor after a crash takes the time at which it finds the Job.
 */
export class Starts {
  readonly #limits: { readonly floodStarts: number; readonly syncBatchMs: number };
  /** The newest ones, as many as may begin within K-1. */
  readonly #times: number[] = [];

  constructor(limits: { readonly floodStarts: number; readonly syncBatchMs: number }) {
    this.#limits = limits;
  }

  /** A Job begins; whether it is one of a flood. */
  isFlood(now: number): boolean {
    const { floodStarts, syncBatchMs } = this.#limits;
    this.#times.push(now);
    const before = this.#times.length > floodStarts ? this.#times.shift() : undefined;
    return before !== undefined && now - before < syncBatchMs;
  }
}
