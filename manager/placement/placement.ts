import type { Job } from "@jobferry/shared/job/types.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { Clusters } from "../clusters/clusters.ts";
import { type Phases, uidOf } from "../hub/phase.ts";
import type { Wishes } from "../hub/wishes.ts";
import { choose, explain } from "./choose.ts";
import { type Candidate, type ClusterView, queueObstacle } from "./eligibility.ts";
import { jobNeeds } from "./fit/job-needs.ts";
import type { Ledger } from "./ledger.ts";
import type { Queues } from "./queues.ts";
import { type WaitingJob, WaitingLine } from "./waiting-line.ts";

export interface PlacementOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly clusters: Clusters;
  readonly queues: Queues;
  readonly ledger: Ledger;
  readonly phases: Phases;
  /** Asks for another `consider` of this Job: its answer has changed. */
  enqueue(uid: HubUid): void;
  /** Decisions that are not stored yet: enough to keep the hub busy, few enough that a more important Job is not kept waiting. */
  readonly undecidedLimit?: number;
}

export type Decision =
  | { readonly cluster: ClusterName; readonly queue: string }
  /** `never`: waiting cannot help, only an edit. */
  | { readonly reason: string; readonly never: boolean; readonly againMs?: number | undefined }
  /** Others come first, or nothing new can be said. */
  | { readonly notYet: true; readonly againMs?: number | undefined };

interface Entry extends WaitingJob {
  readonly candidate: Candidate;
}

interface Told {
  readonly reason: string;
  readonly never: boolean;
}

/** Of the Jobs in one lane, this many are told why they wait. */
const TOLD_PER_LANE = 100;

/**
 * Answers where a waiting Job should go, the most important Job first. It books what it has decided and never writes: the
 * Job's reconciler stores the assignment. Works only when something changed: a Job came, room appeared, a cluster or queue was
 * edited.
 */
export class Placement {
  readonly #options: PlacementOptions;
  readonly #line = new WaitingLine<Entry>();
  readonly #decided = new Map<HubUid, { cluster: ClusterName; queue: string }>();
  readonly #told = new Map<HubUid, Told>();
  /** The order in which the Jobs that wait were first seen. */
  readonly #arrivals = new Map<HubUid, number>();
  #arrivalCount = 0;
  /** The Job that is being answered: it need not be asked for again. */
  #considered: HubUid | undefined;

  constructor(options: PlacementOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#line.size;
  }

  waitingByQueue(): Map<string, number> {
    return this.#line.countByQueue();
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
    const told = this.#told.get(uid);
    return told === undefined ? { notYet: true, againMs } : { ...told, againMs };
  }

