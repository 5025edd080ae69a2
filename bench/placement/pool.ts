/**
 * What the twelve clusters are compared with: all nodes as one pool, whose scheduler knows of every node at every moment and binds
 * in the same moment. No reports, no messages, no placement code: nothing of ours that it could be worse by. The policy is the same:
 * the queue with the smallest share first, then priority, then age; whoever has room goes.
 */
import { EventClock } from "@jobferry/cli/simulate/engine/event-clock.ts";
import { NodeScheduler, type SimulatedNode } from "@jobferry/cli/simulate/engine/node-scheduler.ts";
import { Recorder } from "@jobferry/cli/simulate/engine/recorder.ts";
import type { Outcome } from "@jobferry/cli/simulate/engine/simulation.ts";
import { capacityOf, type Fleet, type Scoring } from "@jobferry/cli/simulate/fleet/fleet.ts";
import type { JobShape, TraceJob } from "@jobferry/cli/simulate/trace/trace-job.ts";

/** Jobs of one pod each, as the replayed ones are. Ends with the last arrival. */
export class Pool {
  readonly #clock = new EventClock();
  readonly #scheduler: NodeScheduler;
  readonly #recorder: Recorder;
  readonly #jobs: readonly TraceJob[];
  readonly #capacity: ReadonlyMap<string, number>;
  readonly #queues: readonly { readonly name: string; readonly weight: number }[];
  /** Waiting Jobs by shape, the oldest first. Whoever waits has room on no node. */
  readonly #waiting = new Map<JobShape, TraceJob[]>();
  readonly #held = new Map<string, Map<string, number>>();
  readonly #waits: number[][];
  #arrived = 0;
  #placements = 0;
  #finished = 0;

  constructor(fleet: Fleet, jobs: readonly TraceJob[], scoring: Scoring) {
    const kinds = fleet.clusters.flatMap(({ nodes }) => nodes);
    this.#scheduler = new NodeScheduler("pool", kinds, scoring);
    this.#jobs = jobs;
    this.#queues = fleet.queues.map(({ metadata, spec }) => ({ name: metadata.name ?? "", weight: spec?.weight ?? 1 }));
    this.#waits = this.#queues.map(() => []);
    const capacity = capacityOf(fleet);
    capacity.delete("pods");
    this.#capacity = capacity;
    const resources = [...capacity.keys()];
    this.#recorder = new Recorder({ resources, capacity: [...capacity.values()], queues: this.#queues });
  }

  run(): Outcome {
    const [cpuBefore, began] = [process.cpuUsage(), performance.now()];
    this.#nextArrival();
    while (this.#arrived < this.#jobs.length && this.#clock.step());
    const { user, system } = process.cpuUsage(cpuBefore);
    const endMs = this.#clock.monotonic();
    return {
      resources: [...this.#capacity.keys()],
      capacity: [...this.#capacity.values()],
      queues: this.#queues,
      stretches: this.#recorder.stretches(endMs),
      waitsMs: this.#waits,
      jobs: this.#jobs.length,
      finished: this.#finished,
      neverPlaced: [...this.#waiting.values()].flat(),
      placements: this.#placements,
      wrong: [],
      preemptions: 0,
      moves: 0,
      lastArrivalMs: this.#jobs.at(-1)?.arrivalMs ?? 0,
      endMs,
      cpuMs: (user + system) / 1000,
      placementCpuMs: 0,
      elapsedMs: performance.now() - began,
    };
  }

  get #now(): number {
    return this.#clock.monotonic();
  }

  #nextArrival(): void {
    const job = this.#jobs[this.#arrived];
    if (job === undefined) return;
    this.#clock.after(job.arrivalMs - this.#now, () => {
      this.#arrived++;
      const { shape } = job;
      this.#recorder.demand(this.#now, shape, 1);
      this.#recorder.waits(this.#now, shape, 1);
      const alike = this.#waiting.get(shape);
      const node = alike === undefined ? this.#scheduler.bind(shape) : undefined;
      if (node !== undefined) this.#start(job, node);
      else if (alike === undefined) this.#waiting.set(shape, [job]);
      else alike.push(job);
      this.#nextArrival();
    });
  }

  #start(job: TraceJob, node: SimulatedNode): void {
    const { shape } = job;
    this.#placements++;
    this.#waits[this.#queues.findIndex(({ name }) => name === shape.queue)]?.push(this.#now - job.arrivalMs);
    this.#hold(shape, 1);
    this.#recorder.waits(this.#now, shape, -1);
    this.#recorder.holds(this.#now, shape, 1);
    this.#recorder.pod(this.#now, shape, 1);
    this.#clock.after(job.runMs, () => {
      this.#finished++;
      this.#scheduler.release(node, shape);
      this.#hold(shape, -1);
      this.#recorder.pod(this.#now, shape, -1);
      this.#recorder.holds(this.#now, shape, -1);
      this.#recorder.demand(this.#now, shape, -1);
      this.#fill(node);
    });
  }

  /** Only this node has more room than before. */
  #fill(node: SimulatedNode): void {
    for (;;) {
      let best: { shape: JobShape; share: number; since: number } | undefined;
      for (const [shape, [oldest]] of this.#waiting) {
        if (oldest === undefined || !this.#scheduler.fitsOn(node, shape)) continue;
        const found = { shape, share: this.#shareOf(shape.queue), since: oldest.arrivalMs };
        if (best === undefined || isFirst(found, best)) best = found;
      }
      if (best === undefined) return;
      const alike = this.#waiting.get(best.shape) ?? [];
      const job = alike.shift();
      if (alike.length === 0) this.#waiting.delete(best.shape);
      if (job === undefined) return;
      this.#scheduler.bindTo(node, best.shape);
      this.#start(job, node);
    }
  }

  #hold({ queue, perPod }: JobShape, sign: 1 | -1): void {
    const held = this.#held.get(queue) ?? new Map<string, number>();
    this.#held.set(queue, held);
    for (const [resource, amount] of perPod) held.set(resource, (held.get(resource) ?? 0) + sign * amount);
  }

  #shareOf(queue: string): number {
    let most = 0;
    for (const [resource, amount] of this.#held.get(queue) ?? [])
      most = Math.max(most, amount / (this.#capacity.get(resource) ?? Number.POSITIVE_INFINITY));
    return most;
  }
}

const isFirst = (one: { shape: JobShape; share: number; since: number }, other: typeof one): boolean =>
  one.share !== other.share
    ? one.share < other.share
    : one.shape.priority !== other.shape.priority
      ? one.shape.priority > other.shape.priority
      : one.since < other.since;
