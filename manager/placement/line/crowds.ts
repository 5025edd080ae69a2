import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import { JobHeap, type WaitingJob } from "./job-heap.ts";

/** Jobs of one namespace that nobody looks at yet. */
export interface Crowd {
  readonly crowded: string;
  readonly jobs: JobHeap;
}

export interface CrowdsOptions {
  /** Classes of waiting Jobs that one namespace may make. */
  readonly most?: number | undefined;
  classesIn(namespace: string): number;
  /** The Job may get in. */
  enqueue(uid: HubUid): void;
}

/** More kinds than people have who write their Jobs by hand or in a loop; with more, one namespace could keep the manager busy. */
const MOST = 1_000;

/**
 * Each class of waiting Jobs costs time and memory, and whoever submits Jobs decides how many there are. Beyond a number per
 * namespace, Jobs that would make another class wait here, in their order, until one of the namespace's classes is gone.
 */
export class Crowds {
  readonly #options: CrowdsOptions;
  readonly #most: number;
  readonly #crowds = new Map<string, Crowd>();
  readonly #jobs = new Map<HubUid, { crowd: Crowd; queue: string }>();
  readonly #byQueue = new Map<string, number>();

  constructor(options: CrowdsOptions) {
    this.#options = options;
    this.#most = options.most ?? MOST;
  }

  all(): Iterable<Crowd> {
    return this.#crowds.values();
  }

  get size(): number {
    return this.#jobs.size;
  }

  of(uid: HubUid): Crowd | undefined {
    return this.#jobs.get(uid)?.crowd;
  }

  byQueue(): Iterable<[queue: string, jobs: number]> {
    return this.#byQueue;
  }

  /** Whether a Job that makes another class has to wait here: there are enough, or others were here first. */
  isFull(uid: HubUid, namespace: string): boolean {
    const first = this.#first(namespace) ?? uid;
    return first !== uid || this.#options.classesIn(namespace) >= this.#most;
  }

  /** A class of this namespace may be gone. */
  letIn(namespace: string): void {
    const next = this.#first(namespace);
    if (next !== undefined && !this.isFull(next, namespace)) this.#options.enqueue(next);
  }

  reason({ crowded }: Crowd): string {
    return `waiting: namespace ${crowded} has ${this.#most} kinds of waiting Jobs (by queue, requests, selectors and refusals), and no more are looked at until one of them is gone`;
  }

  join(job: WaitingJob, namespace: string, queue: string): void {
    this.leave(job.uid);
    const crowd = this.#crowds.get(namespace) ?? { crowded: namespace, jobs: new JobHeap() };
    this.#crowds.set(namespace, crowd);
    crowd.jobs.put(job);
    this.#jobs.set(job.uid, { crowd, queue });
    this.#count(queue, 1);
  }

  leave(uid: HubUid): void {
    const entry = this.#jobs.get(uid);
    if (entry === undefined) return;
    const { crowd, queue } = entry;
    this.#jobs.delete(uid);
    crowd.jobs.remove(uid);
    if (crowd.jobs.size === 0) this.#crowds.delete(crowd.crowded);
    this.#count(queue, -1);
  }

  #first(namespace: string): HubUid | undefined {
    return this.#crowds.get(namespace)?.jobs.head?.uid;
  }

  #count(queue: string, more: number): void {
    const jobs = (this.#byQueue.get(queue) ?? 0) + more;
    if (jobs === 0) this.#byQueue.delete(queue);
    else this.#byQueue.set(queue, jobs);
  }
}
