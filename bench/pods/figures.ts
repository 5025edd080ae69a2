/** What is measured about pods on the hub. */
import type { Writes } from "../dispatch/figures.ts";

/** Jobs of one pod, one at a time; milliseconds after the create was sent. */
export interface Singles {
  readonly jobs: number;
  readonly earlyMs: readonly number[];
  readonly shownMs: readonly number[];
  readonly completeMs: readonly number[];
  readonly hubWrites: Writes;
}

export interface Burst {
  readonly jobs: number;
  readonly shadows: boolean;
  readonly seconds: number;
  readonly hubWrites: Writes;
}

export interface LargeJob {
  readonly pods: number;
  readonly cap: number;
  readonly seconds: number;
  readonly hubWrites: Writes;
  /** What the Job's event says. */
  readonly said: string;
}

export interface Streams {
  readonly oneMBs: { readonly direct: readonly number[]; readonly hub: readonly number[] };
  readonly many: { readonly readers: number; readonly mbs: number; readonly redisMiB: number };
  /** Create to Complete of one Job at a time, p99: alone, and while the readers read. */
  readonly dispatchP99Ms: { readonly alone: number; readonly beside: number };
  readonly latencyMs: { readonly direct: readonly number[]; readonly hub: readonly number[] };
}

/** When some of the parts were measured, and how busy the machine was. */
export interface Sitting {
  readonly parts: readonly string[];
  readonly began: string;
  readonly tookSeconds: number;
  /** One minute's load average at the start and at the end. */
  readonly load: readonly [number, number];
}

/** Parts that were not measured yet are not there. */
export interface Figures {
  readonly sittings: readonly Sitting[];
  readonly kubernetes: string;
  readonly redis: string;
  readonly singles?: { readonly withShadows: Singles; readonly without: Singles } | undefined;
  readonly bursts?: readonly Burst[] | undefined;
  readonly large?: LargeJob | undefined;
  readonly streams?: Streams | undefined;
}

export const PARTS = ["singles", "streams", "bursts", "large"] as const;
export type Part = (typeof PARTS)[number];
