import type { HubUid } from "@jobferry/shared/protocol/names.ts";

/**
 * The Jobs that wait for a cluster, in the order in which they may go.
 *
 * Jobs that would be answered alike (same queue, same selectors, same requests, same refusals) stand in one lane. When the
 * head of a lane fits nowhere nobody behind it does, so the whole lane sleeps until something changes: a placement costs
 * one step per lane, however many Jobs wait in it.
 */

export interface WaitingJob {
  readonly uid: HubUid;
  readonly queue: string;
  /** Jobs with equal lanes get equal answers from placement. */
  readonly lane: string;
  readonly priority: number;
  /** First come, first served within one priority: creation time, which is in whole seconds, then the order of arrival. */
  readonly since: number;
  readonly arrival: number;
}

interface Lane<T> {
  heap: T[];
  /** Jobs that really wait here; the heap may hold holes besides. */
  live: number;
  asleep: boolean;
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

export class WaitingLine<T extends WaitingJob = WaitingJob> {
  readonly #lanes = new Map<string, Lane<T>>();
  readonly #jobs = new Map<HubUid, T>();

  get size(): number {
    return this.#jobs.size;
  }

  countByQueue(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { queue } of this.#jobs.values()) counts.set(queue, (counts.get(queue) ?? 0) + 1);
    return counts;
  }

  /** Places held in memory, holes included. */
  get slots(): number {
    let slots = 0;
    for (const lane of this.#lanes.values()) slots += lane.heap.length;
    return slots;
  }

  /** Adds the Job, or moves it when its lane or priority changed. A lane that gets someone new wakes up only if it was empty. */
  put(job: T): void {
    const before = this.#jobs.get(job.uid);
    if (
      before !== undefined &&
      before.lane === job.lane &&
      before.priority === job.priority &&
      before.since === job.since
    )
      return;
    this.remove(job.uid);
    this.#jobs.set(job.uid, job);
    const lane = this.#lanes.get(job.lane);
    if (lane === undefined) {
      this.#lanes.set(job.lane, { heap: [job], live: 1, asleep: false });
    } else {
      push(lane.heap, job);
      lane.live++;
    }
  }

  /** Leaves a hole in the heap: a removal must not cost a scan of the lane. Holes are swept when they outnumber the Jobs. */
  remove(uid: HubUid): void {
    const job = this.#jobs.get(uid);
    if (job === undefined) return;
    this.#jobs.delete(uid);
    const lane = this.#lanes.get(job.lane);
    if (lane === undefined) return;
    lane.live--;
    if (lane.live === 0) this.#lanes.delete(job.lane);
    else if (lane.heap.length > 2 * lane.live + SWEEP_SLACK) this.#sweep(lane);
  }

  has(uid: HubUid): boolean {
    return this.#jobs.has(uid);
  }

  /** The next Job to try, over all lanes that are awake: of the queue with the least share, its most important one. */
  next(shareOf: (queue: string) => number = () => 0): T | undefined {
    let best: T | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) {
      if (lane.asleep) continue;
      const head = this.#head(lane);
      if (head === undefined) continue;
      const share = shareOf(head.queue);
      if (best !== undefined && (share > least || (share === least && !goesBefore(head, best)))) continue;
      best = head;
      least = share;
    }
    return best;
  }

  /** Its head fits nowhere now: the lane is not asked again before `wake`. */
  sleep(lane: string): void {
    const found = this.#lanes.get(lane);
    if (found !== undefined) found.asleep = true;
  }

  /** Something changed that may help: a cluster, a queue, room. */
  wake(): void {
    for (const lane of this.#lanes.values()) lane.asleep = false;
  }

  /** The Jobs behind a sleeping lane, to be told why they wait. */
  *inLane(lane: string): Generator<T> {
    for (const job of this.#lanes.get(lane)?.heap ?? []) if (this.#jobs.get(job.uid) === job) yield job;
  }

  #sweep(lane: Lane<T>): void {
    const waiting = lane.heap.filter((job) => this.#jobs.get(job.uid) === job);
    lane.heap = [];
    for (const job of waiting) push(lane.heap, job);
  }

  #head(lane: Lane<T>): T | undefined {
    for (let head = lane.heap[0]; head !== undefined; head = lane.heap[0]) {
      if (this.#jobs.get(head.uid) === head) return head;
      pop(lane.heap);
    }
    return undefined;
  }
}

function push<T extends WaitingJob>(heap: T[], job: T): void {
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

function pop<T extends WaitingJob>(heap: T[]): void {
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
