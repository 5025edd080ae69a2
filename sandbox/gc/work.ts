import { ApiError, isConflict, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";

const RETRY_MS = 1000;

/** Keys to look at, each once however often it is added, one after the other. A key whose turn fails is tried again later. */
export class WorkList {
  readonly #clock: Clock;
  readonly #process: (key: string) => Promise<void>;
  readonly #keys = new Set<string>();
  readonly #retries = new Map<string, () => void>();
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(clock: Clock, process: (key: string) => Promise<void>) {
    this.#clock = clock;
    this.#process = process;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#keys.add(key);
    this.#running ??= this.#drain();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#keys.clear();
    for (const cancel of this.#retries.values()) cancel();
    this.#retries.clear();
    await this.#running;
  }

  async #drain(): Promise<void> {
    // The change that added the first key is still being made.
    await Promise.resolve();
    for (const key of this.#keys) {
      this.#keys.delete(key);
      try {
        await this.#process(key);
      } catch (error) {
        this.#failed(key, error);
      }
    }
    this.#running = undefined;
  }

  #failed(key: string, error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    if (isNotFound(error)) return;
    if (isConflict(error)) this.add(key);
    if (isConflict(error) || this.#stopped || this.#retries.has(key)) return;
    const cancel = this.#clock.after(RETRY_MS, () => {
      this.#retries.delete(key);
      this.add(key);
    });
    this.#retries.set(key, cancel);
  }
}
