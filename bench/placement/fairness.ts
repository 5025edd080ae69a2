/** Three queues of weights 1, 2 and 4 that may use the same clusters; each offers one and a half times what it is entitled to. */
import { Simulation } from "@jobferry/cli/simulate/engine/simulation.ts";
import { capacityOf } from "@jobferry/cli/simulate/fleet/fleet.ts";
import { generateFleet } from "@jobferry/cli/simulate/generate/fleet.ts";
import { figuresOf } from "@jobferry/cli/simulate/result/figures.ts";
import type { TraceJob } from "@jobferry/cli/simulate/trace/trace-job.ts";
import { seededRandom } from "@jobferry/shared/runtime/random.ts";

const WEIGHTS = { small: 1, middle: 2, large: 4 };
const OFFERED = 1.5;

export interface Fairness {
  readonly jobs: number;
  readonly hours: number;
  readonly wrongPlacements: number;
  readonly queues: readonly {
    readonly name: string;
    readonly weight: number;
    /** Part of what all three held over the last half, and what it should be. */
    readonly got: number;
    readonly due: number;
  }[];
}

/** CPU Jobs of 1 to 8 CPUs that run for 1 to 20 minutes, on a twenty-fifth of the fleet's nodes. */
export function fairness(hours: number): Fairness {
  const fleet = {
    ...generateFleet("twelve", 0.04),
    queues: Object.entries(WEIGHTS).map(([name, weight]) => ({ metadata: { name }, spec: { weight } })),
  };
  const overMs = hours * 3_600_000;
  const cpus = capacityOf(fleet).get("cpu") ?? 0;
  const total = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);
  const random = seededRandom(3);
  const jobs: TraceJob[] = [];
  for (const [queue, weight] of Object.entries(WEIGHTS))
    for (let left = (OFFERED * cpus * overMs * weight) / total; left > 0; ) {
      const cpu = 1000 * (1 + Math.floor(random() * 8));
      const runMs = 60_000 * (1 + Math.floor(random() * 20));
      left -= cpu * runMs;
      const asks = new Map([
        ["cpu", cpu],
        ["memory", cpu * 2 ** 21],
      ]);
      jobs.push({
        name: `${queue}-${jobs.length}`,
        arrivalMs: Math.floor(random() * overMs),
        runMs,
        shape: shapeOf(queue, asks),
      });
    }
  jobs.sort((one, other) => one.arrivalMs - other.arrivalMs);
  const outcome = new Simulation({ fleet, jobs, endsWithArrivals: true }).run();
  const { queues, wrongPlacements } = figuresOf(outcome, overMs / 2);
  const held = queues.reduce((sum, { share }) => sum + share, 0);
  return {
    jobs: jobs.length,
    hours,
    wrongPlacements,
    queues: queues.map(({ queue, weight, share }) => ({ name: queue, weight, got: share / held, due: weight / total })),
  };
}

/** The largest part by which a queue has more or less than its weight says. */
export const largestDeviation = ({ queues }: Fairness): number =>
  Math.max(...queues.map(({ got, due }) => Math.abs(got / due - 1)));

const shapes = new Map<string, TraceJob["shape"]>();

function shapeOf(queue: string, perPod: TraceJob["shape"]["perPod"]): TraceJob["shape"] {
  const key = `${queue} ${perPod.get("cpu")}`;
  const known = shapes.get(key);
  if (known !== undefined) return known;
  const shape = {
    ...{ namespace: "default", queue, priority: 0, pods: 1, gang: false, perPod },
    ...{ nodeLabels: [], tolerations: [], clusterSelector: "" },
  };
  shapes.set(key, shape);
  return shape;
}
