import type { JobShape } from "../trace/trace-job.ts";

/** Averages over a stretch of time, by resource and by queue in the recorder's order. */
export interface Stretch {
  readonly fromMs: number;
  readonly ms: number;
  /** Taken by pods on their nodes. */
  readonly used: readonly number[];
  /** Asked for by all Jobs that have come and are not done. */
  readonly demand: readonly number[];
  readonly queues: readonly QueueStretch[];
}

interface QueueStretch {
  /** Jobs that wait for a cluster. */
  readonly waiting: number;
  /** Of the resource of which its Jobs hold the largest part of the fleet, that part. */
  readonly share: number;
  /** How much of the time some of its Jobs waited while those of another queue did, too. */
  readonly competing: number;
  /** In that time: its share, and what it should have been by weight of what those queues held together, if it wanted as much. */
  readonly got: number;
  readonly due: number;
}

interface Sums {
  ms: number;
  readonly used: Float64Array;
  readonly demand: Float64Array;
  readonly queues: Float64Array;
}

const QUEUE_FIELDS = 5;
/** More stretches than a picture has columns are joined. */
const MOST_STRETCHES = 960;

export interface RecorderOptions {
  readonly resources: readonly string[];
  /** What the whole fleet has of each. */
  readonly capacity: readonly number[];
  readonly queues: readonly { readonly name: string; readonly weight: number }[];
}

