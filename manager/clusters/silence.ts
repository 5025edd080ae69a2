/**
 * Which clusters are lost.
 *
 * A cluster is silent while nothing is heard from it. Silence is counted here, on our own monotonic clock, and only while
 * Redis answers us for the queue of that cluster: an hour in which we were cut off says nothing about anyone, and one in which a
 * shard of a Redis Cluster was away nothing about those whose queues are on it. When more than half of the
 * clusters are silent at once the fault is almost certainly on our side: counting stops, nothing is moved, and that is said.
 * Clusters that were never heard, are lost already, or whose queue cannot be read have no voice in that: otherwise those that were switched off last
 * month would freeze the timers of the rest for good. The count is stored on the WorkerCluster now and then, so that a manager
 * that starts goes on counting where its predecessor stopped: neither at once over nor from the start.
 */

/** Heartbeats come every 5 s; three in a row may be missed. */
export const SILENT_AFTER_MS = 15_000;

/** One cluster's silence. */
export class Silence {
  lostAfterMs: number;
  /** Silence already counted, in ms. */
  silentMs: number;
  /** Redis does not answer us for its queue. */
  isBlind = false;
  #lastHeard: number;
  #wasHeard: boolean;

  /** `silentMs` and `wasHeard` are what a predecessor knew; a cluster that we have not heard starts as not connected. */
  constructor(lostAfterMs: number, silentMs: number, wasHeard: boolean, now: number) {
    this.lostAfterMs = lostAfterMs;
    this.silentMs = silentMs;
    this.#wasHeard = wasHeard;
    this.#lastHeard = now - SILENT_AFTER_MS;
  }

  heard(now: number): void {
    this.#lastHeard = now;
    this.#wasHeard = true;
    this.silentMs = 0;
  }

  isConnected(now: number): boolean {
    return now - this.#lastHeard < SILENT_AFTER_MS;
  }

  /** How long nothing was heard, whoever is at fault for it; at most since we started to listen. */
  unheardMs(now: number): number {
    return now - this.#lastHeard;
  }

  get isLost(): boolean {
    return this.silentMs >= this.lostAfterMs;
  }

  /** Whether its silence says anything about whose fault it is. */
  get hasVoice(): boolean {
    return this.#wasHeard && !this.isLost;
  }

  count(now: number, sinceMs: number): void {
    if (!this.isBlind && !this.isConnected(now)) this.silentMs += Math.min(sinceMs, this.unheardMs(now));
  }
}

/** More than half of those that have a voice are silent, or no queue can be read: the fault is ours. */
export function isOurFault(silences: Iterable<Silence>, now: number): boolean {
  let [voices, silent, blind] = [0, 0, 0];
  for (const silence of silences) {
    if (!silence.hasVoice) continue;
    if (silence.isBlind) blind++;
    else voices++;
    if (!silence.isBlind && !silence.isConnected(now)) silent++;
  }
  return silent * 2 > voices || (voices === 0 && blind > 0);
}
