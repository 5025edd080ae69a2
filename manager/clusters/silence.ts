/**
 * Which clusters are lost.
 *
 * A cluster is silent while nothing is heard from it. Silence is counted here, on our own monotonic clock, and only while
 * we ourselves can reach Redis: an hour in which we were cut off says nothing about anyone. When more than half of all
 * clusters are silent at once the fault is almost certainly on our side: counting stops, nothing is moved, and that is said.
 * The count is stored on the WorkerCluster now and then, so that a manager that starts goes on counting where its
 * predecessor stopped: neither at once over nor from the beginning.
 */

/** Heartbeats come every 5 s; three in a row may be missed. */
export const SILENT_AFTER_MS = 15_000;

interface Contact {
  lastHeard: number;
  /** Silence already counted, in ms. */
  silentMs: number;
  lostAfterMs: number;
}

export class Silence {
  readonly #contacts = new Map<string, Contact>();
  #countedUpTo: number;

  constructor(nowMonotonic: number) {
    this.#countedUpTo = nowMonotonic;
  }

  /** Makes a cluster known. `silentMs` is what a predecessor had counted; a cluster never heard of starts connected-unknown. */
  watch(cluster: string, lostAfterMs: number, silentMs: number, now: number): void {
    const known = this.#contacts.get(cluster);
    if (known === undefined) this.#contacts.set(cluster, { lastHeard: now - SILENT_AFTER_MS, silentMs, lostAfterMs });
    else known.lostAfterMs = lostAfterMs;
  }

  forget(cluster: string): void {
    this.#contacts.delete(cluster);
  }

  heard(cluster: string, now: number): void {
    const contact = this.#contacts.get(cluster);
    if (contact === undefined) return;
    contact.lastHeard = now;
    contact.silentMs = 0;
  }

  isConnected(cluster: string, now: number): boolean {
    const contact = this.#contacts.get(cluster);
    return contact !== undefined && now - contact.lastHeard < SILENT_AFTER_MS;
  }

  silentMs(cluster: string): number {
    return this.#contacts.get(cluster)?.silentMs ?? 0;
  }

  /** How long nothing was heard, whoever is at fault for it; since we began to listen at most. */
  unheardMs(cluster: string, now: number): number {
    const contact = this.#contacts.get(cluster);
    return contact === undefined ? 0 : now - contact.lastHeard;
  }

  /** More than half look lost: the fault is ours, and counting stands still. */
  isFrozen(now: number): boolean {
    let silent = 0;
    for (const [cluster] of this.#contacts) if (!this.isConnected(cluster, now)) silent++;
    return silent * 2 > this.#contacts.size;
  }

  /** Counts the time since the last call; call it every few seconds. `reachable`: we could talk to Redis all that time. */
  count(now: number, reachable: boolean): void {
    const since = now - this.#countedUpTo;
    this.#countedUpTo = now;
    if (!reachable || this.isFrozen(now)) return;
    for (const [cluster, contact] of this.#contacts)
      if (!this.isConnected(cluster, now)) contact.silentMs += Math.min(since, now - contact.lastHeard);
  }

  isLost(cluster: string): boolean {
    const contact = this.#contacts.get(cluster);
    return contact !== undefined && contact.silentMs >= contact.lostAfterMs;
  }
}
