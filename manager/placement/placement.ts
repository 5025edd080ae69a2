import type { Job } from "@jobferry/shared/job/types.ts";
import { RETRY } from "@jobferry/shared/protocol/marks.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Clusters } from "../clusters/clusters.ts";
import { type Assignment, type Phases, uidOf } from "../hub/phase.ts";
import { readWishes, type Wishes } from "../hub/wishes.ts";
import { choose, explain, NEVER } from "./choose.ts";
import { Claims } from "./claims.ts";
import { type Candidate, queueObstacle } from "./eligibility.ts";
import { jobNeeds } from "./fit/job-needs.ts";
import { namedNodes } from "./fit/node-match.ts";
import { type Books, Growth } from "./growth.ts";
import { Holders } from "./holders.ts";
import type { Booking, Ledger } from "./ledger.ts";
import { type Crowd, Crowds } from "./line/crowds.ts";
import { type WaitingClass, WaitingLine } from "./line/waiting-line.ts";
import { classNameOf, priorityOf } from "./order/priority.ts";
import type { Queues } from "./queues.ts";
import { Reasons, type Told } from "./reasons.ts";
import { Sites } from "./sites.ts";
import { type Offer, Turns } from "./turns.ts";

export interface PlacementOptions {
  readonly clock: Pick<Clock, "monotonic" | "after"> & Partial<Pick<Clock, "now">>;
  readonly clusters: Clusters;
  readonly queues: Queues;
  readonly ledger: Ledger;
  readonly phases: Phases;
  /** Asks for another `consider` of this Job: its answer has changed. */
  enqueue(uid: HubUid): void;
  /** Decisions that are not stored yet: enough to keep the hub busy, few enough that a more important Job is not kept waiting. */
  readonly undecidedLimit?: number;
  /** A Job as the hub has it, for those that may be displaced; without it nobody is. */
  jobOf?(uid: HubUid): Job | undefined;
  /** The value of a PriorityClass of the hub. */
  priorityClass?(name: string): number | undefined;
  /** False: nobody asks why a Job waits, and nobody is told. A simulation has many more changes in a second than a manager. */
  readonly tellsReasons?: boolean;
  /** Classes of waiting Jobs that one namespace may make. */
  readonly classesPerNamespace?: number;
}

export type Decision =
  | { readonly cluster: ClusterName; readonly queue: string }
  /** `never`: waiting cannot help, only an edit. */
  | { readonly reason: string; readonly never: boolean; readonly againMs?: number | undefined }
  /** Others come first, or nothing new can be said. */
  | { readonly notYet: true; readonly againMs?: number | undefined };

/** Kinds of reasons for which Jobs wait. */
export type WaitingKind = "Paused" | "Budget" | "Quota" | "NoRoom" | "RoomIsKept" | "Impossible";

/** A reason names no more of them, however large the fleet is. */
const EXPLAINED_CLUSTERS = 32;
/** At most this long in one turn of the event loop. */
const TURN_MS = 20;

/**
 * Answers where a waiting Job should go, the most important Job first. It books what it has decided and never writes: the
 * Job's reconciler stores the assignment. Works only when something changed (a Job came, room appeared, a cluster or queue was
 * edited), and only on those that the change can help.
 */
export class Placement {
  readonly #options: PlacementOptions;
  readonly #line = new WaitingLine();
  readonly #crowds: Crowds;
  readonly #sites: Sites;
  readonly #turns: Turns;
  readonly #reasons: Reasons<WaitingClass | Crowd>;
  readonly #growth: Growth;
  readonly #claims: Claims;
  readonly #holders: Holders;
  /** Jobs that are to leave their clusters, and why. */
  readonly #displaced = new Map<HubUid, string>();
  readonly #decided = new Map<HubUid, { cluster: ClusterName; queue: string }>();
  /** The order in which the Jobs that wait were first seen. */
  readonly #arrivals = new Map<HubUid, { order: number; at: number }>();
  #arrivalCount = 0;
  /** The Job that is being answered: it need not be asked for again. */
  #considered: HubUid | undefined;
  #continued: (() => void) | undefined;

