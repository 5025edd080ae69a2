import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { ObjectKey } from "@jobferry/shared/kube/api.ts";
import { isAlreadyExists } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { type ProcessResult, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type {
  AssignmentDelivery,
  AssignmentRef,
  Delivery,
  ListedAssignment,
} from "@jobferry/shared/protocol/delivery.ts";
import { RoundCollector } from "@jobferry/shared/protocol/inventory.ts";
import { CARRY, WORKER_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import type { Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { Departure, type DepartureOptions, keyOf } from "./departure.ts";
import { isSeeded, isUpToDate, type MirrorOptions, mirrorUpdate, newMirror, seedOf } from "./mirror.ts";
import { identityOf, type Mirrors } from "./mirrors.ts";
import { NewestDeliveries } from "./newest.ts";
import { type Refusal, refusalOf } from "./refusal.ts";

export interface IntakeOptions extends MirrorOptions, DepartureOptions {
  logger: Logger;
  mirrors: Mirrors;
  /** The Job of this name on the cluster, whoever's it is. */
  refuse(delivery: AssignmentRef, refusal: Refusal): Promise<void>;
  /** `last`: what the mirror achieved, where the Job moves on. */
  withdrawn(delivery: AssignmentRef, last?: Job): Promise<void>;
  /** The reports that the manager has mirrored, by what it says. */
  mirrored(assignments: readonly ListedAssignment[]): void;
  /** Reports this mirror's status now; resolves when it is on its way. */
  reportNow(mirror: Job): Promise<void>;
  /** Whether contact lasts for a Job that has to stop so long after it was lost. */
  inContact(stopAfterSeconds: number): boolean;
  concurrency?: number;
}

const CONTACT_MS = 1_000;

/**
 * Makes mirrors be what the manager last said about them, one hub Job at a time.
 *
 * A delivery is kept until it is done or a newer one replaces it:
 * - run: no mirror -> create, seed its status with what earlier epochs achieved, clear the mark; then the Job controller takes
 *   it. An older epoch's mirror -> delete it first. Mirror of another generation -> patch what may change.
 * - withdraw with a propagation policy (the hub Job is deleted): delete the mirror so, answer `withdrawn` once it is gone.
 * - withdraw without one (the Job moves on): suspend the mirror, wait until nothing runs and nothing is uncounted, report that
 *   status, answer `withdrawn`, delete. A mirror that finishes meanwhile reports that instead: finished work is not moved.
 * Mirrors that the manager's inventory does not know are withdrawn in the same way as those of a deleted Job. A mirror whose
 * pods cannot be created goes as one that moves on, with a refusal for an answer.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #wanted = new Map<HubUid, AssignmentDelivery>();
  /** Mirrors whose pods this cluster will not have. */
  readonly #refused = new Map<HubUid, { epoch: Epoch; refusal: Refusal }>();
  /** Mirrors that may go: nobody on the hub waits for them. */
  readonly #released = new Set<HubUid>();
  readonly #rounds = new RoundCollector<ListedAssignment>();
  readonly #newest = new NewestDeliveries();
  /** The manager's last complete inventory; no mirror is created before there is one. */
  #inventory: { asOf: number; epochs: ReadonlyMap<HubUid, number> } | undefined;
  readonly #queue: WorkQueue;
  readonly #departure: Departure;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#departure = new Departure(options);
    this.#queue = new WorkQueue({
      name: "intake",
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
    switch (delivery.kind) {
      case "assignment": {
        if (!this.#newest.take(delivery)) return;
        this.#wanted.set(delivery.uid, delivery);
        this.#released.delete(delivery.uid);
        this.#refused.delete(delivery.uid);
        this.#queue.add(delivery.uid);
        return;
      }
      case "finished-ack":
        this.#newest.end(delivery);
        this.#released.add(delivery.uid);
        this.#queue.add(delivery.uid);
        return;
      case "inventory": {
        const assignments = this.#rounds.add({ ...delivery, items: delivery.assignments });
        if (assignments !== undefined) this.#compare(assignments, delivery.asOf);
        return;
      }
    }
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
    this.#inventory = { asOf, epochs };
    for (const uid of this.#wanted.keys()) this.#queue.add(uid);
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
    } else if (wanted.withdraw !== undefined) await this.#remove(wanted, mirrors, wanted.withdraw.propagationPolicy);
    else await this.#handOver(wanted, mirrors);
  }

  async #run(delivery: AssignmentDelivery, mirrors: readonly Job[]): Promise<void> {
    if (mirrors.some((other) => (identityOf(other)?.epoch ?? 0) > delivery.epoch)) return this.#done(delivery);
    const mirror = mirrors.find((candidate) => identityOf(candidate)?.epoch === delivery.epoch);
    for (const old of mirrors) if (old !== mirror) await this.#departure.delete(old, "Foreground");
    if (mirrors.some((old) => old !== mirror)) return;
    if (mirror === undefined) return this.#create(delivery);
    if (mirror.metadata.deletionTimestamp !== undefined) return;
    if (!isSeeded(mirror)) await this.#seed(mirror, delivery);
    else if (!isUpToDate(mirror, delivery)) await this.#update(mirror, delivery);
    this.#done(delivery);
  }

  /**
   * Without a mirror nothing here tells a new assignment from the echo of one that ended before we were started; the
   * manager's inventory does.
   */
  async #create(delivery: AssignmentDelivery): Promise<void> {
    if (this.#inventory === undefined) return;
    const { asOf, epochs } = this.#inventory;
    if (delivery.revision <= asOf && epochs.get(delivery.uid) !== delivery.epoch) return this.#done(delivery);
    const { api, refuse, controller } = this.#options;
    const mirror = newMirror(delivery, this.#options);
    const namespace = mirror.metadata.namespace ?? "";
    let created: Job;
    try {
      created = await api.create(jobs, namespace, mirror);
    } catch (error) {
      if (isAlreadyExists(error)) return this.#nameTaken(delivery, { namespace, name: delivery.name });
      const refusal = refusalOf(error, namespace);
      if (refusal === undefined) throw error;
      await refuse(delivery, refusal);
      this.#done(delivery);
      return;
    }
    if (controller === "agent" && created.spec.managedBy !== WORKER_MANAGED_BY) {
      await this.#departure.delete(created, "Foreground");
      const message =
        "this API server drops spec.managedBy; use Kubernetes 1.30 or newer, or run the agent with --controller=builtin";
      await refuse(delivery, { reason: "ManagedByUnsupported", message });
      this.#done(delivery);
      return;
    }
    if (!isSeeded(created)) await this.#seed(created, delivery);
    this.#done(delivery);
  }

  /** A hub has one Job per name: a mirror of another UID under this name stands for a Job that is no more. */
  async #nameTaken(delivery: AssignmentDelivery, key: Required<ObjectKey>): Promise<void> {
    const existing = await this.#options.api.get(jobs, key);
    const identity = identityOf(existing);
    if (identity?.uid === delivery.uid && identity.epoch === delivery.epoch) {
      if (!isSeeded(existing)) await this.#seed(existing, delivery);
      this.#done(delivery);
    } else if (identity !== undefined && identity.revision > delivery.revision) {
      this.#done(delivery);
    } else if (identity !== undefined) {
      if (identity.uid !== delivery.uid) this.#wanted.delete(identity.uid);
      await this.#departure.delete(existing, "Foreground");
      throw new Error(`waiting for the mirror of hub Job ${identity.uid} to leave ${key.namespace}/${key.name}`);
    } else {
      const message = `a Job ${key.namespace}/${key.name} that is not Jobferry's exists on this cluster`;
      await this.#options.refuse(delivery, { reason: "NameTaken", message });
      this.#done(delivery);
    }
  }

  /** The status first, then the mark goes: a crash in between seeds the same again. */
  async #seed(mirror: Job, delivery: AssignmentDelivery): Promise<void> {
    const { api, controller } = this.#options;
    const seed = seedOf(delivery.carry);
    const key = keyOf(mirror);
    if (seed !== undefined) {
      const { startTime: _, ...withoutStart } = seed;
      const status = controller === "builtin" ? withoutStart : seed;
      await api.patch(
        jobs,
        key,
        { type: "merge", body: { metadata: { uid: mirror.metadata.uid }, status } },
        { subresource: "status" },
      );
    }
    const resume = controller === "builtin" ? { spec: { suspend: delivery.job.spec.suspend ?? false } } : {};
    await api.patch(jobs, key, {
      type: "merge",
      body: { metadata: { uid: mirror.metadata.uid, annotations: { [CARRY]: null } }, ...resume },
    });
  }

  async #update(mirror: Job, delivery: AssignmentDelivery): Promise<void> {
    const body = mirrorUpdate(mirror, delivery);
    await this.#options.api.patch(jobs, keyOf(mirror), { type: "merge", body });
  }

  async #remove(delivery: AssignmentDelivery, mirrors: readonly Job[], policy: "Foreground" | "Orphan"): Promise<void> {
    for (const mirror of mirrors) await this.#departure.delete(mirror, policy);
    // Deletion of what was there is seen by the watch, which brings us here again.
    if (mirrors.length > 0) return;
    await this.#options.withdrawn(delivery);
    this.#done(delivery);
  }

  async #handOver(delivery: AssignmentDelivery, mirrors: readonly Job[]): Promise<void> {
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
