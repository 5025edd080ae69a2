import type { Job } from "@jobferry/shared/job/types.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { stopAfterOf } from "../mirrors.ts";

/** Without a word from the manager in this time, Jobs go on that may run on two clusters, or never move. */
const PATIENCE_MS = 30_000;

export interface StartGateOptions {
  clock: Clock;
  /** Mirrors that were held back may have new pods now. */
  onOpen(): void;
}

/**
 * Whether mirrors that are here may get new pods. After a start, and whenever we were away, a Job may have moved or finished
 * elsewhere: first the manager says what is still ours. A Job that must not run without contact waits for that word however
 * long it takes.
 */
export class StartGate {
  readonly #options: StartGateOptions;
  #isOpen = false;
  /** Nobody spoke for so long that only those wait that have to. */
  #isOpenToMost = false;
  #cancel = (): void => {};

  constructor(options: StartGateOptions) {
    this.#options = options;
  }

  /** We have just started, or were away. Without a word since the last time, patience is not tried again. */
  close(): void {
    if (this.#isOpenToMost && !this.#isOpen) return;
    this.#isOpen = false;
    this.#isOpenToMost = false;
    this.#cancel();
    this.#cancel = this.#options.clock.after(PATIENCE_MS, () => {
      this.#isOpenToMost = true;
      this.#options.onOpen();
    });
  }

  /** The manager has said what is ours. */
  open(): void {
    this.#cancel();
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#options.onOpen();
  }

  stop(): void {
    this.#cancel();
  }

  admits(mirror: Job): boolean {
    return this.#isOpen || (this.#isOpenToMost && stopAfterOf(mirror) === undefined);
  }
}
