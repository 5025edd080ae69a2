import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { JobHeap } from "./line/job-heap.ts";

export interface Told {
  readonly reason: string;
  readonly never: boolean;
}

/** Jobs that are told alike. */
interface Group {
  readonly jobs: JobHeap;
}

export interface ReasonsOptions<G extends Group> {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  classes(): Iterable<G>;
  /** Undefined: nothing stands in its way but others. */
  reasonOf(group: G): Told | undefined;
  /** How many clusters are looked at for one reason. */
  clusters(): number;
  /** The Job's answer has changed. */
  enqueue(uid: HubUid): void;
}

/** What may be done in one window of time: every Job that is told something is a write on the hub. */
const WINDOW_MS = 1_000;
const JOBS_PER_WINDOW = 100;
const CLUSTERS_PER_WINDOW = 2_000;
/** At most this long in one turn of the event loop. */
const TURN_MS = 20;
/** Figures that merely moved are told this seldom. */
const SAME_WORDS_MS = 30_000;

interface Said extends Told {
  readonly at: number;
}

/**
 * What each waiting Job was told. Jobs are told why they wait when they come, and again when the reason is another one. That
 * is bounded by time, not by how many wait: with very many, some hear it later.
 */
export class Reasons<G extends Group> {
  readonly #options: ReasonsOptions<G>;
  readonly #told = new Map<HubUid, Said>();
  readonly #reasons = new WeakMap<G, { told: Told | undefined; at: number }>();
  #windowAt = Number.NEGATIVE_INFINITY;
  #jobsLeft = 0;
  #clustersLeft = 0;
  /** Classes that are still to be looked at in this round. */
  #round: G[] = [];
  #changed = false;
  #cancel: (() => void) | undefined;

  constructor(options: ReasonsOptions<G>) {
    this.#options = options;
  }

  /** What the Job is told now; undefined: nothing yet. */
  tell(uid: HubUid, group: G): Told | undefined {
    const said = this.#told.get(uid);
    if (said !== undefined) return said;
    this.#refill();
    if (this.#jobsLeft <= 0 || (this.#clustersLeft <= 0 && !this.#isKnown(group))) {
      this.changed();
      return undefined;
    }
    return this.#say(uid, this.#reason(group));
  }

  forget(uid: HubUid): void {
    this.#told.delete(uid);
  }

  /** Something changed, and with it perhaps the reasons. */
  changed(): void {
    this.#changed = true;
    this.#cancel ??= this.#options.clock.after(WINDOW_MS, () => this.#pass());
  }

  stop(): void {
    this.#cancel?.();
  }

  #pass(): void {
    this.#cancel = undefined;
    this.#refill();
    if (this.#round.length === 0) {
      this.#round = [...this.#options.classes()];
      this.#changed = false;
    }
    const until = this.#options.clock.monotonic() + TURN_MS;
    for (let group = this.#round.pop(); group !== undefined; group = this.#round.pop()) {
      const isOver = this.#clustersLeft <= 0 || this.#options.clock.monotonic() >= until;
      if (isOver || !this.#retell(group)) {
        this.#round.push(group);
        break;
      }
    }
    if (this.#round.length > 0 || this.#changed) this.changed();
  }

  /** False: not all of its Jobs were told. */
  #retell(group: G): boolean {
    const told = this.#reason(group);
    if (told === undefined) return true;
    for (const uid of group.jobs.uids()) {
      const said = this.#told.get(uid);
      if (said !== undefined && !this.#isNews(told, said)) continue;
      if (this.#jobsLeft <= 0) return false;
      this.#say(uid, told);
      this.#options.enqueue(uid);
    }
    return true;
  }

  #isNews(told: Told, said: Said): boolean {
    if (told.reason === said.reason) return false;
    if (inWords(told.reason) !== inWords(said.reason)) return true;
    return this.#options.clock.monotonic() - said.at >= SAME_WORDS_MS;
  }

  #say(uid: HubUid, told: Told | undefined): Told | undefined {
    if (told === undefined) return undefined;
    this.#jobsLeft--;
    this.#told.set(uid, { ...told, at: this.#options.clock.monotonic() });
    return told;
  }

  /** By what its Jobs were last told, waiting cannot help them. */
  isNever(group: G): boolean {
    return this.#reasons.get(group)?.told?.never === true;
  }

  /** Worked out at most once in a window for all Jobs of a class. */
  #reason(group: G): Told | undefined {
    const known = this.#reasons.get(group);
    if (known !== undefined && this.#isKnown(group)) return known.told;
    const told = this.#options.reasonOf(group);
    this.#clustersLeft -= Math.max(1, this.#options.clusters());
    this.#reasons.set(group, { told, at: this.#windowAt });
    return told;
  }

  #isKnown(group: G): boolean {
    return this.#reasons.get(group)?.at === this.#windowAt;
  }

  #refill(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#windowAt < WINDOW_MS) return;
    this.#windowAt = now;
    this.#jobsLeft = JOBS_PER_WINDOW;
    this.#clustersLeft = CLUSTERS_PER_WINDOW;
  }
}

/** Without its figures. */
export const inWords = (reason: string): string => reason.replace(/\d+(\.\d+)?([KMGTP]i|m)?/g, "#");
