import { DEFAULT_QUEUE } from "@jobferry/shared/protocol/marks.ts";
import { type ClusterName, type HubUid, hubUid } from "@jobferry/shared/protocol/names.ts";
import { parseDuration } from "@jobferry/shared/runtime/duration.ts";
import { capacityOf, type Fleet } from "../fleet/fleet.ts";
import type { TraceJob } from "../trace/trace-job.ts";
import { Dispatcher } from "./dispatcher.ts";
import { EventClock } from "./event-clock.ts";
import { hubJobOf } from "./hub-job.ts";
import { Recorder, type Stretch } from "./recorder.ts";
import { type Mirror, SimulatedWorker } from "./worker.ts";

export interface SimulationOptions {
  readonly fleet: Fleet;
  /** In the order of their arrival. */
  readonly jobs: readonly TraceJob[];
  /** How often agents say what room there is; as the agents do by default. */
  readonly heartbeatMs?: number;
  /** From the decision to the pods on the worker, and from their end to the manager. */
  readonly messageMs?: number;
  /** Ends when the last Job has come, whatever still runs and waits. */
  readonly endsWithArrivals?: boolean;
  onProgress?(arrived: number, finished: number, simulatedMs: number): void;
  onPlaced?(job: TraceJob, atMs: number): void;
}

type Listeners = Pick<SimulationOptions, "onProgress" | "onPlaced">;

/** A Job given to a cluster on which its pods had no room when they came. */
export interface WrongPlacement {
  readonly job: TraceJob;
  readonly cluster: ClusterName;
  readonly atMs: number;
  readonly bound: number;
  /** Not even on empty nodes. */
  readonly never: boolean;
}

export interface Outcome {
  readonly resources: readonly string[];
  readonly capacity: readonly number[];
  readonly queues: readonly { readonly name: string; readonly weight: number }[];
  readonly stretches: readonly Stretch[];
  /** Of Jobs that were placed, by queue in that order: how long until then. */
  readonly waitsMs: readonly (readonly number[])[];
  readonly jobs: number;
  readonly finished: number;
  readonly neverPlaced: readonly TraceJob[];
  readonly placements: number;
  readonly wrong: readonly WrongPlacement[];
  readonly preemptions: number;
  /** Jobs that went to another cluster because their pods found no node on the first. */
  readonly moves: number;
  readonly lastArrivalMs: number;
  readonly endMs: number;
  /** Of this process, while it ran; and the part of it that placement took. */
  readonly cpuMs: number;
  readonly placementCpuMs: number;
  readonly elapsedMs: number;
}

/** An agent that has said the same twice has nothing to add: what was placed on its cluster is covered. */
const SAID_ENOUGH = 2;
/** With nothing that runs or comes, whoever is still waiting after this long waits for ever; with a budget, once its window has passed. */
const PATIENCE_MS = 15 * 60_000;
/** As often as an agent looks for pods without a node. */
const UNSCHEDULABLE_LOOK_MS = 30_000;
const PROGRESS_STEPS = 20_000;

interface Waiting {
  readonly job: TraceJob;
  mirror: Mirror | undefined;
  worker: SimulatedWorker | undefined;
  /** Pods that were done before it was moved. */
  done: number;
  placed: boolean;
}

interface Beat {
  readonly worker: SimulatedWorker;
  readonly offset: number;
  said: number;
  quiet: number;
  asleep: boolean;
}

/** Replays a trace on simulated clusters with the manager's own placement, on a clock that jumps. */
export class Simulation {
  readonly #options: Required<Omit<SimulationOptions, keyof Listeners>> & Listeners;
  readonly #clock = new EventClock();
  readonly #dispatcher: Dispatcher;
  readonly #recorder: Recorder;
  readonly #beats = new Map<ClusterName, Beat>();
  readonly #jobs = new Map<HubUid, Waiting>();
  readonly #queues: readonly { readonly name: string; readonly weight: number }[];
  readonly #waits: number[][];
  readonly #wrong: WrongPlacement[] = [];
  #arrived = 0;
  #finished = 0;
  #placements = 0;
  #preemptions = 0;
  #moves = 0;
  #running = 0;
  #lastChange = 0;

