import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Assignment } from "../hub/phase.ts";
import { askedBy } from "./eligibility.ts";
import type { JobNeeds } from "./fit/job-needs.ts";
import type { Booking, Ledger } from "./ledger.ts";
import { quotaObstacle } from "./order/quota.ts";
import type { Queues } from "./queues.ts";

export interface GrowthOptions {
  readonly ledger: Ledger;
  readonly queues: Pick<Queues, "quotaOf">;
  /** Asks for another look at this Job. */
  enqueue(uid: HubUid): void;
}

/** Of one Job. */
export interface Books {
  /** How many pods at a time are booked for the Job. */
  readonly booked: number | undefined;
  /** Books as many as it asks for now, or says why its quota has no room for them. */
  grow(): string | undefined;
}

/** This many of those that are held are looked at when their queue holds less; the others have their turn next time. */
const WOKEN = 100;

/**
 * Jobs that ask for more pods at a time than they were let in with. What they were let in with is booked until their quota has room
 * for the rest; that is then booked before it is stored, so that two cannot have the same room.
 */
export class Growth {
  readonly #options: GrowthOptions;
  /** By queue, those for which there was no room; the one that was looked at longest ago comes first. */
  readonly #held = new Map<string, Set<HubUid>>();
  /** Booked, and about to be stored. */
  readonly #growing = new Map<HubUid, JobNeeds>();

  constructor(options: GrowthOptions) {
    this.#options = options;
  }

  of(uid: HubUid, booking: Booking): Books {
    const { ledger } = this.#options;
    return { booked: ledger.bookingOf(uid)?.needs.pods, grow: () => this.#grow(uid, booking) };
  }

  /** Books what the Job was let in with, or is about to be; whether that is less than before. */
  book(uid: HubUid, booking: Booking, admitted: Assignment["admitted"]): boolean {
    const { ledger, queues } = this.#options;
    const before = ledger.bookingOf(uid);
    const most = typeof admitted === "number" ? Math.max(1, admitted) : (before?.needs.pods ?? booking.needs.pods);
    const needs = this.#growing.get(uid) ?? { ...booking.needs, pods: Math.min(booking.needs.pods, most) };
    ledger.book(uid, { ...booking, needs });
    const isLess = before !== undefined && before.queue === booking.queue && needs.pods < before.needs.pods;
    if (!isLess) return false;
    const { quota, cohort } = queues.quotaOf(booking.queue);
    return quota.size > 0 || cohort !== undefined;
  }

  settled(uid: HubUid): void {
    this.#growing.delete(uid);
  }

  forget(uid: HubUid): void {
    this.#growing.delete(uid);
    for (const held of this.#held.values()) held.delete(uid);
  }

  /** One queue, or all, may have room. */
  wake(queue?: string): void {
    const queues = queue === undefined ? [...this.#held.keys()] : [queue];
    for (const name of queues) {
      const held = this.#held.get(name) ?? [];
      let count = 0;
      for (const uid of held) {
        if (++count > WOKEN) break;
        this.#options.enqueue(uid);
      }
    }
  }

  #grow(uid: HubUid, booking: Booking): string | undefined {
    const { ledger, queues } = this.#options;
    const { queue, needs } = booking;
    const more = needs.pods - (ledger.bookingOf(uid)?.needs.pods ?? needs.pods);
    const asked = new Map([...askedBy({ ...needs, pods: more })].filter(([resource]) => resource !== "jobs"));
    const obstacle = more <= 0 ? undefined : quotaObstacle(asked, queues.quotaOf(queue));
    const held = this.#held.get(queue);
    held?.delete(uid);
    if (held?.size === 0) this.#held.delete(queue);
    if (obstacle !== undefined) {
      this.#held.set(queue, (held ?? new Set()).add(uid));
      return `the quota of queue ${queue} has no room for the rest (${obstacle.resource})`;
    }
    this.#growing.set(uid, needs);
    ledger.book(uid, booking);
    return undefined;
  }
}
