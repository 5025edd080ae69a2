import { Clusters } from "@jobferry/manager/clusters/clusters.ts";
import { Grants } from "@jobferry/manager/hub/grants.ts";
import { Phases } from "@jobferry/manager/hub/phase.ts";
import { nextPreempted } from "@jobferry/manager/hub/preempted.ts";
import { readWishes, type Wishes } from "@jobferry/manager/hub/wishes.ts";
import { Budgets } from "@jobferry/manager/placement/budgets.ts";
import { Ledger } from "@jobferry/manager/placement/ledger.ts";
import { Placement } from "@jobferry/manager/placement/placement.ts";
import { Queues } from "@jobferry/manager/placement/queues.ts";
import type { JobQueue, WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { PREEMPTED } from "@jobferry/shared/protocol/marks.ts";
import { type ClusterName, epoch, type HubUid } from "@jobferry/shared/protocol/names.ts";
import { type Clock, timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { SimulatedWorker } from "./worker.ts";

export interface DispatcherOptions {
  readonly clock: Clock;
  readonly queues: readonly JobQueue[];
  readonly namespaceLabels: ReadonlyMap<string, Readonly<Record<string, string>>>;
  onPlaced(uid: HubUid, cluster: ClusterName): void;
  /** The Job is to leave its cluster for another one; `left` says when it has. */
  onDisplaced(uid: HubUid): void;
}

/** As often as the manager counts. */
const BUDGETS_MS = 5_000;

interface Known {
  job: Job;
  readonly wishes: Wishes;
  /** How often it was given to a cluster. */
  epoch: number;
  isLeaving: boolean;
}

/**
 * The manager's part: its own placement, books and queues, wired as the manager wires them. What a Job's reconciler does with
 * an answer is done at once: the assignment is stored, and placement sees it.
 */
export class Dispatcher {
  readonly managerKey = "simulated";
  readonly #options: DispatcherOptions;
  readonly #phases = new Phases(new Grants([generateKeyPair().privateKey]));
  readonly #clusters: Clusters;
  readonly #ledger: Ledger;
  readonly #queues: Queues;
  readonly #placement: Placement;
  readonly #jobs = new Map<HubUid, Known>();
  readonly #asked = new Set<HubUid>();
  #isAnswering = false;
  #stopBudgets = (): void => {};
  /** Elapsed time inside placement: its part of the CPU time of the whole run. */
  placementMs = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { clock, queues, namespaceLabels } = options;
    const byName = new Map(queues.map((queue) => [queue.metadata.name ?? "", queue]));
    this.#clusters = new Clusters(clock, this.managerKey);
    const ledger = new Ledger(this.#clusters);
    this.#ledger = ledger;
    const budgets = new Budgets({
      clock,
      queues: () => queues,
      held: (name) => ledger.loadOf(name).used,
      changed: (name) => this.#timed(() => this.#placement.queueChanged(name)),
    });
    this.#queues = new Queues({
      queueNamed: (name) => byName.get(name),
      labelsOfNamespace: (name) => namespaceLabels.get(name),
      ledger,
      all: () => queues,
      clusters: this.#clusters,
      clock,
      spent: (name) => budgets.obstacle(name),
    });
    this.#placement = new Placement({
      clock,
      clusters: this.#clusters,
      ledger,
      phases: this.#phases,
      queues: this.#queues,
      enqueue: (uid) => this.#asked.add(uid),
      jobOf: (uid) => this.#jobs.get(uid)?.job,
      tellsReasons: false,
    });
    const count = (): void => {
      budgets.count();
      this.#stopBudgets = clock.after(BUDGETS_MS, count);
    };
    if (queues.some(({ spec }) => spec?.budget !== undefined)) count();
  }

  addCluster(name: ClusterName, { metadata, spec }: Pick<WorkerCluster, "metadata" | "spec">): void {
    this.#clusters.upsert(name, { metadata, spec });
  }

  /** The agent's heartbeat has come. Without figures: it says what it said before. */
  heard(worker: SimulatedWorker, isNews: boolean): void {
    const cluster = this.#clusters.get(worker.name);
    if (!isNews) {
      cluster?.heard();
      return;
    }
    cluster?.heard(worker.health());
    this.#timed(() => this.#placement.clusterChanged(worker.name));
  }

  submit(uid: HubUid, job: Job): void {
    const read = readWishes(job);
    if ("problems" in read) throw new Error(`${job.metadata.name}: ${read.problems.join("; ")}`);
    this.#jobs.set(uid, { job, wishes: read.wishes, epoch: 0, isLeaving: false });
    this.#asked.add(uid);
    this.answer();
  }

  /** How many of its pods run. */
  started(uid: HubUid, ready: number): void {
    const known = this.#jobs.get(uid);
    if (known === undefined) return;
    const status = { ...known.job.status, startTime: timestamp(this.#options.clock.now()), ready };
    known.job = { ...known.job, status };
  }

  /** How long its pods may find no node. */
  unschedulableAfterMs(uid: HubUid): number {
    return this.#queues.unschedulableAfterMs(this.#jobs.get(uid)?.wishes.queue ?? "");
  }

  /** Whether another cluster could take the Job now. */
  fitsElsewhere(uid: HubUid, cluster: ClusterName): boolean {
    const known = this.#jobs.get(uid);
    return known !== undefined && this.#placement.fitsElsewhere(known.job, known.wishes, cluster);
  }

  /** A Job whose pods found no node has stopped. Its cluster is not asked again for a while. */
  moved(uid: HubUid, cluster: ClusterName, succeeded: number): void {
    this.#ledger.refuse(uid, cluster, "Unschedulable", "no node", this.#options.clock.monotonic());
    this.#left(uid, succeeded, {});
  }

  /** A displaced Job has stopped. It waits again, with what it has achieved. */
  left(uid: HubUid, succeeded: number): void {
    const { job } = this.#jobs.get(uid) ?? {};
    if (job !== undefined) this.#left(uid, succeeded, { [PREEMPTED]: nextPreempted(job, this.#options.clock.now()) });
  }

  #left(uid: HubUid, succeeded: number, more: Readonly<Record<string, string>>): void {
    const known = this.#jobs.get(uid);
    const assignment = known === undefined ? undefined : this.#phases.assignmentOf(known.job);
    if (known === undefined || assignment === undefined) return;
    const marks = { ...this.#phases.annotationsOf(known.job, assignment, true), ...more };
    known.job = { ...withMarks(known.job, marks), status: { succeeded } };
    known.isLeaving = false;
    this.#asked.add(uid);
    this.#timed(() => this.#placement.observe(uid, known.job));
  }

  finished(uid: HubUid): void {
    this.#jobs.delete(uid);
    this.#timed(() => this.#placement.observe(uid, undefined));
  }

  get waiting(): number {
    return this.#placement.waiting;
  }

  stop(): void {
    this.#stopBudgets();
    this.#placement.stop();
  }

  #timed(work: () => void): void {
    const began = performance.now();
    work();
    this.placementMs += performance.now() - began;
    this.answer();
  }

  /** Whoever is asked for gets its turn; timers of placement ask, too. */
  answer(): void {
    if (this.#isAnswering || this.#asked.size === 0) return;
    this.#isAnswering = true;
    for (const uid of this.#asked) {
      this.#asked.delete(uid);
      this.#consider(uid);
    }
    this.#isAnswering = false;
  }

  #consider(uid: HubUid): void {
    const known = this.#jobs.get(uid);
    if (known === undefined) return;
    const { job, wishes } = known;
    if (this.#phases.of(job).phase !== "waiting") {
      if (known.isLeaving || this.#placement.displaced(uid) === undefined) return;
      known.isLeaving = true;
      this.#options.onDisplaced(uid);
      return;
    }
    const began = performance.now();
    const decision = this.#placement.consider(job, wishes);
    this.placementMs += performance.now() - began;
    if (!("cluster" in decision)) return;
    const assignment = { cluster: decision.cluster, queue: decision.queue, epoch: epoch.parse(++known.epoch) };
    known.job = withMarks(job, this.#phases.annotationsOf(job, assignment, false));
    this.#timed(() => this.#placement.observe(uid, known.job));
    this.#options.onPlaced(uid, decision.cluster);
  }
}

/** As a merge patch would. */
function withMarks(job: Job, marks: Readonly<Record<string, string | null>>): Job {
  const merged: Record<string, string | null> = { ...job.metadata.annotations, ...marks };
  const annotations = Object.fromEntries(
    Object.entries(merged).filter((each): each is [string, string] => each[1] !== null),
  );
  return { ...job, metadata: { ...job.metadata, annotations } };
}
