import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import type { TraceJob } from "./trace-job.ts";

export interface ResampleOptions {
  /** Of this resource, this part of what the fleet has is asked for on average: 1.3 for 130 %. */
  readonly resource: string;
  readonly load: number;
  readonly capacity: number;
  /** Jobs come evenly over this time. */
  readonly overMs: number;
  readonly random: Random;
}

/** More Jobs than fit into memory are a mistake. */
const MOST_JOBS = 2_000_000;

/** Draws Jobs of the trace, with replacement, until they ask for as much as is wanted. */
export function resample(
  jobs: readonly TraceJob[],
  { resource, load, capacity, overMs, random }: ResampleOptions,
): TraceJob[] {
  const asked = ({ runMs, shape }: TraceJob): number => runMs * shape.pods * (shape.perPod.get(resource) ?? 0);
  const mean = jobs.reduce((sum, job) => sum + asked(job), 0) / jobs.length;
  const wanted = load * capacity * overMs;
  if (!(mean > 0)) throw new ConfigError(`no Job of the trace asks for ${resource}, by which --load is measured`);
  if (wanted / mean > MOST_JOBS)
    throw new ConfigError(
      `--load ${load} over this time takes about ${Math.round(wanted / mean)} Jobs, more than ${MOST_JOBS}: choose a shorter --over`,
    );
  const drawn: TraceJob[] = [];
  for (let sum = 0; sum < wanted; ) {
    const job = jobs[Math.floor(random() * jobs.length)];
    if (job === undefined) break;
    sum += asked(job);
    drawn.push({ ...job, name: `${job.name}-${drawn.length + 1}`, arrivalMs: Math.floor(random() * overMs) });
  }
  return drawn.sort((one, other) => one.arrivalMs - other.arrivalMs);
}
