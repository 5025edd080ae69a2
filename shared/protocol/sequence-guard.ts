import type { Epoch, HubUid } from "./names.ts";

export type Verdict = "new" | "replayed" | "stale-epoch";

/**
 * Remembers the newest (epoch, seq) of each Job and tells whether a report is newer. Bounded: beyond `capacity` the Job
 * heard of longest ago is forgotten and its next report counts as new; the rules that a hub status obeys (counters never
 * fall, terminal stays) are the second line. One guard per cluster, replaced when its agent says hello.
 */
export class SequenceGuard {
  readonly #newest = new Map<HubUid, { readonly epoch: Epoch; readonly seq: number }>();
  readonly #capacity: number;

  constructor(capacity = 100_000) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#newest.size;
  }

  /** Looks without remembering. */
  judge(uid: HubUid, epoch: Epoch, seq: number): Verdict {
    const newest = this.#newest.get(uid);
    if (newest === undefined || epoch > newest.epoch) return "new";
    if (epoch < newest.epoch) return "stale-epoch";
    return seq > newest.seq ? "new" : "replayed";
  }

  /** Remembers a report that has taken effect; older ones change nothing. */
  record(uid: HubUid, epoch: Epoch, seq: number): void {
    if (this.judge(uid, epoch, seq) !== "new") return;
    this.#newest.delete(uid);
    this.#newest.set(uid, { epoch, seq });
    if (this.#newest.size <= this.#capacity) return;
    const oldest = this.#newest.keys().next();
    if (!oldest.done) this.#newest.delete(oldest.value);
  }

  forget(uid: HubUid): void {
    this.#newest.delete(uid);
  }
}
