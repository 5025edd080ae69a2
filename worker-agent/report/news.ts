import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";

/** Too short for a person to notice, long enough for a Job that is over in an instant. */
const SETTLE_MS = 250;
/** Where the hub shows its pods, whoever watches a Job sees it move by them: a status of the Job beside each change is not worth a write. */
const SHOWN_SETTLE_MS = 1_500;
/** At most ten reports per second are sent of mirrors that run, until some have waited long enough. */
const EACH_MS = 100;
const MAX_SETTLE_MS = 30_000;
/** Mirrors that end at this rate, per second, are a flood of short Jobs, unless there is but a couple of them at a time. */
const FLOOD = 1;
const COUPLE = 2;
/** More mirrors than this with news at a time may be the start of a flood: their first ends are worth waiting for. */
const MANY = 5;
const MANY_MS = 3_000;
/** Mirrors do not end in the order in which they began, nor evenly. */
const MARGIN = 3;
const WINDOW_MS = 2_000;
/** The time grows while nothing ends; whoever asks again asks a little later. */
const LEAST_MS = 50;

/** Whose news: of a mirror that the hub shows already, that somebody waits for, whose pods it shows. */
interface Kind {
  readonly known?: boolean;
  readonly awaited?: boolean;
  readonly shown?: boolean;
}

/**
 * How long the news of a mirror that is not over waits for more of it. A Job that is over in an instant should cost the hub one
 * status write, not one per state it passed through, and a person watching should not notice: a moment will do. In a flood of
 * short Jobs the moment is longer, because they queue for the API server: at the rate at which mirrors end just now, those that
 * have news will be over in a certain time, and what they have to say before that nobody could follow.
 *
 * A mirror that the hub shows already has outlived that: its progress waits only for others of its kind. What somebody waits for (a
 * Job that was suspended or resumed) waits a moment in any case. A mirror whose pods are shown one by one waits longer for more.
 */
export class News {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Since when each mirror that the hub does not show yet has something to tell. */
  readonly #newcomers = new Map<HubUid, number>();
  /** Since when those that it shows have. */
  readonly #known = new Map<HubUid, number>();
  /** Those of both whose news somebody waits for. */
  readonly #awaited = new Set<HubUid>();
  /** Those of both whose pods the hub shows. */
  readonly #shown = new Set<HubUid>();
  /** Mirrors that ended in this window of time, and in the one before it. */
  #window = { began: Number.NEGATIVE_INFINITY, ended: 0, endedBefore: 0 };

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  come(uid: HubUid, { known = false, awaited = false, shown = false }: Kind = {}): void {
    if (awaited) this.#awaited.add(uid);
    if (shown) this.#shown.add(uid);
    if (this.#since(uid) === undefined) (known ? this.#known : this.#newcomers).set(uid, this.#clock.monotonic());
  }

  told(uid: HubUid): void {
    this.#newcomers.delete(uid);
    this.#known.delete(uid);
    this.#awaited.delete(uid);
    this.#shown.delete(uid);
  }

  /** The mirror has just ended: what it had to tell before is of no interest any more. */
  over(uid: HubUid): void {
    this.told(uid);
    this.#turn();
    this.#window.ended++;
  }

  /** 0 for a mirror without news: it may be told again at any time. */
  waitMs(uid: HubUid): number {
    const since = this.#since(uid);
    if (since === undefined) return 0;
    const settleMs = this.#settleMs(uid);
    const leftMs = since + settleMs - this.#clock.monotonic();
    return leftMs <= 0 ? 0 : Math.max(LEAST_MS, leftMs);
  }

  #since(uid: HubUid): number | undefined {
    return this.#newcomers.get(uid) ?? this.#known.get(uid);
  }

  #settleMs(uid: HubUid): number {
    if (this.#awaited.has(uid)) return SETTLE_MS;
    const leastMs = this.#shown.has(uid) ? SHOWN_SETTLE_MS : SETTLE_MS;
    if (this.#known.has(uid)) return Math.min(MAX_SETTLE_MS, Math.max(leastMs, EACH_MS * this.#known.size));
    const count = this.#newcomers.size;
    if (count <= COUPLE) return leastMs;
    const ends = this.#endsPerSecond();
    const wanted = ends >= FLOOD ? (MARGIN * 1000 * count) / ends : EACH_MS * count;
    return Math.min(MAX_SETTLE_MS, Math.max(count > MANY ? MANY_MS : leastMs, wanted));
  }

  #endsPerSecond(): number {
    this.#turn();
    const { began, ended, endedBefore } = this.#window;
    return (1000 * (ended + endedBefore)) / (WINDOW_MS + this.#clock.monotonic() - began);
  }

  #turn(): void {
    const now = this.#clock.monotonic();
    const { began, ended } = this.#window;
    if (now - began < WINDOW_MS) return;
    const isNext = now - began < 2 * WINDOW_MS;
    this.#window = { began: now, ended: 0, endedBefore: isNext ? ended : 0 };
  }
}