  /** The Job waits from now on; its wishes may have changed. Nothing is decided yet. */
  enter(job: Job, wishes: Wishes): void {
    const uid = uidOf(job);
    if (!this.#arrivals.has(uid)) this.#arrivals.set(uid, ++this.#arrivalCount);
    const candidate = this.#candidate(job, wishes);
    const { namespace, perPod, pods, gang, alone, rules, refusedBy } = candidate;
    this.#line.put({
      uid,
      queue: wishes.queue,
      lane: JSON.stringify([
        ...[wishes.queue, namespace, wishes.clusterSelector, [...perPod], pods, gang, alone, rules],
        [...refusedBy],
      ]),
      priority: wishes.priority,
      since: Date.parse(job.metadata.creationTimestamp ?? "") || 0,
      arrival: this.#arrivals.get(uid) ?? 0,
      candidate,
    });
  }

  /** The Job wants no cluster, or asks for something that nobody understands. */
  leave(uid: HubUid): void {
    this.#line.remove(uid);
    this.#told.delete(uid);
    this.#arrivals.delete(uid);
    this.#decided.delete(uid);
  }

  /** The books follow the hub: what is stored on the Job is what is booked. */
  observe(uid: HubUid, job: Job | undefined): void {
    const { ledger, phases } = this.#options;
    const phase = job === undefined ? undefined : phases.of(job);
    const holder = job === undefined ? undefined : phases.holderOf(job);
    if (phase?.phase === "waiting") {
      // A decision that waits for its write keeps its room.
      if (!this.#decided.has(uid) && ledger.release(uid)) this.changed();
      return;
    }
    const hadDecision = this.#decided.has(uid);
    this.leave(uid);
    if (job !== undefined && holder !== undefined)
      ledger.book(uid, { cluster: holder.cluster, queue: holder.queue, needs: jobNeeds(job) });
    else if (phase?.phase === "suspended" ? ledger.release(uid) : ledger.forget(uid)) this.changed();
    if (hadDecision) this.#run();
  }

  /** The assignment was not stored: the room is free again, and the Job is looked at anew. */
  notStored(uid: HubUid): void {
    if (!this.#decided.delete(uid)) return;
    this.#options.ledger.release(uid);
    this.changed();
  }

  /** Whether the Job could start on another cluster than this one now. */
  fitsElsewhere(job: Job, wishes: Wishes, cluster: ClusterName): boolean {
    const queue = this.#options.queues.view(wishes.queue);
    if (queue === undefined) return false;
    const others = [...this.#views()].filter(({ name }) => name !== cluster);
    return "cluster" in choose(this.#candidate(job, wishes), queue, others);
  }

  /** Something changed that may help those who wait. */
  changed(): void {
    this.#line.wake();
    this.#run();
  }

  #candidate(job: Job, wishes: Wishes): Candidate {
    const uid = uidOf(job);
    const refusedBy = this.#options.ledger.refusedBy(uid, this.#options.clock.monotonic());
    const namespace = job.metadata.namespace ?? "";
    return { uid, namespace, matchesCluster: wishes.matchesCluster, ...jobNeeds(job), refusedBy };
  }

  #run(): void {
    const { undecidedLimit = 32, queues } = this.#options;
    while (this.#decided.size < undecidedLimit) {
      const next = this.#line.next((queue) => queues.share(queue));
      if (next === undefined) return;
      this.#decide(next);
    }
  }

  #decide(entry: Entry): void {
    const queue = this.#options.queues.view(entry.queue);
    if (queue === undefined) {
      this.#block(entry, `waiting: there is no JobQueue ${entry.queue}`, false);
      return;
    }
    const obstacle = queueObstacle(entry.candidate, queue);
    if (obstacle !== undefined) {
      this.#block(entry, `waiting: ${obstacle.reason}`, obstacle.never);
      return;
    }
    const choice = choose(entry.candidate, queue, this.#views());
    if ("cluster" in choice) this.#give(entry, choice.cluster);
    else this.#block(entry, explain(choice.obstacles, choice.never), choice.never);
  }

  #give({ uid, queue, candidate }: Entry, cluster: ClusterName): void {
    const { ledger } = this.#options;
    this.#line.remove(uid);
    this.#told.delete(uid);
    this.#decided.set(uid, { cluster, queue });
    const booking = { cluster, queue, needs: candidate };
    ledger.book(uid, booking);
    ledger.reserve(uid, booking);
    this.#enqueue(uid);
  }

  #enqueue(uid: HubUid): void {
    if (uid !== this.#considered) this.#options.enqueue(uid);
  }

  #block(entry: Entry, reason: string, never: boolean): void {
    this.#line.sleep(entry.lane);
    let count = 0;
    for (const { uid } of this.#line.inLane(entry.lane)) {
      if (count++ >= TOLD_PER_LANE) return;
      if (this.#told.get(uid)?.reason === reason) continue;
      this.#told.set(uid, { reason, never });
      this.#enqueue(uid);
    }
  }

  *#views(): Generator<ClusterView> {
    for (const cluster of this.#options.clusters) yield viewOf(cluster, this.#options.ledger.runningOn(cluster.name));
  }
}

function viewOf({ name, object, capacity, isConnected, notReady }: Cluster, running: number): ClusterView {
  const { spec, metadata } = object;
  return {
    name,
    labels: metadata.labels ?? {},
    connected: isConnected,
    notReady,
    cordoned: spec.cordoned === true || spec.drain === true,
    maxJobs: spec.maxJobs,
    namespaces: spec.namespaces === undefined ? undefined : new Set(spec.namespaces),
    running,
    free: capacity.free,
    largestFreeNode: capacity.largestFreeNode,
    largestNode: capacity.largestNode,
    nodes: capacity.nodes,
  };
}
