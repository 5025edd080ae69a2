import type { RefusalReason } from "@jobferry/shared/protocol/report.ts";

/** After so many refusals in a row by one cluster it is left alone for this Job, until the longest pause is over. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/** Reasons that time alone does not heal: somebody has to change the worker or the Job. */
const STUBBORN: ReadonlySet<RefusalReason> = new Set([
  "NameTaken",
  "ManagedByUnsupported",
  "Invalid",
  "AdmissionDenied",
]);

/** How often each cluster refused each Job, and when it may be asked again: never hot, never silent, never given up for good. */
export class Refusals {
  readonly #tries = new Map<string, Map<string, number>>();

  note(uid: string, cluster: string, reason: RefusalReason): { retryAfterMs: number } {
    const tries = this.#tries.get(uid) ?? new Map<string, number>();
    const count = (tries.get(cluster) ?? 0) + 1;
    this.#tries.set(uid, tries.set(cluster, count));
    if (STUBBORN.has(reason)) return { retryAfterMs: LONGEST_PAUSE_MS };
    return { retryAfterMs: Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count - 1, 20)) };
  }

  forget(uid: string): void {
    this.#tries.delete(uid);
  }
}