/** Adds up who holds and waits for what, over time, in a bounded number of stretches. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #used: Float64Array;
  readonly #demand: Float64Array;
  readonly #waiting: Float64Array;
  /** By queue and resource: of Jobs that have a cluster, and of those together with Jobs that wait for one. */
  readonly #held: Float64Array[];
  readonly #wanted: Float64Array[];
  readonly #amounts = new WeakMap<JobShape, readonly (readonly [number, number])[]>();
  #stretches: Sums[] = [];
  #width = 1_000;
  #now = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { resources, queues } = options;
    this.#numbers = new Map(queues.map(({ name }, i) => [name, i]));
    this.#used = new Float64Array(resources.length);
    this.#demand = new Float64Array(resources.length);
    this.#waiting = new Float64Array(queues.length);
    this.#held = queues.map(() => new Float64Array(resources.length));
    this.#wanted = queues.map(() => new Float64Array(resources.length));
  }

  /** A Job has come, or is done. */
  demand(now: number, shape: JobShape, sign: 1 | -1): void {
    this.#advance(now);
    this.#add(this.#demand, shape, sign * shape.pods);
  }

  waits(now: number, shape: JobShape, sign: 1 | -1): void {
    this.#advance(now);
    const i = this.#numbers.get(shape.queue) ?? 0;
    this.#waiting[i] = (this.#waiting[i] ?? 0) + sign;
    this.#want(shape, sign);
  }

  /** A Job was given to a cluster, or left it. */
  holds(now: number, shape: JobShape, sign: 1 | -1): void {
    this.#advance(now);
    const held = this.#held[this.#numbers.get(shape.queue) ?? 0];
    if (held !== undefined) this.#add(held, shape, sign * shape.pods);
    this.#want(shape, sign);
  }

  #want(shape: JobShape, sign: 1 | -1): void {
    const wanted = this.#wanted[this.#numbers.get(shape.queue) ?? 0];
    if (wanted !== undefined) this.#add(wanted, shape, sign * shape.pods);
  }

  pod(now: number, shape: JobShape, sign: 1 | -1): void {
    this.#advance(now);
    this.#add(this.#used, shape, sign);
  }

  stretches(now: number): Stretch[] {
    this.#advance(now);
    return this.#stretches.map(({ ms, used, demand, queues }, i) => {
      const mean = (sum: number | undefined): number => (ms === 0 ? 0 : (sum ?? 0) / ms);
      return {
        fromMs: i * this.#width,
        ms,
        used: [...used].map(mean),
        demand: [...demand].map(mean),
        queues: this.#options.queues.map((_, q) => {
          const at = q * QUEUE_FIELDS;
          const competing = queues[at + 2] ?? 0;
          const whileCompeting = (sum: number | undefined): number => (competing === 0 ? 0 : (sum ?? 0) / competing);
          return {
            waiting: mean(queues[at]),
            share: mean(queues[at + 1]),
            competing: mean(competing),
            got: whileCompeting(queues[at + 3]),
            due: whileCompeting(queues[at + 4]),
          };
        }),
      };
    });
  }

  #add(sums: Float64Array, shape: JobShape, factor: number): void {
    for (const [i, amount] of this.#amountsOf(shape)) sums[i] = (sums[i] ?? 0) + factor * amount;
  }

  #amountsOf(shape: JobShape): readonly (readonly [number, number])[] {
    let amounts = this.#amounts.get(shape);
    if (amounts === undefined) {
      const { resources } = this.#options;
      amounts = [...shape.perPod].map(([resource, amount]) => [resources.indexOf(resource), amount] as const);
      amounts = amounts.filter(([i]) => i >= 0);
      this.#amounts.set(shape, amounts);
    }
    return amounts;
  }

  /** What was true since the last change goes into the stretches that it lasted through. */
  #advance(now: number): void {
    while (this.#now < now) {
      let at = Math.floor(this.#now / this.#width);
      if (at >= MOST_STRETCHES) {
        this.#widen();
        at = Math.floor(this.#now / this.#width);
      }
      const until = Math.min(now, (at + 1) * this.#width);
      for (let i = this.#stretches.length; i <= at; i++) this.#stretches.push(this.#empty());
      const stretch = this.#stretches[at];
      if (stretch !== undefined) this.#addTo(stretch, until - this.#now);
      this.#now = until;
    }
  }

  #addTo(stretch: Sums, ms: number): void {
    stretch.ms += ms;
    addScaled(stretch.used, this.#used, ms);
    addScaled(stretch.demand, this.#demand, ms);
    const { queues } = this.#options;
    const shares = this.#held.map((held) => this.#shareOf(held));
    const rivals: Rival[] = [];
    for (const [i, { weight }] of queues.entries()) {
      const wanted = this.#wanted[i];
      if ((this.#waiting[i] ?? 0) > 0 && wanted !== undefined) rivals.push({ i, weight, wants: this.#shareOf(wanted) });
    }
    const dues =
      rivals.length > 1
        ? fairParts(
            rivals,
            rivals.reduce((sum, { i }) => sum + (shares[i] ?? 0), 0),
          )
        : NOBODY;
    for (const i of queues.keys()) {
      const [share, due] = [shares[i] ?? 0, dues.get(i)];
      const fields = [this.#waiting[i] ?? 0, share, due === undefined ? 0 : 1, due === undefined ? 0 : share, due ?? 0];
      for (const [f, value] of fields.entries())
        stretch.queues[i * QUEUE_FIELDS + f] = (stretch.queues[i * QUEUE_FIELDS + f] ?? 0) + ms * value;
    }
  }

  #shareOf(held: Float64Array): number {
    let largest = 0;
    for (const [i, whole] of this.#options.capacity.entries())
      if (whole > 0) largest = Math.max(largest, (held[i] ?? 0) / whole);
    return largest;
  }

  #empty(): Sums {
    const { resources, queues } = this.#options;
    const figures = (length: number): Float64Array => new Float64Array(length);
    return {
      ms: 0,
      used: figures(resources.length),
      demand: figures(resources.length),
      queues: figures(queues.length * QUEUE_FIELDS),
    };
  }

  #widen(): void {
    this.#width *= 2;
    const joined: Sums[] = [];
    for (const [i, stretch] of this.#stretches.entries()) {
      const into = joined[i >> 1];
      if (into === undefined) {
        joined.push(stretch);
        continue;
      }
      into.ms += stretch.ms;
      addScaled(into.used, stretch.used, 1);
      addScaled(into.demand, stretch.demand, 1);
      addScaled(into.queues, stretch.queues, 1);
    }
    this.#stretches = joined;
  }
}

interface Rival {
  readonly i: number;
  readonly weight: number;
  /** The share that it would have if none of its Jobs waited. */
  readonly wants: number;
}

const NOBODY: ReadonlyMap<number, number> = new Map();

/** Deals what rivals hold together by weight; nobody is owed more than it wants, and what it leaves goes to the others. */
export function fairParts(rivals: readonly Rival[], all: number): Map<number, number> {
  const parts = new Map<number, number>();
  let [left, weights] = [all, rivals.reduce((sum, { weight }) => sum + weight, 0)];
  for (const { i, weight, wants } of [...rivals].sort(
    (one, other) => one.wants / one.weight - other.wants / other.weight,
  )) {
    const part = Math.min(wants, (left * weight) / weights);
    parts.set(i, part);
    left -= part;
    weights -= weight;
  }
  return parts;
}

function addScaled(sums: Float64Array, amounts: Float64Array, factor: number): void {
  for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] ?? 0) + factor * (amounts[i] ?? 0);
}
