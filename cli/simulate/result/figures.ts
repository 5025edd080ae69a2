import type { Stretch } from "../engine/recorder.ts";
import type { Outcome } from "../engine/simulation.ts";

interface QueueFigures {
  readonly queue: string;
  readonly weight: number;
  readonly jobs: number;
  /** Until they were given to a cluster, in seconds; null: none was. */
  readonly waitSeconds: { readonly p50: number; readonly p90: number; readonly p99: number } | null;
  /** Of the resource of which it held the largest part of the fleet, that part, while Jobs came. */
  readonly share: number;
  /** While its Jobs and those of others waited: what it held beyond what its weight says, as a part of that. Null: never. */
  readonly deviation: number | null;
}

interface ResourceFigures {
  readonly resource: string;
  readonly capacity: number;
  /** Part that pods on nodes took: while Jobs came, and in that time while more was asked for than there is. */
  readonly utilisation: number;
  readonly underFullLoad: number | null;
  readonly fullLoadSeconds: number;
}

export interface Figures {
  readonly jobs: number;
  readonly finished: number;
  readonly neverPlaced: number;
  readonly placements: number;
  readonly wrongPlacements: number;
  readonly preemptions: number;
  readonly moves: number;
  readonly largestDeviation: number | null;
  readonly cpuMsPerPlacement: number;
  readonly cpuSeconds: number;
  readonly elapsedSeconds: number;
  readonly simulatedSeconds: number;
  readonly queues: readonly QueueFigures[];
  readonly resources: readonly ResourceFigures[];
}

/** `fromMs`: what was before is left out of shares and utilisation. */
export function figuresOf(outcome: Outcome, fromMs = 0): Figures {
  const { stretches, lastArrivalMs, placements } = outcome;
  const whileTheyCame = stretches.filter((each) => each.fromMs >= fromMs && each.fromMs < lastArrivalMs);
  const window = whileTheyCame.length > 0 ? whileTheyCame : stretches;
  const queues = outcome.queues.flatMap((_, i) => queueFigures(outcome, window, i));
  const deviations = queues.flatMap(({ deviation }) => (deviation === null ? [] : [Math.abs(deviation)]));
  return {
    jobs: outcome.jobs,
    finished: outcome.finished,
    neverPlaced: outcome.neverPlaced.length,
    placements,
    wrongPlacements: outcome.wrong.length,
    preemptions: outcome.preemptions,
    moves: outcome.moves,
    largestDeviation: deviations.length === 0 ? null : Math.max(...deviations),
    cpuMsPerPlacement: placements === 0 ? 0 : outcome.placementCpuMs / placements,
    cpuSeconds: outcome.cpuMs / 1000,
    elapsedSeconds: outcome.elapsedMs / 1000,
    simulatedSeconds: outcome.endMs / 1000,
    queues,
    resources: outcome.resources.map((_, i) => resourceFigures(outcome, window, i)),
  };
}

/** Queues to which no Job came are not worth a line. */
function queueFigures(
  { queues, waitsMs, neverPlaced }: Outcome,
  window: readonly Stretch[],
  i: number,
): QueueFigures[] {
  const { name, weight } = queues[i] ?? { name: "", weight: 1 };
  const waits = [...(waitsMs[i] ?? [])].sort((one, other) => one - other);
  const jobs = waits.length + neverPlaced.filter(({ shape }) => shape.queue === name).length;
  if (jobs === 0) return [];
  const at = (part: number): number => (waits[Math.min(waits.length - 1, Math.floor(part * waits.length))] ?? 0) / 1000;
  const [got, due] = [sum(window, i, "got"), sum(window, i, "due")];
  return [
    {
      queue: name,
      weight,
      jobs,
      waitSeconds: waits.length === 0 ? null : { p50: at(0.5), p90: at(0.9), p99: at(0.99) },
      share: mean(window, ({ queues: all }) => all[i]?.share ?? 0),
      deviation: due === 0 ? null : got / due - 1,
    },
  ];
}

const sum = (window: readonly Stretch[], i: number, what: "got" | "due"): number =>
  window.reduce((total, { ms, queues }) => total + ms * (queues[i]?.competing ?? 0) * (queues[i]?.[what] ?? 0), 0);

function resourceFigures({ resources, capacity }: Outcome, window: readonly Stretch[], i: number): ResourceFigures {
  const whole = capacity[i] ?? 0;
  const full = window.filter(({ demand }) => (demand[i] ?? 0) >= whole);
  const used = ({ used: all }: Stretch): number => (all[i] ?? 0) / whole;
  return {
    resource: resources[i] ?? "",
    capacity: whole,
    utilisation: mean(window, used),
    underFullLoad: full.length === 0 ? null : mean(full, used),
    fullLoadSeconds: full.reduce((total, { ms }) => total + ms, 0) / 1000,
  };
}

function mean(stretches: readonly Stretch[], value: (stretch: Stretch) => number): number {
  const ms = stretches.reduce((total, stretch) => total + stretch.ms, 0);
  return ms === 0 ? 0 : stretches.reduce((total, stretch) => total + stretch.ms * value(stretch), 0) / ms;
}
