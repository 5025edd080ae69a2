import type { Job } from "@jobferry/shared/job/types.ts";
import { type MeasureQueue, type ProcessResult, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type {
  AssignmentDelivery,
  AssignmentRef,
  Delivery,
  ListedAssignment,
} from "@jobferry/shared/protocol/delivery.ts";
import { RoundCollector } from "@jobferry/shared/protocol/inventory.ts";
import type { Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Contact } from "../contact/contact.ts";
import { type Identity, identityOf, isOver, type Mirrors } from "../mirrors.ts";
import type { Copies } from "../references/copies.ts";
import type { CopyGuard } from "../references/copy-guard.ts";
import type { Reporter } from "../report/reporter.ts";
import { decide, type Facts } from "./decide.ts";
import { Inventory } from "./inventory.ts";
import { Perform, type PerformOptions } from "./perform.ts";
import type { Refusal } from "./refusal.ts";
import { giveBack, receive, release, type State, States } from "./state.ts";

export interface AssignmentsOptions extends Omit<PerformOptions, "isHeld"> {
  copies: Pick<Copies, "lacking" | "fetch" | "isAwaited" | "take">;
  /** Hears what runs here. */
  guard: Pick<CopyGuard, "learn">;
  logger: Logger;
  mirrors: Mirrors;
  contact: Pick<Contact, "missedTime" | "heard" | "isAnswer" | "holds">;
  reporter: Pick<Reporter, "compare" | "now" | "lastWords">;
  /** Time is missing: what was known before counts for nothing. Calls `cutOff`. */
  onStandstill(): void;
  /** The manager has answered, and what is not ours any more is marked. */
  onAnswer(): void;
  concurrency?: number;
  queueMetrics?: MeasureQueue | undefined;
}

/**
 * Makes mirrors be what the manager last said about them, one hub Job at a time: the state of each (state.ts) and what is there
 * decide on the next step (decide.ts), which is carried out (perform.ts).
 *
 * - Every delivery is answered: by the mirror's status, by the end of its epoch, or by the newer epoch that is known here.
 * - The manager's inventory decides before anything is created, resumed or given more pods.
 * - Absence is proven by a read past our own last write.
 * - No mirror is deleted before what it achieved is stored on the hub.
 */
export class Assignments {
  readonly #options: AssignmentsOptions;
  readonly #states = new States();
  readonly #rounds = new RoundCollector<ListedAssignment>();
  /** The manager's last complete inventory that answers us. */
  #inventory: Inventory | undefined;
  /** The highest revision of the hub that was ever heard of here. */
  #hubRevision = 0;
  readonly #queue: WorkQueue;
  readonly #perform: Perform;

  constructor(options: AssignmentsOptions) {
    this.#options = options;
    this.#perform = new Perform({
      ...options,
      isHeld: (identity) => this.#inventory?.lists(identity) ?? false,
    });
    this.#queue = new WorkQueue({
      name: "assignments",
      metrics: options.queueMetrics,
      clock: options.clock,
      logger: options.logger,
      concurrency: options.concurrency ?? 16,
      backoff: { baseMs: 200, maxMs: 30_000 },
      process: (uid) => this.#reconcile(uid as HubUid),
    });
    options.mirrors.reflector.addHandler({
      added: (mirror) => this.#mirrorChanged(mirror, false),
      updated: (_, mirror) => this.#mirrorChanged(mirror, false),
      deleted: (mirror) => this.#mirrorChanged(mirror, true),
    });
  }

  get hubRevision(): number {
    return this.#hubRevision;
  }

  start(): void {
    this.#queue.start();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  take(
    delivery: Exclude<Delivery, { kind: "pods-wanted" | "delete-pod" | "read-log" | "list-pods" | "challenge" }>,
  ): void {
    this.#lookForMissingTime();
    switch (delivery.kind) {
      case "assignment":
        this.#takeAssignment(delivery);
        break;
      case "release":
        this.#set(delivery.uid, release(this.#states.get(delivery.uid), delivery));
        break;
      case "inventory":
        this.#takeInventory(delivery);
        break;
      case "contents":
        this.#options.copies.take(delivery);
    }
  }

  /** What these Jobs waited for has come, or is late. */
  lookAgain(jobs: readonly HubUid[]): void {
    for (const uid of jobs) this.#queue.add(uid);
  }

  /** Redis was away, or we were: what comes next may be old. */
  cutOff(): void {
    this.#inventory = undefined;
  }

  /** This cluster will not have the pods of this mirror: the manager should look for another one. */
  giveBack(ref: AssignmentRef, refusal: Refusal, mirror: Job): void {
    this.#perform.podsRefused(ref.uid, refusal, mirror);
    this.#set(ref.uid, giveBack(this.#states.get(ref.uid), ref, refusal));
  }

  /** The manager has said that this mirror may go. */
  isReleased({ uid, epoch }: AssignmentRef): boolean {
    const state = this.#states.get(uid);
    return state?.at === "released" && epoch <= state.epoch;
  }

  /** Whether the Job controller may create pods for this Job: not once its epoch is to end. One that is not a mirror is local. */
  mayStart(mirror: Job): boolean {
    const identity = identityOf(mirror);
    if (identity === undefined) return true;
    if (isOver(mirror)) return false;
    const state = this.#states.get(identity.uid);
    if (state === undefined || state.epoch < identity.epoch) return true;
    if (state.epoch > identity.epoch) return false;
    if (state.at === "due") return state.delivery.desired === "run";
    return state.at === "running" || state.at === "giving-back";
  }

  #takeAssignment(delivery: AssignmentDelivery): void {
    const { uid, revision } = delivery;
    this.#saw(revision);
    const { state, newer } = receive(this.#states.get(uid), delivery, newestEpoch(this.#options.mirrors.of(uid)));
    if (newer !== undefined) this.#tellNewer(delivery, newer);
    else this.#set(uid, state);
    if (delivery.desired === "run") this.#options.guard.learn(delivery);
  }

  #takeInventory(page: Extract<Delivery, { kind: "inventory" }>): void {
    const { contact } = this.#options;
    const { heard, asOf } = page;
    const assignments = this.#rounds.add({ ...page, items: page.assignments });
    if (assignments === undefined) return;
    this.#saw(asOf);
    // One that has lain in Redis says what was so once, and a Job may have left us since.
    if (contact.isAnswer(heard)) this.#answered(new Inventory(asOf, assignments), heard);
    else contact.heard(heard);
  }

  /** First what is not ours is marked, then the word counts: nothing of that may start in between. */
  #answered(inventory: Inventory, heard: string | undefined): void {
    const { mirrors, reporter, contact, onAnswer } = this.#options;
    const changed = new Map<HubUid, State>();
    for (const { identity } of mirrors.all()) {
      const state = this.#states.get(identity.uid);
      // A newer assignment that waits here removes the old mirror itself.
      if (!inventory.disowns(identity) || (state !== undefined && state.epoch > identity.epoch)) continue;
      changed.set(identity.uid, release(state, identity));
    }
    for (const ref of inventory.assignments) {
      const state = this.#states.get(ref.uid);
      const isOwed = state?.at === "over" && state.epoch === ref.epoch && inventory.asOf >= state.revision;
      if (isOwed) changed.set(ref.uid, { ...state, owed: true });
    }
    for (const [uid, state] of changed) this.#states.set(uid, state);
    reporter.compare(inventory.asOf, inventory.assignments);
    this.#inventory = inventory;
    contact.heard(heard);
    for (const uid of new Set([...changed.keys(), ...this.#states.open()])) this.#queue.add(uid);
    onAnswer();
  }

  #mirrorChanged(mirror: Job, isGone: boolean): void {
    const identity = identityOf(mirror);
    if (identity === undefined) return;
    this.#saw(identity.revision);
    const { uid, epoch } = identity;
    const state = this.#states.get(uid);
    if (state === undefined || state.at === "running") return;
    if (isGone && state.at === "due" && state.epoch === epoch) this.#states.set(uid, { ...state, seenLeave: true });
    this.#queue.add(uid);
  }

  async #reconcile(uid: HubUid): Promise<ProcessResult> {
    this.#lookForMissingTime();
    const state = this.#states.get(uid);
    if (state === undefined) return;
    let action = decide(state, this.#facts(this.#options.mirrors.of(uid), false));
    if (action.do === "read-mirrors") action = decide(state, this.#facts(await this.#options.mirrors.read(uid), true));
    if (action.do === "read-mirrors") throw new Error("mirrors that were just read are to be read again");
    const done = await this.#perform.perform(uid, state, action);
    if (done.newer !== undefined) this.#tellNewer({ uid, epoch: state.epoch }, done.newer);
    if (done.displaced !== undefined) this.#displace(done.displaced);
    // A newer delivery may have come meanwhile: it is looked at next.
    if (done.state !== undefined && this.#states.get(uid) === state) {
      const next = done.state === "forgotten" ? undefined : done.state;
      this.#states.set(uid, next);
      if (next?.at === "over" && next.owed) return { requeueAfterMs: 0 };
    }
    if (done.lookAgainMs !== undefined) return { requeueAfterMs: done.lookAgainMs };
  }

  #facts(mirrors: readonly Job[], areRead: boolean): Facts {
    const { contact } = this.#options;
    return {
      mirrors,
      areRead,
      inventory: this.#inventory,
      inContact: (stopAfterSeconds) => contact.holds(stopAfterSeconds),
      retentionLeftMs: (mirror) => this.#perform.departure.retentionLeftMs(mirror),
    };
  }

  /** Its hub Job must be gone: another one has its name. */
  #displace(identity: Identity): void {
    this.#set(identity.uid, release(this.#states.get(identity.uid), identity));
  }

  #tellNewer({ uid, epoch }: AssignmentRef, has: Epoch): void {
    const { transport, logger } = this.#options;
    transport
      .sendReport({ kind: "newer", uid, epoch, has })
      .catch((error: unknown) =>
        logger.warn({ error, uid }, "could not tell of a newer epoch; the next delivery will"),
      );
  }

  #set(uid: HubUid, state: State | undefined): void {
    this.#states.set(uid, state);
    this.#queue.add(uid);
  }

  #saw(revision: number): void {
    this.#hubRevision = Math.max(this.#hubRevision, revision);
  }

  #lookForMissingTime(): void {
    if (this.#options.contact.missedTime() > 0) this.#options.onStandstill();
  }
}

function newestEpoch(mirrors: readonly Job[]): Epoch | undefined {
  let newest: Epoch | undefined;
  for (const mirror of mirrors) {
    const epoch = identityOf(mirror)?.epoch;
    if (epoch !== undefined && (newest === undefined || epoch > newest)) newest = epoch;
  }
  return newest;
}
