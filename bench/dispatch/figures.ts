/** What is measured, and how many values become one figure. */
import type { PartShare } from "./profile.ts";
import type { Sizes } from "./sizes.ts";

/** Requests that change something, by what they change: `PATCH jobs`, `PUT jobs/status`, `POST pods/binding`, ... */
export type Writes = Readonly<Record<string, number>>;

/** CPU seconds used, and resident memory afterwards. */
export interface Use {
  readonly cpuSeconds: number;
  readonly residentMiB: number;
}

/** By part of the fleet: `manager`, `agents`, `redis`, `hub`, `workers`, `kubelets`. */
export type Uses = Readonly<Record<string, Use>>;

/** What some Jobs cost, from the first create until nothing is written any more. */
export interface Cost {
  readonly jobs: number;
  /** From the first create to the last Complete. */
  readonly seconds: number;
  readonly hubWrites: Writes;
  readonly workerWrites: Writes;
  readonly uses: Uses;
}

export interface Sequence extends Cost {
  readonly toPodMs: readonly number[];
  readonly toCompleteMs: readonly number[];
}

/** The same on one worker with the built-in controller and no dispatch. */
export interface Reference {
  readonly toPodMs: readonly number[];
  readonly toCompleteMs: readonly number[];
  /** CPU time of everybody who takes part: API server, etcd, kubelet, controller, and this program. */
  readonly bursts: readonly { readonly jobs: number; readonly seconds: number; readonly cpuSeconds: number }[];
}

export interface Turn {
  /** Who came first in it. */
  readonly first: "dispatched" | "built-in";
  readonly sequence: Sequence;
  readonly bursts: readonly Cost[];
  readonly builtIn: Reference;
}

/** When each step of a Job was seen, in ms after its creation was sent. */
export interface Step {
  readonly what: string;
  readonly atMs: readonly number[];
}

export interface Waiting {
  readonly waiting: number;
  readonly placements: number;
  readonly seconds: number;
  readonly managerCpuSeconds: number;
  readonly managerMiB: number;
  readonly hubWrites: Writes;
}

export interface ManyWorkers {
  readonly workers: number;
  readonly jobs: number;
  readonly perSecond: number;
  readonly toMirrorMs: readonly number[];
  /** Jobs whose mirror never came. */
  readonly missing: number;
  readonly seconds: number;
  readonly uses: Uses;
  /** Without any Job, per second: what heartbeats and inventories cost. */
  readonly idle: { readonly seconds: number; readonly uses: Uses };
}

export interface Figures {
  readonly sizes: Sizes;
  readonly kubernetes: string;
  readonly redis: string;
  readonly began: Date;
  /** One minute's load average at the start, when none of it was ours. */
  readonly load: number;
  readonly tookSeconds: number;
  readonly turns: readonly Turn[];
  readonly timeline: readonly Step[];
  readonly profiles: { readonly manager: readonly PartShare[]; readonly agent: readonly PartShare[] };
  readonly waiting: readonly Waiting[];
  readonly manyWorkers: ManyWorkers;
}

/** The smallest value that `share` of all values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.ceil(share * sorted.length);
  return sorted[Math.max(0, rank - 1)] ?? Number.NaN;
}

/** Objects that one Job causes writes to; everything else goes on whether there are Jobs or not. */
const OF_JOBS = new Set(["jobs", "pods", "events"]);

/** `PUT jobs/status` changes a job. */
const resourceOf = (kind: string): string => kind.replace(/^\S+ /, "").replace(/\/.*/, "");

/** Writes that Jobs cause, apart from those that only time causes (Leases, the status of WorkerClusters and JobQueues). */
export function split(writes: Writes): { readonly ofJobs: Writes; readonly ofTime: Writes } {
  const entries = Object.entries(writes);
  const isOfJobs = ([kind]: [string, number]): boolean => OF_JOBS.has(resourceOf(kind));
  return {
    ofJobs: Object.fromEntries(entries.filter(isOfJobs)),
    ofTime: Object.fromEntries(entries.filter((entry) => !isOfJobs(entry))),
  };
}

export function without(writes: Writes, kind: string): Writes {
  const { [kind]: _, ...rest } = writes;
  return rest;
}