  constructor({ heartbeatMs = 5_000, messageMs = 500, endsWithArrivals = false, ...options }: SimulationOptions) {
    this.#options = { ...options, heartbeatMs, messageMs, endsWithArrivals };
    const { fleet } = options;
    const named = fleet.queues.map(({ metadata, spec }) => ({ name: metadata.name ?? "", weight: spec?.weight ?? 1 }));
    const isNamed = named.some(({ name }) => name === DEFAULT_QUEUE);
    this.#queues = isNamed ? named : [...named, { name: DEFAULT_QUEUE, weight: 1 }];
    this.#waits = this.#queues.map(() => []);
    const capacity = capacityOf(fleet);
    capacity.delete("pods");
    this.#recorder = new Recorder({
      resources: [...capacity.keys()],
      capacity: [...capacity.values()],
      queues: this.#queues,
    });
    this.#dispatcher = new Dispatcher({
      clock: this.#clock,
      queues: fleet.queues,
      namespaceLabels: fleet.namespaces,
      onPlaced: (uid, cluster) => this.#placed(uid, cluster),
      onDisplaced: (uid) => this.#displaced(uid),
    });
    for (const [i, { name, object, nodes, scoring }] of fleet.clusters.entries()) {
      this.#dispatcher.addCluster(name, object);
      const worker = new SimulatedWorker({
        name,
        kinds: nodes,
        scoring,
        clock: this.#clock,
        managerKey: this.#dispatcher.managerKey,
        onPod: (shape, sign) => {
          this.#recorder.pod(this.#now, shape, sign);
          this.#wake(name);
        },
        onFinished: (mirror) => this.#ended(mirror),
      });
      const offset = Math.floor((i * heartbeatMs) / fleet.clusters.length);
      this.#beats.set(name, { worker, offset, said: -1, quiet: 0, asleep: true });
    }
  }

  run(): Outcome {
    const [cpuBefore, began] = [process.cpuUsage(), performance.now()];
    for (const beat of this.#beats.values()) this.#beat(beat);
    this.#nextArrival();
    for (let steps = 1; !this.#isOver() && this.#clock.step(); steps++) {
      this.#dispatcher.answer();
      if (steps % PROGRESS_STEPS === 0) this.#options.onProgress?.(this.#arrived, this.#finished, this.#now);
    }
    this.#dispatcher.stop();
    const elapsedMs = performance.now() - began;
    const cpu = process.cpuUsage(cpuBefore);
    const cpuMs = (cpu.user + cpu.system) / 1000;
    return this.#outcome(cpuMs, elapsedMs);
  }

  get #now(): number {
    return this.#clock.monotonic();
  }

  #isOver(): boolean {
    if (this.#arrived < this.#options.jobs.length) return false;
    if (this.#options.endsWithArrivals) return true;
    if (this.#running > 0) return false;
    return this.#jobs.size === 0 || this.#now - this.#lastChange > this.#patienceMs;
  }

  get #patienceMs(): number {
    const windows = this.#options.fleet.queues.map(({ spec }) => parseDuration(spec?.budget?.window ?? "") ?? 0);
    return PATIENCE_MS + Math.max(0, ...windows);
  }

  #nextArrival(): void {
    const job = this.#options.jobs[this.#arrived];
    if (job === undefined) return;
    this.#clock.after(job.arrivalMs - this.#now, () => {
      const number = ++this.#arrived;
      const uid = hubUid.parse(`00000000-0000-4000-8000-${String(number).padStart(12, "0")}`);
      this.#jobs.set(uid, { job, mirror: undefined, worker: undefined, done: 0, placed: false });
      this.#recorder.demand(this.#now, job.shape, 1);
      this.#recorder.waits(this.#now, job.shape, 1);
      this.#lastChange = this.#now;
      this.#wakeAll();
      this.#dispatcher.submit(uid, hubJobOf(uid, job, this.#clock.now(), number));
      this.#nextArrival();
    });
  }

  #placed(uid: HubUid, cluster: ClusterName): void {
    const known = this.#jobs.get(uid);
    const worker = this.#beats.get(cluster)?.worker;
    if (known === undefined || worker === undefined) throw new Error(`${uid} was placed on ${cluster}: not known here`);
    const { job } = known;
    this.#placements++;
    this.#running++;
    this.#lastChange = this.#now;
    if (!known.placed) {
      const queue = this.#queues.findIndex(({ name }) => name === job.shape.queue);
      this.#waits[queue]?.push(this.#now - job.arrivalMs);
    }
    known.placed = true;
    this.#options.onPlaced?.(job, this.#now);
    this.#recorder.waits(this.#now, job.shape, -1);
    this.#recorder.holds(this.#now, job.shape, 1);
    this.#clock.after(this.#options.messageMs, () => {
      const { mirror, bound } = worker.deliver(uid, job, known.done);
      known.mirror = mirror;
      known.worker = worker;
      this.#dispatcher.started(uid, bound);
      const { shape } = job;
      if (bound >= (shape.gang ? shape.pods - known.done : 1)) return;
      this.#wrong.push({ job, cluster, atMs: this.#now, bound, never: !worker.couldEver(shape) });
      this.#clock.after(this.#dispatcher.unschedulableAfterMs(uid), () => this.#secondThoughts(mirror, worker));
    });
  }

  /** Its pods have found no node. It moves if another cluster can take it, and else is looked at again. */
  #secondThoughts(mirror: Mirror, worker: SimulatedWorker): void {
    const { uid, job } = mirror;
    const known = this.#jobs.get(uid);
    const isStuck = mirror.done === known?.done && (job.shape.gang ? mirror.pending > 0 : mirror.running.size === 0);
    if (known?.mirror !== mirror || !isStuck) return;
    this.#wakeAll();
    if (!this.#dispatcher.fitsElsewhere(uid, worker.name)) {
      this.#clock.after(UNSCHEDULABLE_LOOK_MS, () => this.#secondThoughts(mirror, worker));
      return;
    }
    this.#moves++;
    this.#withdraw(known, () => this.#dispatcher.moved(uid, worker.name, known.done));
  }

  /** Its pods are stopped when the message has come; that they are, the manager hears as long after. */
  #displaced(uid: HubUid): void {
    const known = this.#jobs.get(uid);
    if (known === undefined) return;
    this.#preemptions++;
    this.#withdraw(known, () => this.#dispatcher.left(uid, known.done));
  }

  #withdraw(known: Waiting, then: () => void): void {
    this.#clock.after(this.#options.messageMs, () => {
      const { mirror, worker, job } = known;
      // Over before the message came.
      if (mirror === undefined || worker === undefined || mirror.done === job.shape.pods) return;
      worker.withdraw(mirror);
      known.mirror = undefined;
      known.done = mirror.done;
      this.#clock.after(this.#options.messageMs, () => {
        this.#running--;
        this.#recorder.holds(this.#now, job.shape, -1);
        this.#recorder.waits(this.#now, job.shape, 1);
        this.#wakeAll();
        then();
      });
    });
  }

  #ended({ uid, job }: Mirror): void {
    this.#recorder.demand(this.#now, job.shape, -1);
    this.#clock.after(this.#options.messageMs, () => {
      this.#finished++;
      this.#running--;
      this.#lastChange = this.#now;
      this.#recorder.holds(this.#now, job.shape, -1);
      this.#jobs.delete(uid);
      this.#dispatcher.finished(uid);
    });
  }

  /** A heartbeat. While nothing waits and nothing changes none is needed: what it would say was said. */
  #beat(beat: Beat): void {
    const { worker } = beat;
    if (worker.version === beat.said) beat.quiet++;
    else beat.quiet = 0;
    beat.said = worker.version;
    this.#dispatcher.heard(worker, beat.quiet <= SAID_ENOUGH);
    beat.asleep = beat.quiet > SAID_ENOUGH && this.#dispatcher.waiting === 0;
    if (beat.asleep) return;
    const { heartbeatMs } = this.#options;
    const next = Math.floor((this.#now - beat.offset) / heartbeatMs + 1) * heartbeatMs + beat.offset;
    this.#clock.after(Math.max(1, next - this.#now), () => this.#beat(beat));
  }

  #wakeAll(): void {
    for (const name of this.#beats.keys()) this.#wake(name);
  }

  /** Something may change: its agent has been heard all the time, and goes on. */
  #wake(name: ClusterName): void {
    const beat = this.#beats.get(name);
    if (beat?.asleep !== true) return;
    beat.asleep = false;
    this.#dispatcher.heard(beat.worker, false);
    const { heartbeatMs } = this.#options;
    const next = Math.floor((this.#now - beat.offset) / heartbeatMs + 1) * heartbeatMs + beat.offset;
    this.#clock.after(Math.max(1, next - this.#now), () => this.#beat(beat));
  }

  #outcome(cpuMs: number, elapsedMs: number): Outcome {
    const { jobs, fleet } = this.#options;
    const capacity = capacityOf(fleet);
    capacity.delete("pods");
    return {
      resources: [...capacity.keys()],
      capacity: [...capacity.values()],
      queues: this.#queues,
      stretches: this.#recorder.stretches(this.#now),
      waitsMs: this.#waits,
      jobs: jobs.length,
      finished: this.#finished,
      neverPlaced: [...this.#jobs.values()].filter(({ placed }) => !placed).map(({ job }) => job),
      placements: this.#placements,
      wrong: this.#wrong,
      preemptions: this.#preemptions,
      moves: this.#moves,
      lastArrivalMs: jobs.at(-1)?.arrivalMs ?? 0,
      endMs: this.#now,
      cpuMs,
      placementCpuMs: elapsedMs === 0 ? 0 : (this.#dispatcher.placementMs / elapsedMs) * cpuMs,
      elapsedMs,
    };
  }
}
