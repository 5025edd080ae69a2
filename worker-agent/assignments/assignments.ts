import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { type ProcessResult, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type {
  AssignmentDelivery,
  AssignmentRef,
  DeleteDelivery,
  Delivery,
  HandOverDelivery,
  ListedAssignment,
  RunDelivery,
} from "@jobferry/shared/protocol/delivery.ts";
import { RoundCollector } from "@jobferry/shared/protocol/inventory.ts";
import type { Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { identityOf, type Mirrors } from "../mirrors.ts";
import { Arrival, type ArrivalOptions } from "./arrival.ts";
import { Departure, type DepartureOptions } from "./departure.ts";
import { NewestDeliveries } from "./newest.ts";
import type { Refusal } from "./refusal.ts";

export interface AssignmentsOptions extends ArrivalOptions, DepartureOptions {
  logger: Logger;
  mirrors: Mirrors;
  /** `last`: what the mirror achieved, where the Job moves on. */
  withdrawn(delivery: AssignmentRef, last?: Job): Promise<void>;
  /** The reports that the manager has mirrored, by what it says. */
  mirrored(assignments: readonly ListedAssignment[]): void;
  /** Reports this mirror's status now; resolves when it is on its way. */
  reportNow(mirror: Job): Promise<void>;
  /** Whether contact lasts for a Job that has to stop so long after it was lost. */
  inContact(stopAfterSeconds: number): boolean;
  /** Whether an inventory with this stamp comes from a manager that has heard us since we were started, or last cut off. */
  isAnswer(stamp: string | undefined): boolean;
  /** Makes sure that we have not stood still; calls `cutOff` if we have. */
  look(): void;
  concurrency?: number;
}

const CONTACT_MS = 1_000;

/**
 * Makes mirrors be what the manager last said about them, one hub Job at a time.
 *
 * A delivery is kept until it is done or a newer one replaces it:
 * - run: no mirror -> create, seed its status with what earlier epochs achieved, clear the mark; then the Job controller takes
 *   it. An older epoch's mirror -> delete it first. Mirror of another generation -> patch what may change.
 * - delete (the hub Job is deleted): delete the mirror in the same way, answer `withdrawn` once it is gone.
 * - hand-over (the Job moves on): suspend the mirror, wait until nothing runs and nothing is uncounted, report that
 *   status, answer `withdrawn`, delete. A mirror that finishes meanwhile reports that instead: finished work is not moved.
 * Mirrors that the manager's inventory does not know are withdrawn in the same way as those of a deleted Job. A mirror whose
 * pods cannot be created goes as one that moves on, with a refusal for an answer.
 */
export class Assignments {
  readonly #options: AssignmentsOptions;
  readonly #wanted = new Map<HubUid, AssignmentDelivery>();
  /** Mirrors whose pods this cluster will not have. */
  readonly #refused = new Map<HubUid, { epoch: Epoch; refusal: Refusal }>();
  /** Mirrors that may go: nobody on the hub waits for them. */
  readonly #released = new Set<HubUid>();
  readonly #rounds = new RoundCollector<ListedAssignment>();
  readonly #newest = new NewestDeliveries();
  /** The manager's last complete inventory that answers us; no mirror is created before there is one. */
  #inventory: { asOf: number; epochs: ReadonlyMap<HubUid, number> } | undefined;
  readonly #queue: WorkQueue;
  readonly #arrival: Arrival;
  readonly #departure: Departure;

  constructor(options: AssignmentsOptions) {
    this.#options = options;
    this.#departure = new Departure(options);
    this.#arrival = new Arrival(options, this.#departure, (uid) => this.#wanted.delete(uid));
    this.#queue = new WorkQueue({
      name: "assignments",
      clock: options.clock,
      logger: options.logger,
      concurrency: options.concurrency ?? 16,
      backoff: { baseMs: 200, maxMs: 30_000 },
      process: (uid) => this.#reconcile(uid as HubUid),
    });
    options.mirrors.reflector.addHandler({
      added: (mirror) => this.#mirrorChanged(mirror),
      updated: (_, mirror) => this.#mirrorChanged(mirror),
      deleted: (mirror) => this.#mirrorChanged(mirror),
    });
  }

  start(): void {
    this.#queue.start();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  take(delivery: Delivery): void {
    this.#options.look();
    switch (delivery.kind) {
      case "assignment": {
        if (!this.#newest.take(delivery)) return;
        this.#wanted.set(delivery.uid, delivery);
        this.#released.delete(delivery.uid);
        this.#refused.delete(delivery.uid);
        this.#queue.add(delivery.uid);
        return;
      }
      case "release":
        this.#newest.end(delivery);
        this.#released.add(delivery.uid);
        this.#queue.add(delivery.uid);
        return;
      case "inventory": {
        const assignments = this.#rounds.add({ ...delivery, items: delivery.assignments });
        if (assignments === undefined) return;
        // One that has lain in Redis says what was so once, and a Job may have left us since.
        if (this.#options.isAnswer(delivery.heard)) this.#trust(assignments, delivery.asOf);
        this.#compare(assignments, delivery.asOf);
        return;
      }
    }
  }

  /** Redis was away, or we were: what comes next may be old. */
  cutOff(): void {
    this.#inventory = undefined;
  }

  #trust(assignments: readonly ListedAssignment[], asOf: number): void {
    this.#inventory = { asOf, epochs: new Map(assignments.map(({ uid, epoch }) => [uid, epoch])) };
    for (const uid of this.#wanted.keys()) this.#queue.add(uid);
  }

  /** This cluster will not have the pods of this mirror: the manager should look for another one. */
  giveBack({ uid, epoch }: AssignmentRef, refusal: Refusal): void {
    this.#refused.set(uid, { epoch, refusal });
    this.#queue.add(uid);
  }

  /** The manager said that its mirror may go. */
  isReleased(uid: HubUid): boolean {
    return this.#released.has(uid);
  }

  /** What the manager does not count as ours in its present epoch goes; what came later than its list is not judged. */
  #compare(assignments: readonly ListedAssignment[], asOf: number): void {
    const epochs = new Map(assignments.map(({ uid, epoch }) => [uid, epoch]));
    this.#options.mirrored(assignments);
    for (const { identity } of this.#options.mirrors.all()) {
      const epoch = epochs.get(identity.uid);
      if (identity.revision > asOf || (epoch !== undefined && epoch <= identity.epoch)) continue;
      // A newer assignment that waits here removes the old mirror itself.
      if ((this.#wanted.get(identity.uid)?.epoch ?? 0) > identity.epoch) continue;
      this.#newest.end(identity);
      this.#wanted.delete(identity.uid);
      this.#released.add(identity.uid);
      this.#queue.add(identity.uid);
    }
  }

  #mirrorChanged(mirror: Job): void {
    const identity = identityOf(mirror);
    if (identity === undefined) return;
    const isAwaited = [this.#wanted, this.#released, this.#refused].some((awaited) => awaited.has(identity.uid));
    if (isAwaited) this.#queue.add(identity.uid);
  }

  async #reconcile(uid: HubUid): Promise<ProcessResult> {
    const mirrors = this.#options.mirrors.of(uid);
    if (this.#released.has(uid)) return this.#letGo(uid, mirrors);
    const wanted = this.#wanted.get(uid);
    if (wanted === undefined) return this.#refuse(uid, mirrors);
    if (wanted.desired === "run") {
      // A late delivery must not start again what was stopped for want of contact.
      const { stopAfterSeconds } = wanted;
      if (stopAfterSeconds !== undefined && !this.#options.inContact(stopAfterSeconds))
        return { requeueAfterMs: CONTACT_MS };
      await this.#run(wanted, mirrors);
    } else if (wanted.desired === "delete") await this.#remove(wanted, mirrors);
    else await this.#handOver(wanted, mirrors);
  }

  async #run(delivery: RunDelivery, mirrors: readonly Job[]): Promise<void> {
    if (mirrors.some((other) => (identityOf(other)?.epoch ?? 0) > delivery.epoch)) return this.#done(delivery);
    const mirror = mirrors.find((candidate) => identityOf(candidate)?.epoch === delivery.epoch);
    for (const old of mirrors) if (old !== mirror) await this.#departure.delete(old, "Foreground");
    if (mirrors.some((old) => old !== mirror)) return;
    if (mirror === undefined) return this.#create(delivery);
    if (mirror.metadata.deletionTimestamp !== undefined) return;
    await this.#arrival.follow(mirror, delivery);
    this.#done(delivery);
  }

  /**
   * Without a mirror nothing here tells a new assignment from the echo of one that ended before we were started; the
   * manager's inventory does.
   */
  async #create(delivery: RunDelivery): Promise<void> {
    this.#options.look();
    if (this.#inventory === undefined) return;
    const { asOf, epochs } = this.#inventory;
    const isEcho = delivery.revision <= asOf && epochs.get(delivery.uid) !== delivery.epoch;
    if (!isEcho) await this.#arrival.create(delivery);
    this.#done(delivery);
  }

  async #remove(delivery: DeleteDelivery, mirrors: readonly Job[]): Promise<void> {
    for (const mirror of mirrors) await this.#departure.delete(mirror, delivery.propagationPolicy);
    // Deletion of what was there is seen by the watch, which brings us here again.
    if (mirrors.length > 0) return;
    await this.#options.withdrawn(delivery);
    this.#done(delivery);
  }

  async #handOver(delivery: HandOverDelivery, mirrors: readonly Job[]): Promise<void> {
    const mirror = mirrors.find((candidate) => identityOf(candidate)?.epoch === delivery.epoch);
    if (mirror === undefined || mirror.metadata.deletionTimestamp !== undefined) {
      await this.#options.withdrawn(delivery);
      this.#done(delivery);
      return;
    }
    if (isFinished(mirror)) {
      await this.#options.reportNow(mirror);
      this.#done(delivery);
      return;
    }
    if (!(await this.#departure.isStopped(mirror))) return;
    await this.#options.withdrawn(delivery, mirror);
    await this.#departure.delete(mirror, "Foreground");
    this.#done(delivery);
  }

  async #refuse(uid: HubUid, mirrors: readonly Job[]): Promise<void> {
    const refused = this.#refused.get(uid);
    if (refused === undefined) return;
    const { epoch, refusal } = refused;
    const mirror = mirrors.find((candidate) => identityOf(candidate)?.epoch === epoch);
    const hasPods = mirror?.spec.suspend !== true && (mirror?.status?.active ?? 0) > 0;
    if (mirror !== undefined && mirror.metadata.deletionTimestamp === undefined && !isFinished(mirror) && !hasPods) {
      if (!(await this.#departure.isStopped(mirror))) return;
      await this.#options.reportNow(mirror);
      await this.#options.refuse({ uid, epoch }, refusal);
      await this.#departure.delete(mirror, "Foreground");
    }
    if (this.#refused.get(uid) === refused) this.#refused.delete(uid);
  }

  async #letGo(uid: HubUid, mirrors: readonly Job[]): Promise<ProcessResult> {
    let waitMs = 0;
    for (const mirror of mirrors) {
      const leftMs = isFinished(mirror) ? this.#departure.retentionLeftMs(mirror) : 0;
      if (leftMs > 0) waitMs = Math.max(waitMs, leftMs);
      else await this.#departure.delete(mirror, "Foreground");
    }
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    if (mirrors.length === 0) this.#released.delete(uid);
  }

  /** Nothing is left to do for this delivery, unless a newer one has come. */
  #done(delivery: AssignmentDelivery): void {
    if (this.#wanted.get(delivery.uid) === delivery) this.#wanted.delete(delivery.uid);
  }
}
