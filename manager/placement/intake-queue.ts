import type { Job } from "@jobferry/shared/job/types.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { phaseOf, uidOf } from "../claim/hub-job.ts";
import { sizeProblem } from "../claim/size.ts";
import { readWishes } from "../claim/wishes.ts";
import type { HubCache } from "../hub-cache.ts";
import type { Placer } from "./placer.ts";
import type { WaitingReasons } from "./waiting-reasons.ts";

/** The way through the intake queue takes milliseconds. */
const INTAKE_MS = 10_000;

export interface IntakeQueueOptions {
  cache: Pick<HubCache, "byUid">;
  placer: Placer;
  reasons: WaitingReasons;
  clock: Pick<Clock, "monotonic">;
  /** Puts the Job into the intake queue in Redis; it comes back through `admit`. */
  enqueue(uid: HubUid, priority: number): Promise<void>;
  /** Asks for another look at this Job. */
  again(uid: HubUid): void;
}

/** The way of waiting Jobs through the intake queue in Redis to the placer, which takes them in the order they come out. */
export class IntakeQueue {
  readonly #options: IntakeQueueOptions;
  /** Waiting Jobs that are in the queue or have passed it, and since when. */
  readonly #entered = new Map<HubUid, number>();

  constructor(options: IntakeQueueOptions) {
    this.#options = options;
  }

  /** Once for each time a Job waits, unless nothing could be done with it; its wishes may change while it waits. */
  async enter(job: Job): Promise<void> {
    const { placer, reasons, clock } = this.#options;
    const uid = uidOf(job);
    const read = readWishes(job);
    const problems = [...("problems" in read ? read.problems : []), sizeProblem(job) ?? []].flat();
    if ("problems" in read || problems.length > 0) {
      this.leave(uid);
      reasons.say(job, `waiting: ${problems.join("; ")}`, true);
      return;
    }
    if (this.#entered.has(uid)) {
      if (placer.isWaiting(uid)) placer.put(job, read.wishes);
      return;
    }
    placer.arrived(uid);
    await this.#options.enqueue(uid, read.wishes.priority);
    this.#entered.set(uid, clock.monotonic());
  }

  /** An entry has reached the head of the queue: the Job may be placed. */
  admit(uid: HubUid): void {
    const job = this.#options.cache.byUid(uid);
    if (job === undefined || phaseOf(job).phase !== "waiting") return;
    const read = readWishes(job);
    if ("wishes" in read) this.#options.placer.put(job, read.wishes);
  }

  /** The Job was placed in vain: at the next look it goes in anew. */
  startOver(uid: HubUid): void {
    this.#entered.delete(uid);
  }

  /** The Job waits no longer. */
  leave(uid: HubUid): void {
    this.#entered.delete(uid);
    this.#options.placer.remove(uid);
  }

  /** Redis may have lost the waiting order: everything goes in again. */
  refill(): void {
    for (const uid of this.#entered.keys()) this.#options.again(uid);
    this.#entered.clear();
  }

  /** Call every few seconds: an entry that went in and did not come out in time was lost, and goes in again. */
  repair(): void {
    const { placer, clock, again } = this.#options;
    const now = clock.monotonic();
    for (const [uid, since] of this.#entered) {
      if (now - since < INTAKE_MS || placer.isWaiting(uid)) continue;
      this.#entered.delete(uid);
      again(uid);
    }
  }
}
