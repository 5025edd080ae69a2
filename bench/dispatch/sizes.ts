/** How much is measured. `quick` shows that everything runs; its figures mean nothing. */
export interface Sizes {
  /** Turns of dispatch and of the built-in controller, alternating. */
  readonly rounds: number;
  /** Jobs one after the other. */
  readonly singles: number;
  /** The same for the built-in controller, which takes a second for each. */
  readonly builtInSingles: number;
  /** Jobs created at once. */
  readonly bursts: readonly number[];
  /** Creations under way at a time. */
  readonly creators: number;
  /** Jobs that manager and agents run before they are measured. */
  readonly warmUp: number;
  /** Jobs whose every step is watched. */
  readonly timeline: number;
  /** Jobs under the CPU profiler. */
  readonly profiled: number;
  readonly waiting: { readonly levels: readonly number[]; readonly placements: number };
  readonly manyWorkers: {
    readonly workers: number;
    readonly processes: number;
    readonly perSecond: number;
    readonly seconds: number;
  };
}

export const fullSizes: Sizes = {
  rounds: 2,
  singles: 50,
  builtInSingles: 12,
  bursts: [200, 1_000],
  creators: 16,
  warmUp: 300,
  timeline: 30,
  profiled: 500,
  waiting: { levels: [100, 10_000], placements: 300 },
  manyWorkers: { workers: 200, processes: 4, perSecond: 20, seconds: 30 },
};

export const quickSizes: Sizes = {
  rounds: 1,
  singles: 5,
  builtInSingles: 2,
  bursts: [20, 40],
  creators: 8,
  warmUp: 10,
  timeline: 5,
  profiled: 20,
  waiting: { levels: [10, 100], placements: 10 },
  manyWorkers: { workers: 10, processes: 2, perSecond: 5, seconds: 4 },
};
