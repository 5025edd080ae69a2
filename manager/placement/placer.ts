import type { Job } from "@jobferry/shared/job/types.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { uidOf } from "../claim/hub-job.ts";
import type { Wishes } from "../claim/wishes.ts";
import type { Clusters } from "../clusters/registry.ts";
import { choose, explain } from "./choose.ts";
import { type Candidate, queueObstacle } from "./eligibility.ts";
import { needsOf } from "./needs.ts";
import type { Queues } from "./queues.ts";
import { type WaitingJob, WaitingRoom } from "./waiting-room.ts";

export interface PlacerOptions {
  clock: Clock;
  clusters: Clusters;
  queues: Queues;
  /** Stores the assignment on the hub and delivers it. Resolves to false when it did not come about. */
  assign(uid: HubUid, cluster: ClusterName): Promise<boolean>;
  /** Tells the Job why it waits. */
  explain(uid: HubUid, message: string, never: boolean): void;
  /** Assignments under way at once: enough to keep the hub busy, few enough to see its answers. */
  concurrency?: number;
}

interface Entry extends WaitingJob {
  readonly uid: HubUid;
  readonly candidate: Candidate;
}

/** A Job that was told once why it waits is told again only when the reason changes; so many Jobs of a lane are told at all. */
const TOLD_PER_LANE = 100;

/**
 * Gives waiting Jobs a cluster, the most important first. Runs only when something changed: a Job came, room appeared, a
 * cluster or queue was edited. Nothing here waits for time to pass.
 */
export class Placer {
  readonly #options: PlacerOptions;
  readonly #room = new WaitingRoom<Entry>();
  /** Clusters that refused a Job, by UID, and until when they are not asked again. */
  readonly #refusals = new Map<string, Map<string, { reason: string; until: number }>>();
  /** The order in which the Jobs that wait were first seen. */
  readonly #arrivals = new Map<string, number>();
  #arrivalCount = 0;
  #underWay = 0;

  constructor(options: PlacerOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#room.size;
  }

  waitingByQueue(): Map<string, number> {
    return this.#room.countByQueue();
  }

  /** The Job waits from now on; it has still to pass the intake queue, where it may be overtaken. */
  arrived(uid: string): void {
    if (!this.#arrivals.has(uid)) this.#arrivals.set(uid, ++this.#arrivalCount);
  }

  put(job: Job, wishes: Wishes): void {
    const uid = uidOf(job);
    const { perPod, pods } = needsOf(job);
    const refusedBy = this.#refusedBy(uid);
    const namespace = job.metadata.namespace ?? "";
    const candidate = { uid, namespace, matchesCluster: wishes.matchesCluster, perPod, pods, refusedBy };
    const lane = JSON.stringify([
      wishes.queue,
      namespace,
      wishes.clusterSelector,
      [...perPod],
      pods,
      [...refusedBy.keys()],
    ]);
    this.#room.put({
      uid,
      queue: wishes.queue,
      lane,
      priority: wishes.priority,
      since: Date.parse(job.metadata.creationTimestamp ?? "") || 0,
      arrival: this.#arrivals.get(uid) ?? 0,
      candidate,
    });
    this.#run();
  }

  remove(uid: string): void {
    this.#room.remove(uid);
    this.#arrivals.delete(uid);
  }

  forget(uid: string): void {
    this.remove(uid);
    this.#refusals.delete(uid);
  }

  /** The cluster is not asked again for this Job before `pauseMs` have passed; `put` the Job again then. */
  refuse(uid: string, cluster: string, reason: string, pauseMs: number): void {
    const refusals = this.#refusals.get(uid) ?? new Map();
    this.#refusals.set(uid, refusals.set(cluster, { reason, until: this.#options.clock.monotonic() + pauseMs }));
  }

  isWaiting(uid: string): boolean {
    return this.#room.has(uid);
  }

  /** Something changed that may help those who wait. */
  changed(): void {
    this.#room.wake();
    this.#run();
  }

  #refusedBy(uid: string): Map<string, string> {
    const now = this.#options.clock.monotonic();
    const current = [...(this.#refusals.get(uid) ?? [])].filter(([, { until }]) => until > now);
    return new Map(current.map(([cluster, { reason }]) => [cluster, reason]));
  }

  #run(): void {
    const { concurrency = 32, queues } = this.#options;
    while (this.#underWay < concurrency) {
      const next = this.#room.next((queue) => queues.share(queue));
      if (next === undefined) return;
      this.#place(next);
    }
  }

  #place(entry: Entry): void {
    const { clusters, queues } = this.#options;
    const queue = queues.view(entry.queue);
    if (queue === undefined) {
      this.#block(entry, `waiting: there is no JobQueue ${entry.queue}`, false);
      return;
    }
    const obstacle = queueObstacle(entry.candidate, queue);
    if (obstacle !== undefined) {
      this.#block(entry, `waiting: ${obstacle.reason}`, obstacle.never);
      return;
    }
    const choice = choose(entry.candidate, queue, clusters.views());
    if ("cluster" in choice) this.#give(entry, parseClusterName(choice.cluster));
    else this.#block(entry, explain(choice.obstacles, choice.never), choice.never);
  }

  #give(entry: Entry, cluster: ClusterName): void {
    const { clusters, queues } = this.#options;
    this.#room.remove(entry.uid);
    clusters.reserve(cluster, entry.uid, entry.candidate.perPod, entry.candidate.pods);
    queues.holds(entry.queue, entry.uid, entry.candidate);
    this.#underWay++;
    this.#options
      .assign(entry.uid, cluster)
      .catch(() => false)
      .then((assigned) => {
        this.#underWay--;
        if (!assigned) {
          clusters.letGo(cluster, entry.uid);
          queues.letGo(entry.uid);
        }
        this.#run();
      })
      .catch(() => {});
  }

  #block(entry: Entry, message: string, never: boolean): void {
    this.#room.sleep(entry.lane);
    let told = 0;
    for (const { uid } of this.#room.inLane(entry.lane)) {
      if (told++ >= TOLD_PER_LANE) return;
      this.#options.explain(uid, message, never);
    }
  }
}
