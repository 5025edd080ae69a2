/** A GPU fleet under more load than it has room for: as twelve clusters, and as one pool of all nodes, by the same policy. */
import { Simulation } from "@jobferry/cli/simulate/engine/simulation.ts";
import { capacityOf, type Scoring } from "@jobferry/cli/simulate/fleet/fleet.ts";
import { generateFleet } from "@jobferry/cli/simulate/generate/fleet.ts";
import { generateJobs } from "@jobferry/cli/simulate/generate/jobs.ts";
import { type Figures, figuresOf } from "@jobferry/cli/simulate/result/figures.ts";
import { GPU } from "@jobferry/cli/simulate/trace/gpu-tasks.ts";
import { readTrace } from "@jobferry/cli/simulate/trace/read-trace.ts";
import { resample } from "@jobferry/cli/simulate/trace/resample.ts";
import { seededRandom } from "@jobferry/shared/runtime/random.ts";
import { Pool } from "./pool.ts";

const DAY_MS = 86_400_000;
/** As many as the trace has whose figures they have. */
const DRAWN_FROM = 8152;
const LOAD = 1.3;
const SCORINGS = ["LeastAllocated", "MostAllocated"] as const;

export interface Replay {
  readonly source: string;
  readonly jobs: number;
  readonly nodes: number;
  /** Twelve clusters and the pool, by how their schedulers choose among nodes that have room. */
  readonly runs: readonly { readonly scoring: Scoring; readonly twelve: Figures; readonly pool: Figures }[];
}

export interface ReplayOptions {
  /** A task list to draw from; else the generator's. */
  readonly trace?: string | undefined;
  /** Of the nodes of each kind. */
  readonly part: number;
  readonly hours: number;
  progress(text: string): void;
}

export function replay({ trace, part, hours, progress }: ReplayOptions): Replay {
  const twelve = generateFleet("twelve", part);
  const recorded = trace === undefined ? generateJobs(DRAWN_FROM, 1, seededRandom(1)) : readTrace(trace);
  const jobs = resample(
    recorded.map((job) => ({ ...job, runMs: Math.min(job.runMs, DAY_MS) })),
    {
      resource: GPU,
      load: LOAD,
      capacity: capacityOf(twelve).get(GPU) ?? 0,
      overMs: hours * 3_600_000,
      random: seededRandom(2),
    },
  );
  const told = (what: string, figures: Figures): Figures => {
    progress(`replay of ${jobs.length} Jobs, ${what}: ${figures.cpuSeconds.toFixed(1)} s of CPU`);
    return figures;
  };
  return {
    source: trace === undefined ? "generated" : "a recorded task list",
    jobs: jobs.length,
    nodes: twelve.clusters.flatMap(({ nodes }) => nodes).reduce((sum, { count }) => sum + count, 0),
    runs: SCORINGS.map((scoring) => {
      const fleet = { ...twelve, clusters: twelve.clusters.map((cluster) => ({ ...cluster, scoring })) };
      const clusters = figuresOf(new Simulation({ fleet, jobs, endsWithArrivals: true }).run());
      const pool = figuresOf(new Pool(fleet, jobs, scoring).run());
      return {
        scoring,
        twelve: told(`twelve clusters, ${scoring}`, clusters),
        pool: told(`one pool, ${scoring}`, pool),
      };
    }),
  };
}

/** Of the GPUs that the pool uses, the part that the twelve clusters do. */
export const partOfPool = ({ twelve, pool }: Replay["runs"][number]): number =>
  gpuUtilisation(twelve) / gpuUtilisation(pool);

export const gpuUtilisation = ({ resources }: Figures): number =>
  resources.find(({ resource }) => resource === GPU)?.underFullLoad ?? Number.NaN;

export const gpuFullHours = ({ resources }: Figures): number =>
  (resources.find(({ resource }) => resource === GPU)?.fullLoadSeconds ?? 0) / 3600;
