import type { HubUid } from "@jobferry/shared/protocol/names.ts";

/** A Job that waits for a cluster. */
export interface WaitingJob {
  readonly uid: HubUid;
  readonly priority: number;
  /** First come, first served within one priority: creation time, which is in whole seconds, then the order of arrival. */
  readonly since: number;
  readonly arrival: number;
}

/** Holes that are not worth a sweep. */
const SWEEP_SLACK = 64;

/** More important first, then longer waiting, then by arrival; by UID so that the order is total. */
export function goesBefore(one: WaitingJob, other: WaitingJob): boolean {
  if (one.priority !== other.priority) return one.priority > other.priority;
  if (one.since !== other.since) return one.since < other.since;
  if (one.arrival !== other.arrival) return one.arrival < other.arrival;
  return one.uid < other.uid;
}

/** Jobs in the order in which they go. A removal leaves a hole, so that it costs no scan; holes are swept when they outnumber the Jobs. */
export class JobHeap {
  #heap: WaitingJob[] = [];
  readonly #live = new Map<HubUid, WaitingJob>();

  get size(): number {
    return this.#live.size;
  }

  /** Places held in memory, holes included. */
  get slots(): number {
    return this.#heap.length;
  }

  put(job: WaitingJob): void {
    this.#live.set(job.uid, job);
    push(this.#heap, job);
  }

  remove(uid: HubUid): void {
    if (!this.#live.delete(uid) || this.#heap.length <= 2 * this.#live.size + SWEEP_SLACK) return;
    this.#heap = [];
    for (const job of this.#live.values()) push(this.#heap, job);
  }

  get head(): WaitingJob | undefined {
    for (let head = this.#heap[0]; head !== undefined; head = this.#heap[0]) {
      if (this.#live.get(head.uid) === head) return head;
      pop(this.#heap);
    }
    return undefined;
  }

  uids(): Iterable<HubUid> {
    return this.#live.keys();
  }
}

function push(heap: WaitingJob[], job: WaitingJob): void {
  heap.push(job);
  let child = heap.length - 1;
  while (child > 0) {
    const parent = (child - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !goesBefore(job, above)) break;
    heap[child] = above;
    child = parent;
  }
  heap[child] = job;
}

function pop(heap: WaitingJob[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let parent = 0;
  for (;;) {
    let child = 2 * parent + 1;
    const left = heap[child];
    if (left === undefined) break;
    const right = heap[child + 1];
    if (right !== undefined && goesBefore(right, left)) child++;
    const smaller = heap[child];
    if (smaller === undefined || !goesBefore(smaller, last)) break;
    heap[parent] = smaller;
    parent = child;
  }
  heap[parent] = last;
}
