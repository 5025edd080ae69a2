/**
 * When a change leads to a sync. The built-in controller waits 1 s (K-1) after the first pod event, so that one status
 * write covers everything that happens within the second. We must not write more often than that, but need not wait when
 * waiting saves no write, or hardly ever one:
 *
 * - A success that leaves the Job without any unfinished pod is synced at once: until this sync has created the next pods,
 *   nothing can happen that a later sync would have covered, too. A one-pod Job therefore completes without delay, and a
 *   Job that runs its pods one after the other pays the same writes per pod, only sooner.
 * - A failure is not: its replacement waits for a back-off, and who looks after failing pods (a person, a test, another
 *   controller) should not find them replaced sooner than with the built-in controller.
 * - While pods that this controller created are not in the cache yet, the Job is not without unfinished pods.
 * - A pod that ended (reached a terminal phase) in a quiet Job, one without a sync for 5 x K-1, is synced after a settle
 *   time, so that pods which end together share the sync.
 * - A pod that is deleted does not count as ended: who deletes one pod often deletes more, and the Job itself next; a
 *   replacement within milliseconds would only be one more to delete. Unless the Job is finishing and waits for it to go.
 * - The first status of a Job that begins in a flood of Jobs waits for K-1, too (starts.ts).
 * - A Job may ask that its ended pods wait less than K-1 (max-uncounted-seconds, see core/uncounted-cap.ts).
 * - Everything else (a pod got ready, some of many finished, our own status write came back) waits for K-1 since the first
 *   such change, exactly like the built-in controller's batch. Changes of `ready` alone never cause a write of their own
 *   before the batch is over.
 * - A Job that asked for more pods than one sync may create goes on as soon as the cache shows those: the status write of
 *   such a sync covers a full load of creations.
 * - A sync that was refused because the cache lags behind our own writes is made up for as soon as the cache has caught up
 *   only when it was to be at once and nothing runs. Otherwise it waits for the next batch: while pods keep ending, that
 *   sync would be one more.
 * - A sync that starts for whatever reason has seen everything so far, so it ends the batch. What happens while it runs
 *   opens the next batch when it ends: counted from its begin, a long sync would be followed by the next one at once, with
 *   a status write for the few pods that ended in between.
 *
 * What the quiet rule can cost: when more happens after the settle time but within K-1 of the first end, the batch would
 * have covered both, and we sync once more. That is one status write more for an Indexed Job's success, two for other ends
 * (TK-20). It happens at most once per 5 x K-1 and Job, and never while pods keep ending: a steady stream is batched as
 * ever. In return the usual case, one pod of several that ends after a while, is counted, and its successor created, after
 * 50 ms instead of 1 s.
 */
import type { Clock } from "@jobferry/shared/runtime/clock.ts";

export interface BatchingOptions {
  clock: Clock;
  batchMs: number;
  /** Puts the key in line. */
  add(key: string): void;
}

/** Longer than the watch events of pods that end together are apart, too short for a person to notice. */
const SETTLE_MS = 50;
/** A Job whose pods end more often than this many batches apart is busy. */
const QUIET_BATCHES = 5;

interface Batch {
  readonly endsAt: number;
  cancel(): void;
}

export class Batching {
  readonly #options: BatchingOptions;
  readonly #open = new Map<string, Batch>();
  /** When the last sync of each Job that is not quiet began; in that order. */
  readonly #busySince = new Map<string, number>();
  /** The Jobs in a sync; with the length of the batch to open after it, if something has happened. */
  readonly #syncing = new Map<string, number | undefined>();

  constructor(options: BatchingOptions) {
    this.#options = options;
  }

  now(key: string): void {
    this.#close(key);
    this.#options.add(key);
  }

  batched(key: string): void {
    this.#within(key, this.#options.batchMs);
  }

  /** A pod of the Job ended. `capMs`: how long this may stay without a sync, if that is shorter than the batch. */
  podEnded(key: string, capMs = Number.POSITIVE_INFINITY): void {
    const { batchMs } = this.#options;
    this.#forgetQuiet();
    this.#within(key, Math.min(batchMs, capMs, this.#busySince.has(key) ? batchMs : SETTLE_MS));
  }

  /** A sync begins: what the batch was waiting for is in the cache. */
  syncBegins(key: string): void {
    this.#close(key);
    this.#syncing.set(key, undefined);
    this.#forgetQuiet();
    this.#busySince.delete(key);
    this.#busySince.set(key, this.#options.clock.monotonic());
  }

  syncEnds(key: string): void {
    const next = this.#syncing.get(key);
    this.#syncing.delete(key);
    if (next !== undefined) this.#within(key, next);
  }

  stop(): void {
    for (const batch of this.#open.values()) batch.cancel();
    this.#open.clear();
  }

  /** Opens the batch, or brings its end forward. */
  #within(key: string, ms: number): void {
    if (this.#syncing.has(key)) {
      this.#syncing.set(key, Math.min(ms, this.#syncing.get(key) ?? ms));
      return;
    }
    const { clock } = this.#options;
    const endsAt = clock.monotonic() + ms;
    const open = this.#open.get(key);
    if (open !== undefined && open.endsAt <= endsAt) return;
    open?.cancel();
    this.#open.set(key, { endsAt, cancel: clock.after(ms, () => this.now(key)) });
  }

  #close(key: string): void {
    this.#open.get(key)?.cancel();
    this.#open.delete(key);
  }

  #forgetQuiet(): void {
    const quietBefore = this.#options.clock.monotonic() - QUIET_BATCHES * this.#options.batchMs;
    for (const [key, began] of this.#busySince) {
      if (began > quietBefore) return;
      this.#busySince.delete(key);
    }
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
