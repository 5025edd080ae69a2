import type { Random } from "@jobferry/shared/runtime/random.ts";
import { GPU, GPU_MODEL } from "../trace/gpu-tasks.ts";
import { type JobShape, ShapePool, type TraceJob } from "../trace/trace-job.ts";
import { MODELS_OF_ONE, MODELS_OF_SEVERAL, PODS, QUEUES, RUN_PARTS, RUN_SECONDS, SIZES } from "./figures.ts";

const MIB = 2 ** 20;

/** Jobs with the sizes, models, run times and queues of a GPU fleet, evenly over the time. */
export function generateJobs(count: number, overMs: number, random: Random): TraceJob[] {
  const pool = new ShapePool();
  const jobs = Array.from({ length: count }, (_, i): TraceJob => {
    const [, cpu, mib, gpus] = pick(SIZES, random);
    return {
      name: `job-${i + 1}`,
      arrivalMs: Math.floor(random() * overMs),
      runMs: 1000 * secondsOf(gpus, random),
      shape: pool.of(shapeOf(cpu, mib, gpus, random)),
    };
  });
  return jobs.sort((one, other) => one.arrivalMs - other.arrivalMs);
}

function shapeOf(cpu: number, mib: number, gpus: number, random: Random): JobShape {
  const models = gpus === 0 ? "" : pick(gpus === 1 ? MODELS_OF_ONE : MODELS_OF_SEVERAL, random)[1];
  return {
    namespace: "default",
    queue: pick(QUEUES, random)[1],
    priority: 0,
    pods: pick(PODS, random)[1],
    gang: false,
    perPod: new Map([["cpu", cpu], ["memory", mib * MIB], ...(gpus > 0 ? [[GPU, gpus] as const] : [])]),
    nodeLabels: models === "" ? [] : [{ key: GPU_MODEL, values: models.split("|") }],
    tolerations: [],
    clusterSelector: "",
  };
}

/** Between two quantiles every time is as likely on a logarithmic scale: run times span five orders of magnitude. */
function secondsOf(gpus: number, random: Random): number {
  const quantiles = RUN_SECONDS[gpus === 0 ? "none" : gpus === 1 ? "one" : "several"];
  const part = random();
  const above = Math.max(
    1,
    RUN_PARTS.findIndex((each) => each >= part),
  );
  const [low = 1, high = 1] = [quantiles[above - 1], quantiles[above]];
  const [from = 0, to = 1] = [RUN_PARTS[above - 1], RUN_PARTS[above]];
  return Math.max(1, Math.round(low * (high / low) ** ((part - from) / (to - from))));
}

/** One of the rows, as often as its first figure says. */
function pick<T extends readonly [number, ...unknown[]]>(rows: readonly T[], random: Random): T {
  let left = random() * rows.reduce((sum, [weight]) => sum + weight, 0);
  for (const row of rows) {
    left -= row[0];
    if (left < 0) return row;
  }
  return rows[0] as T;
}
