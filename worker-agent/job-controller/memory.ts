/** What the controller remembers about a Job between syncs (SW-10), keyed by UID so that a namesake starts afresh (SX-11). */
import { noFailures } from "./core/backoff.ts";
import { creationsSeen, deletionsSeen, type Expectations } from "./core/expectations.ts";
import type { BackoffRecord } from "./core/types.ts";
import { newest, nothingWritten, type WriteRecord } from "./core/write-record.ts";

export class JobMemory {
  backoff: BackoffRecord = noFailures;
  expectations: Expectations | undefined;
  /** SX-9: pods whose finalizer was asked to go. */
  readonly awaited = new Set<string>();
  written: WriteRecord = nothingWritten;
  /** When the Job began, until that is written. */
  startTime: string | undefined;
  /** CL-9: the terminal condition was written. */
  finishWritten = false;
  /** A sync was refused because a cache lags behind `written`; the event that closes the gap may wake the Job. */
  waitsForCache = false;
  /** A sync was asked for at once since the last one began. */
  urgent = false;
  /** The last sync created as many pods as one sync may: more are wanted as soon as the cache shows these. */
  wantsMorePods = false;
  /** Pods that succeeded and are accounted have not been checked for release since they were last changed. */
  settledUnchecked = true;
  /** What the user has been told about annotations that are ignored. */
  annotationWarnings: ReadonlySet<string> = new Set();

  creationsSeen(count: number): void {
    if (this.expectations !== undefined) this.expectations = creationsSeen(this.expectations, count);
  }

  deletionsSeen(count: number): void {
    if (this.expectations !== undefined) this.expectations = deletionsSeen(this.expectations, count);
  }

  wroteJob(resourceVersion: string | undefined): void {
    this.written = { ...this.written, job: newest(this.written.job, resourceVersion ?? "") };
    this.startTime = undefined;
  }

  wrotePod(resourceVersion: string | undefined): void {
    this.written = { ...this.written, pods: newest(this.written.pods, resourceVersion ?? "") };
  }
}

/** Holds one entry per unfinished Job that was synced; the Job's DELETE event, or its finish, drops it. */
export class Memories {
  readonly #byUid = new Map<string, JobMemory>();

  get size(): number {
    return this.#byUid.size;
  }

  of(uid: string): JobMemory {
    const known = this.#byUid.get(uid);
    if (known !== undefined) return known;
    const fresh = new JobMemory();
    this.#byUid.set(uid, fresh);
    return fresh;
  }

  find(uid: string): JobMemory | undefined {
    return this.#byUid.get(uid);
  }

  drop(uid: string): void {
    this.#byUid.delete(uid);
  }
}
