import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Candidate } from "../eligibility.ts";
import { ResourceNumbers, type Vector } from "../fit/vectors.ts";
import { AsksIndex, placeIn } from "./asks-index.ts";
import { JobHeap, type WaitingJob } from "./job-heap.ts";

/** Jobs with equal needs and wishes: placement has the same answer for all of them. */
export interface WaitingClass {
  readonly key: string;
  readonly queue: string;
  readonly candidate: Candidate;
  readonly asks: Vector;
  /** Classes of one bin may go to the same clusters and nodes. */
  readonly bin: string;
  readonly jobs: JobHeap;
  /** The one that goes first. */
  first: WaitingJob;
  /** It fits no cluster, as far as clusters have not changed since: only those that have are looked at for it. */
  settled: boolean;
  /** The queue held it back when its books were at this version. */
  heldAt: number;
}

/** Settled classes that may go to the same clusters and nodes, and differ in how much they ask for. */
interface Bin {
  /** Stands for all of them. */
  readonly candidate: Candidate;
  readonly classes: AsksIndex<WaitingClass>;
}

export interface QueueLine {
  readonly name: string;
  /** Classes that must be looked at with every cluster, in the order in which they go. */
  readonly pending: WaitingClass[];
  readonly bins: Map<string, Bin>;
  /** Of the queue's books. */
  version: number;
  jobs: number;
}

/** Those that their queue holds back, of which not all are looked at. */
const MAX_PENDING_HEADS = 16;

/**
 * The Jobs that wait, by queue and by class. A class is looked at with every cluster once. If it fits none it is settled, and
 * filed by what it asks for, so that a cluster with new room finds those whom it can help without asking the others.
 */
export class WaitingLine {
  readonly numbers = new ResourceNumbers();
  readonly #queues = new Map<string, QueueLine>();
  readonly #classes = new Map<string, WaitingClass>();
  readonly #jobs = new Map<HubUid, { job: WaitingJob; group: WaitingClass }>();
  readonly #byNamespace = new Map<string, number>();

  get size(): number {
    return this.#jobs.size;
  }

  queues(): Iterable<QueueLine> {
    return this.#queues.values();
  }

  queue(name: string): QueueLine | undefined {
    return this.#queues.get(name);
  }

  classes(): Iterable<WaitingClass> {
    return this.#classes.values();
  }

  classOf(uid: HubUid): WaitingClass | undefined {
    return this.#jobs.get(uid)?.group;
  }

  classNamed(key: string): WaitingClass | undefined {
    return this.#classes.get(key);
  }

  /** Of one queue: classes of which each goes before some others, the very first among them. */
  *heads(queue: string): Generator<WaitingClass> {
    const line = this.#queues.get(queue);
    if (line === undefined) return;
    yield* line.pending.slice(0, MAX_PENDING_HEADS);
    for (const { classes } of line.bins.values()) yield* classes.heads();
  }

  /** How many classes the Jobs of a namespace make. */
  classesIn(namespace: string): number {
    return this.#byNamespace.get(namespace) ?? 0;
  }

  /** Adds the Job, or moves it when its class or its place in the order changed. */
  put(job: WaitingJob, key: string, queue: string, candidate: Candidate): void {
    const before = this.#jobs.get(job.uid);
    if (before?.group.key === key && before.job.priority === job.priority && before.job.since === job.since) return;
    this.remove(job.uid);
    const known = this.#classes.get(key);
    const group = known ?? this.#newClass(job, key, queue, candidate);
    this.#jobs.set(job.uid, { job, group });
    this.#lineOf(queue).jobs++;
    group.jobs.put(job);
    if (known !== undefined) this.#reorder(group);
  }

  remove(uid: HubUid): void {
    const entry = this.#jobs.get(uid);
    if (entry === undefined) return;
    const { group } = entry;
    this.#jobs.delete(uid);
    group.jobs.remove(uid);
    const line = this.#lineOf(group.queue);
    line.jobs--;
    if (group.jobs.size > 0) this.#reorder(group);
    else {
      this.#takeOut(line, group);
      this.#classes.delete(group.key);
      this.#countClass(group.candidate.namespace, -1);
    }
    if (line.jobs === 0) this.#queues.delete(line.name);
  }

  /** It was looked at with every cluster, and fits none. */
  settle(group: WaitingClass): void {
    if (group.settled) return;
    const line = this.#lineOf(group.queue);
    this.#takeOut(line, group);
    group.settled = true;
    this.#putIn(line, group);
  }

  /** It has to be looked at with every cluster again. */
  unsettle(group: WaitingClass): void {
    if (!group.settled) return;
    const line = this.#lineOf(group.queue);
    this.#takeOut(line, group);
    group.settled = false;
    this.#putIn(line, group);
  }

  /** Of one queue, or of all. */
  unsettleAll(queue?: string): void {
    for (const group of this.#classes.values()) if (queue === undefined || group.queue === queue) this.unsettle(group);
  }

  #newClass(first: WaitingJob, key: string, queue: string, candidate: Candidate): WaitingClass {
    const asks = this.numbers.vectorOf(candidate.perPod);
    const bin = binOf(candidate);
    const group = { key, queue, candidate, asks, bin, jobs: new JobHeap(), first, settled: false, heldAt: -1 };
    this.#classes.set(key, group);
    this.#countClass(candidate.namespace, 1);
    this.#putIn(this.#lineOf(queue), group);
    return group;
  }

  #countClass(namespace: string, more: number): void {
    const classes = this.classesIn(namespace) + more;
    if (classes === 0) this.#byNamespace.delete(namespace);
    else this.#byNamespace.set(namespace, classes);
  }

  #lineOf(name: string): QueueLine {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const line = { name, pending: [], bins: new Map(), version: 0, jobs: 0 };
    this.#queues.set(name, line);
    return line;
  }

  /** Its first Job may be another one now. */
  #reorder(group: WaitingClass): void {
    const { head } = group.jobs;
    if (head === undefined || head === group.first) return;
    const line = this.#lineOf(group.queue);
    this.#takeOut(line, group);
    group.first = head;
    this.#putIn(line, group);
  }

  #putIn(line: QueueLine, group: WaitingClass): void {
    const { settled, candidate } = group;
    if (!settled) {
      line.pending.splice(placeIn(line.pending, group), 0, group);
      return;
    }
    const bin = line.bins.get(group.bin) ?? { candidate, classes: new AsksIndex<WaitingClass>() };
    line.bins.set(group.bin, bin);
    bin.classes.add(group);
  }

  #takeOut(line: QueueLine, group: WaitingClass): void {
    if (!group.settled) {
      line.pending.splice(placeIn(line.pending, group), 1);
      return;
    }
    const bin = line.bins.get(group.bin);
    bin?.classes.delete(group);
    if (bin?.classes.isEmpty) line.bins.delete(group.bin);
  }
}

const binOf = ({ namespace, clusterSelector, where, gang, refusedBy }: Candidate): string =>
  JSON.stringify([namespace, clusterSelector, where, gang, [...refusedBy.keys()]]);
