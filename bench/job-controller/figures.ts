/** What is measured, and how several rounds become one figure. */
import type { Sizes } from "./sizes.ts";

export type ContenderName = "built-in" | "jobferry";

/** Writes of the controller, by what they change: `pods create`, `jobs/status`, ... */
export type Writes = Readonly<Record<string, number>>;

export interface WorkFigures {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Of API server, etcd, the stand-in kubelet and the controller: what bounds the speed when they share few cores. */
  readonly allCpuSeconds: number;
  readonly writes: Writes;
}

/** One controller's turn: started, warmed up, measured at three works, stopped. */
export interface Turn {
  readonly contender: ContenderName;
  readonly oneJob: WorkFigures;
  readonly manyJobs: WorkFigures;
  readonly singles: WorkFigures & { readonly latenciesMs: readonly number[] };
}

export interface SandboxFigures {
  readonly microsPerPod: number;
  /** Time of all threads, the garbage collector's among them. */
  readonly cpuMicrosPerPod: number;
  readonly peakMiB: number;
}

export interface HotSpot {
  readonly name: string;
  readonly place: string;
  /** Of the time the process was not idle. */
  readonly share: number;
}

export interface Figures {
  readonly sizes: Sizes;
  readonly kubernetes: string;
  readonly began: Date;
  /** One minute's load average at the start, when none of it was ours. */
  readonly load: number;
  readonly turns: readonly Turn[];
  readonly sandbox: { readonly small: SandboxFigures; readonly large: SandboxFigures };
  readonly hotSpots: readonly HotSpot[];
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);