  constructor(options: PlacementOptions) {
    this.#options = options;
    const { clock, clusters, queues, ledger } = options;
    this.#crowds = new Crowds({
      most: options.classesPerNamespace,
      classesIn: (namespace) => this.#line.classesIn(namespace),
      enqueue: (uid) => this.#enqueue(uid),
    });
    this.#sites = new Sites(clusters, ledger);
    this.#growth = new Growth({ ledger, queues, enqueue: options.enqueue });
    const line = this.#line;
    const sites = this.#sites;
    this.#turns = new Turns({ line, sites, queues, clock, promises: () => this.#claims });
    this.#holders = new Holders({ ...options, priorityOf: (job) => this.#priorityOf(job) });
    this.#claims = new Claims({
      ...{ clock, line, sites, queues, ledger },
      holderOf: (uid, booking) => this.#holders.of(uid, booking, this.#displaced.has(uid)),
      waitsSince: (uid) => this.#arrivals.get(uid)?.at,
      displace: (uid, why) => {
        this.#displaced.set(uid, why);
        this.#enqueue(uid);
      },
      nameOf: (uid) => this.#holders.nameOf(uid),
      changed: (cluster) => {
        this.#turns.clusterChanged(cluster);
        this.#changed();
      },
    });
    this.#reasons = new Reasons({
      clock,
      classes: () => [...this.#line.classes(), ...this.#crowds.all()],
      reasonOf: (group) =>
        "crowded" in group ? { reason: this.#crowds.reason(group), never: false } : this.#reasonOf(group),
      clusters: () => Math.min(EXPLAINED_CLUSTERS, this.#sites.size),
      enqueue: (uid) => this.#enqueue(uid),
    });
  }

  get waiting(): number {
    return this.#line.size + this.#crowds.size;
  }

  waitingByQueue(): Map<string, number> {
    const waiting = new Map([...this.#line.queues()].map(({ name, jobs }) => [name, jobs]));
    for (const [queue, jobs] of this.#crowds.byQueue()) waiting.set(queue, (waiting.get(queue) ?? 0) + jobs);
    return waiting;
  }

  /** The same by the kind of reason for which they wait. */
  waitingByReason(queue: string): Record<WaitingKind, number> {
    const counts = { Paused: 0, Budget: 0, Quota: 0, NoRoom: 0, RoomIsKept: 0, Impossible: 0 };
    const line = this.#line.queue(queue);
    const view = this.#options.queues.view(queue);
    for (const group of this.#line.classes()) {
      if (group.queue !== queue) continue;
      const isHeld = !group.settled && group.heldAt === line?.version;
      if (view?.paused === true) counts.Paused += group.jobs.size;
      else if (view === undefined || this.#reasons.isNever(group)) counts.Impossible += group.jobs.size;
      else if (isHeld) counts[view.spent === undefined ? "Quota" : "Budget"] += group.jobs.size;
      else counts[this.#claims.has(group.key) ? "RoomIsKept" : "NoRoom"] += group.jobs.size;
    }
    return counts;
  }

  /** Where this Job should go, why it waits, or that it is not its turn. */
  consider(job: Job, wishes: Wishes): Decision {
    const uid = uidOf(job);
    if (!this.#decided.has(uid)) {
      this.enter(job, wishes);
      this.#considered = uid;
      this.#run();
      this.#considered = undefined;
    }
    const decided = this.#decided.get(uid);
    if (decided !== undefined) return decided;
    const againMs = this.#options.ledger.nextTryMs(uid, this.#options.clock.monotonic());
    const group = this.#line.classOf(uid);
    const isSilent = this.#options.tellsReasons === false || (group !== undefined && this.#turns.isDue(group));
    const told = isSilent ? undefined : this.#tell(uid, group ?? this.#crowds.of(uid));
    return told === undefined ? { notYet: true, againMs } : { reason: told.reason, never: told.never, againMs };
  }

  /** The Job waits from now on; its wishes may have changed. Nothing is decided yet. */
  enter(job: Job, wishes: Wishes): void {
    const uid = uidOf(job);
    const arrival = this.#arrivals.get(uid) ?? { order: ++this.#arrivalCount, at: this.#options.clock.monotonic() };
    this.#arrivals.set(uid, arrival);
    const since = Date.parse(job.metadata.creationTimestamp ?? "") || 0;
    const candidate = this.#candidate(job, wishes);
    const before = this.#line.classOf(uid);
    const { namespace, clusterSelector, where, perPod, pods, gang, refusedBy } = candidate;
    const key = JSON.stringify([
      wishes.queue,
      namespace,
      clusterSelector,
      [...perPod],
      pods,
      gang,
      where,
      [...refusedBy],
    ]);
    const priority = this.#priorityOf(job, wishes);
    const waiting = { uid, priority, since, arrival: arrival.order };
    if (before !== undefined && before.key !== key) this.#takeOut(uid);
    const wasCrowded = this.#crowds.of(uid) !== undefined;
    if (this.#line.classNamed(key) === undefined) {
      this.#crowds.join(waiting, namespace, wishes.queue);
      if (this.#crowds.isFull(uid, namespace)) {
        if (!wasCrowded) this.#reasons.forget(uid);
        this.#crowds.letIn(namespace);
        return;
      }
    }
    this.#crowds.leave(uid);
    this.#line.put(waiting, key, wishes.queue, candidate);
    if (wasCrowded) this.#crowds.letIn(namespace);
    this.#claims.wake();
    if (before?.key === key) return;
    // What it was told was about other wishes.
    this.#reasons.forget(uid);
    this.#turns.look(wishes.queue);
  }

  /** Why this Job, which has a cluster, is to leave it for another one; undefined: it is not. */
  displaced(uid: HubUid): string | undefined {
    return this.#displaced.get(uid);
  }

  /** The Job wants no cluster, or asks for something that nobody understands. */
  leave(uid: HubUid): void {
    this.#takeOut(uid);
    this.#reasons.forget(uid);
    this.#arrivals.delete(uid);
    this.#decided.delete(uid);
  }

  /** The books follow the hub: what is stored on the Job is what is booked. */
  observe(uid: HubUid, job: Job | undefined): void {
    const { ledger, phases } = this.#options;
    const phase = job === undefined ? undefined : phases.of(job);
    const holder = job === undefined ? undefined : phases.holderOf(job);
    if (phase?.phase === "waiting") {
      this.#growth.forget(uid);
      this.#displaced.delete(uid);
      // A decision that waits for its write keeps its room.
      if (!this.#decided.has(uid)) this.#freed(uid, ledger.release(uid));
      return;
    }
    const hadDecision = this.#decided.has(uid);
    this.leave(uid);
    if (phase?.phase !== "assigned") this.#displaced.delete(uid);
    if (job !== undefined && holder !== undefined) {
      const { cluster, queue } = holder;
      const freesQuota = this.#growth.book(uid, { cluster, queue, needs: jobNeeds(job) }, holder.admitted);
      if (freesQuota) this.#booksChanged(queue);
    } else {
      this.#growth.forget(uid);
      this.#freed(uid, phase?.phase === "suspended" ? ledger.release(uid) : ledger.forget(uid));
    }
    if (hadDecision) this.#run();
  }

  /** The assignment was not stored: the room is free again, and the Job is looked at anew. */
  notStored(uid: HubUid): void {
    if (this.#decided.delete(uid)) this.#freed(uid, this.#options.ledger.release(uid));
  }

  /** What an assigned Job may hold beyond what it was let in with. */
  growth(job: Job, { cluster, queue }: Pick<Assignment, "cluster" | "queue">): Books {
    return this.#growth.of(uidOf(job), { cluster, queue, needs: jobNeeds(job) });
  }

  /** What `growth` booked is stored, or could not be: from now on the Job shows it. */
  grown(uid: HubUid, job: Job | undefined): void {
    this.#growth.settled(uid);
    this.observe(uid, job);
  }

  /** Whether the Job could start on another cluster than this one now. */
  fitsElsewhere(job: Job, wishes: Wishes, cluster: ClusterName): boolean {
    const queue = this.#options.queues.view(wishes.queue);
    if (queue === undefined) return false;
    const others = [...this.#sites].filter(({ name }) => name !== cluster);
    return "cluster" in choose(this.#candidate(job, wishes), queue, others);
  }

  /** Its room, its connection or its object may be another one. */
  clusterChanged(cluster: ClusterName): void {
    this.#turns.clusterChanged(cluster);
    this.#changed();
  }

  /** A queue was edited, or a namespace: whoever it is about is looked at with every cluster. */
  queueChanged(queue?: string): void {
    this.#line.unsettleAll(queue);
    for (const { name } of this.#line.queues()) this.#turns.booksChanged(name);
    this.#growth.wake(queue);
    this.#changed();
  }

  stop(): void {
    this.#reasons.stop();
    this.#claims.stop();
    this.#continued?.();
  }

  #freed(uid: HubUid, booking: Booking | undefined): void {
    if (booking === undefined) return;
    this.#options.clusters.get(booking.cluster)?.breaker.left(uid);
    this.#turns.clusterChanged(booking.cluster);
    this.#booksChanged(booking.queue);
  }

  /** The queue holds less than before. */
  #booksChanged(name: string): void {
    for (const queue of this.#options.queues.sharingWith(name)) {
      this.#turns.booksChanged(queue);
      this.#growth.wake(queue);
    }
    this.#changed();
  }

  #changed(): void {
    this.#run();
    if (this.waiting === 0) return;
    if (this.#options.tellsReasons !== false) this.#reasons.changed();
    this.#claims.wake();
  }

  #priorityOf(job: Job, wishes?: Wishes): number {
    const read = wishes === undefined ? readWishes(job) : { wishes };
    const { queue = "", priority: asked } = "wishes" in read ? read.wishes : {};
    const ofClass = this.#options.priorityClass?.(classNameOf(job));
    return priorityOf({ asked, ofClass, most: this.#options.queues.maxPriority(queue) });
  }

  #candidate(job: Job, { clusterSelector, matchesCluster }: Wishes): Candidate {
    const refusedBy = this.#options.ledger.refusedBy(
      uidOf(job),
      this.#options.clock.monotonic(),
      job.metadata.annotations?.[RETRY],
    );
    const needs = jobNeeds(job);
    const where = JSON.stringify([needs.rules, needs.alone]);
    const simple = !needs.gang && namedNodes(needs.rules) === undefined;
    const namespace = job.metadata.namespace ?? "";
    return { ...needs, namespace, clusterSelector, matchesCluster, where, simple, refusedBy };
  }

  #run(): void {
    const { undecidedLimit = 32, clock } = this.#options;
    const until = clock.monotonic() + TURN_MS;
    while (this.#decided.size < undecidedLimit) {
      const offer = this.#turns.next(until);
      if (offer === undefined) return;
      if (offer === "later") {
        this.#continued ??= clock.after(0, () => {
          this.#continued = undefined;
          this.#run();
        });
        return;
      }
      this.#give(offer);
    }
  }

  #give({ group, site }: Offer): void {
    const { ledger, clusters, clock } = this.#options;
    const { uid } = group.first;
    const booking = { cluster: site.name, queue: group.queue, needs: group.candidate };
    this.#takeOut(uid);
    this.#reasons.forget(uid);
    this.#decided.set(uid, { cluster: site.name, queue: group.queue });
    ledger.book(uid, booking);
    ledger.reserve(uid, booking);
    clusters.get(site.name)?.breaker.gets(uid, clock.monotonic());
    // Only now: what was kept for it is free for others, as far as it does not hold it itself.
    const kept = this.#claims.end(group.key);
    if (kept !== undefined) this.#turns.clusterChanged(kept);
    this.#enqueue(uid);
    // Only now: who looks at the room that was kept must see that it is taken.
    this.#claims.end(group.key);
  }

  #enqueue(uid: HubUid): void {
    if (uid !== this.#considered) this.#options.enqueue(uid);
  }

  /** A class of the namespace may be gone with it: then the next one gets in. */
  #takeOut(uid: HubUid): void {
    const namespace = this.#line.classOf(uid)?.candidate.namespace ?? this.#crowds.of(uid)?.crowded;
    this.#line.remove(uid);
    this.#crowds.leave(uid);
    if (namespace !== undefined) this.#crowds.letIn(namespace);
  }

  #tell(uid: HubUid, group: WaitingClass | Crowd | undefined): Told | undefined {
    return group === undefined ? undefined : this.#reasons.tell(uid, group);
  }

  #reasonOf(group: WaitingClass): Told | undefined {
    const { queue, candidate } = group;
    const view = this.#options.queues.view(queue);
    if (view === undefined) return { reason: `waiting: there is no JobQueue ${queue}`, never: false };
    const kept = this.#claims.wordsFor(group);
    if (kept !== undefined) return { reason: `waiting: ${kept}`, never: false };
    const held = queueObstacle(candidate, view);
    if (held !== undefined) return { reason: `waiting: ${held.reason}`, never: held.never };
    const reach = [...this.#sites].filter(({ labels }) => view.matchesCluster(labels));
    if (reach.length === 0 && this.#sites.size > 0)
      return { reason: `${NEVER}: queue ${queue} selects none of the ${this.#sites.size} clusters`, never: true };
    const looked = reach.slice(0, EXPLAINED_CLUSTERS);
    const choice = choose(candidate, view, looked);
    if ("cluster" in choice) return undefined;
    const more = reach.length - looked.length;
    const never = choice.never && more === 0;
    return { reason: explain(choice.obstacles, never, more), never };
  }
}
