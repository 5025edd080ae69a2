/**
 * When a change leads to a sync. The built-in controller waits 1 s (K-1) after the first pod event, so that one status
 * write covers everything that happens within the second. We must not write more often than that, but need not wait when
 * waiting cannot save a write:
 *
 * - A pod event that leaves the Job without any unfinished pod is synced at once: until this sync has created the next pods,
 *   nothing can happen that a later sync would have covered, too. A one-pod Job therefore completes without delay, and a
 *   Job that runs its pods one after the other pays the same writes per pod, only sooner.
 * - While pods that this controller created are not in the cache yet, the Job is not without unfinished pods.
 * - Everything else (a pod got ready, some of many finished, our own status write came back) waits for K-1 since the first
 *   such change, exactly like the built-in controller's batch. Changes of `ready` alone never cause a write of their own
 *   before the batch is over.
 * - A Job that asked for more pods than one sync may create goes on as soon as the cache shows those: the status write of
 *   such a sync covers a full load of creations.
 * - A sync that starts for whatever reason has seen everything so far, so it ends the batch.
 */
import type { Clock } from "@jobferry/shared/runtime/clock.ts";

export interface BatchingOptions {
  clock: Clock;
  batchMs: number;
  /** Puts the key in line. */
  add(key: string): void;
}

export class Batching {
  readonly #options: BatchingOptions;
  /** Keys whose batch is open, and how to cancel its end. */
  readonly #open = new Map<string, () => void>();

  constructor(options: BatchingOptions) {
    this.#options = options;
  }

  now(key: string): void {
    this.close(key);
    this.#options.add(key);
  }

  batched(key: string): void {
    if (this.#open.has(key)) return;
    const { clock, batchMs } = this.#options;
    this.#open.set(
      key,
      clock.after(batchMs, () => this.now(key)),
    );
  }

  /** A sync begins: what the batch was waiting for is in the cache. */
  close(key: string): void {
    this.#open.get(key)?.();
    this.#open.delete(key);
  }

  stop(): void {
    for (const cancel of this.#open.values()) cancel();
    this.#open.clear();
  }
}

/** How many pods of each owner may still change; by UID, kept by the pod events themselves. */
export class UnfinishedPods {
  readonly #byOwner = new Map<string, number>();

  count(uid: string): number {
    return this.#byOwner.get(uid) ?? 0;
  }

  change(uid: string | undefined, by: number): void {
    if (uid === undefined || by === 0) return;
    const count = this.count(uid) + by;
    if (count === 0) this.#byOwner.delete(uid);
    else this.#byOwner.set(uid, count);
  }
}
