import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { ContainerRecord } from "./container-record.ts";

export interface RestartBackoff {
  baseMs: number;
  maxMs: number;
}

interface RestartState {
  delayMs: number;
  lastStart: number;
  cancel: (() => void) | undefined;
}

/** Delays of one pod's container restarts: the first is immediate, then base, doubled up to max; a long run forgives. */
export class RestartDelays {
  readonly #clock: Clock;
  readonly #backoff: RestartBackoff;
  readonly #states = new Map<ContainerRecord, RestartState>();

  constructor(clock: Clock, backoff: RestartBackoff) {
    this.#clock = clock;
    this.#backoff = backoff;
  }

  /** How long the container that has just ended has to wait; the next time it is longer. */
  next(record: ContainerRecord): number {
    const { baseMs, maxMs } = this.#backoff;
    const state = this.#stateOf(record);
    if (this.#clock.monotonic() - state.lastStart > 2 * maxMs && state.lastStart > 0) state.delayMs = 0;
    const delayMs = state.delayMs;
    state.delayMs = Math.min(maxMs, delayMs === 0 ? baseMs : delayMs * 2);
    return delayMs;
  }

  started(record: ContainerRecord): void {
    this.#stateOf(record).lastStart = this.#clock.monotonic();
  }

  /** Calls `restart` after the delay, unless all are cancelled before. */
  after(record: ContainerRecord, delayMs: number, restart: () => void): void {
    const state = this.#stateOf(record);
    state.cancel = this.#clock.after(delayMs, () => {
      state.cancel = undefined;
      restart();
    });
  }

  cancelAll(): void {
    for (const { cancel } of this.#states.values()) cancel?.();
  }

  #stateOf(record: ContainerRecord): RestartState {
    const state = this.#states.get(record) ?? { delayMs: 0, lastStart: 0, cancel: undefined };
    this.#states.set(record, state);
    return state;
  }
}
