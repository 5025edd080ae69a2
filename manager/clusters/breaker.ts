/**
 * Sets a cluster aside that fails Job after Job at their start: images that cannot be pulled, pods that crash at once.
 *
 * closed     Jobs go there; failures are counted
 * open       enough of them in a row: nothing goes there for a while
 * half-open  the while is over: one Job at a time is tried; if it starts well the cluster is closed again, else open for twice as long
 *
 * "In a row" means that no Job of anybody went well there in between. One submitter's bad Jobs are not enough: they count up to a
 * number, and not at all if the submitter's Jobs fail on other clusters as well.
 *
 * The WorkerCluster's status has what a manager needs that starts anew: why, until when, and how often in a row.
 */
import type { HubUid } from "@jobferry/shared/protocol/names.ts";

const ENOUGH = 5;
/** Of one submitter. */
const MOST_OF_ONE = 3;
const WINDOW_MS = 10 * 60_000;
const FIRST_PAUSE_MS = 5 * 60_000;
const LONGEST_PAUSE_MS = 2 * 3_600_000;
/** More are not needed to tell. */
const REMEMBERED = 64;

export interface JobFailure {
  /** The Job, or what makes Jobs like it: a CronJob that fails every minute is one. */
  readonly source: string;
  readonly submitter: string;
  readonly text: string;
}

interface Failure extends JobFailure {
  readonly at: number;
}

export class Breaker {
  readonly #failures = new Map<string, Failure>();
  #openings = 0;
  #open: { until: number; why: string } | undefined;
  #trial: HubUid | undefined;
  /** The last one that was tried. It may have left, finished, before it is told how it went. */
  #tried: HubUid | undefined;

  /** `leftMs`: of the time in which nothing goes there. A clock that was put back must not make it longer than it ever is. */
  constructor(stored?: { readonly leftMs: number; readonly times: number; readonly why: string }, now = 0) {
    if (stored === undefined) return;
    this.#openings = stored.times;
    this.#open = { until: now + Math.max(0, Math.min(stored.leftMs, LONGEST_PAUSE_MS)), why: stored.why };
  }

  /** How often in a row it was set aside. */
  get times(): number {
    return this.#openings;
  }

  /** `isBadElsewhere`: this submitter's Jobs fail on other clusters, too. True: the cluster is set aside from now on. */
  failed(failure: JobFailure, uid: HubUid, now: number, isBadElsewhere: (submitter: string) => boolean): boolean {
    if (this.#open !== undefined) {
      if (this.isOpen(now) || uid !== this.#tried) return false;
      return this.#setAside(now, `the Job that was tried failed at its start: ${failure.text}`);
    }
    this.#failures.delete(failure.source);
    this.#failures.set(failure.source, { ...failure, at: now });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > REMEMBERED && oldest !== undefined) this.#failures.delete(oldest);
    const bySubmitter = new Map<string, number>();
    for (const { submitter } of this.#recent(now)) bySubmitter.set(submitter, (bySubmitter.get(submitter) ?? 0) + 1);
    let [jobs, counted] = [0, 0];
    for (const [submitter, count] of bySubmitter) {
      if (isBadElsewhere(submitter)) continue;
      jobs += count;
      counted += Math.min(MOST_OF_ONE, count);
    }
    if (counted < ENOUGH) return false;
    return this.#setAside(now, `${jobs} Jobs in a row failed at their start, the last: ${failure.text}`);
  }

  /** A Job went well. True: the cluster, which was set aside, is taken back. */
  succeeded(uid: HubUid, now: number): boolean {
    this.#failures.clear();
    if (this.#open === undefined || this.isOpen(now) || uid !== this.#tried) return false;
    this.#open = undefined;
    this.#trial = undefined;
    this.#openings = 0;
    return true;
  }

  hasFailed(submitter: string, now: number): boolean {
    for (const failure of this.#recent(now)) if (failure.submitter === submitter) return true;
    return false;
  }

  /** This Job goes there. */
  gets(uid: HubUid, now: number): void {
    if (this.#open === undefined || this.isOpen(now) || this.#trial !== undefined) return;
    this.#trial = uid;
    this.#tried = uid;
  }

  /** This Job is no longer there: if it was the one that was tried without a result, the next one is. */
  left(uid: HubUid): void {
    if (this.#trial === uid) this.#trial = undefined;
  }

  isOpen(now: number): boolean {
    return this.#open !== undefined && now < this.#open.until;
  }

  get isSetAside(): boolean {
    return this.#open !== undefined;
  }

  /** The Job that decides whether the cluster is taken back. */
  get trial(): HubUid | undefined {
    return this.#trial;
  }

  /** How long nothing at all goes there. */
  leftMs(now: number): number {
    return this.#open === undefined ? 0 : Math.max(0, this.#open.until - now);
  }

  /** Why no further Job can go there now. */
  obstacle(now: number): string | undefined {
    if (this.#open === undefined) return undefined;
    if (this.isOpen(now)) return `set aside for a while: ${this.#open.why}`;
    return this.#trial === undefined ? undefined : `one Job is tried there first: ${this.#open.why}`;
  }

  get why(): string {
    return this.#open?.why ?? "";
  }

  *#recent(now: number): Generator<Failure> {
    for (const failure of this.#failures.values()) if (now - failure.at <= WINDOW_MS) yield failure;
  }

  #setAside(now: number, why: string): true {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#openings, 20));
    this.#openings++;
    this.#open = { until: now + pauseMs, why };
    this.#trial = undefined;
    this.#tried = undefined;
    return true;
  }
}
