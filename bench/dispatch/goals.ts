/** The goals, each with what was measured. */
import { median, sum } from "../job-controller/figures.ts";
import { type Cost, type Figures, percentile, split, type Writes, without } from "./figures.ts";

export interface Goal {
  readonly what: string;
  readonly measured: string;
  readonly wanted: string;
  readonly met: boolean;
  /** The built-in controller on one of the workers, no dispatch, in this run. */
  readonly builtIn: string;
  /** Not from this run. */
  readonly multiKueue: string;
}

export const round = (value: number, digits = 0): string =>
  Number.isFinite(value)
    ? value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : "-";

/** After the user's create. */
const hubWrites = (cost: Cost): number => perJob(without(split(cost.hubWrites).ofJobs, "POST jobs"), cost.jobs);
const workerWrites = (cost: Cost): number => perJob(split(cost.workerWrites).ofJobs, cost.jobs);
/** As it is shown: one write more in ten thousand is not a reason to fail a goal. */
const perJob = (writes: Writes, jobs: number): number => Math.round((100 * sum(Object.values(writes))) / jobs) / 100;

export const goals = (figures: Figures): Goal[] => [
  ...latencyGoals(figures),
  ...burstGoals(figures),
  cpuGoal(figures),
  ...writeGoals(figures),
  waitingGoal(figures, "CPU time of the manager", ({ managerCpuSeconds }) => managerCpuSeconds),
  waitingGoal(figures, "time", ({ seconds }) => seconds),
  manyWorkersGoal(figures),
];

function latencyGoals({ turns }: Figures): Goal[] {
  const p50 = (of: (turn: Figures["turns"][number]) => readonly number[]): number => percentile(turns.flatMap(of), 0.5);
  const toPod = { ours: p50(({ sequence }) => sequence.toPodMs), theirs: p50(({ builtIn }) => builtIn.toPodMs) };
  const toEnd = {
    ours: p50(({ sequence }) => sequence.toCompleteMs),
    theirs: p50(({ builtIn }) => builtIn.toCompleteMs),
  };
  const beside = ({ ours, theirs }: typeof toPod): string => `${round(theirs)} ms (ours ${round(ours / theirs, 2)} x)`;
  return [
    {
      what: "one Job at a time: create to worker pod, p50",
      measured: `${round(toPod.ours)} ms`,
      wanted: "1.5 x the built-in's or less",
      met: toPod.ours <= 1.5 * toPod.theirs,
      ...{ builtIn: beside(toPod), multiKueue: "416 ms" },
    },
    {
      what: "one Job at a time: create to Complete on the hub, p50",
      measured: `${round(toEnd.ours)} ms`,
      wanted: "400 ms or less",
      met: toEnd.ours <= 400,
      ...{ builtIn: beside(toEnd), multiKueue: "2,400 ms" },
    },
  ];
}

/** The goal is about the largest burst. */
function burstGoals({ turns, sizes }: Figures): Goal[] {
  return sizes.bursts.map((jobs, index) => {
    const isLargest = index === sizes.bursts.length - 1;
    const rate = (seconds: number | undefined): number => jobs / (seconds ?? Number.NaN);
    const ours = median(turns.map(({ bursts }) => rate(bursts[index]?.seconds)));
    const builtIn = median(turns.map((turn) => rate(turn.builtIn.bursts[index]?.seconds)));
    return {
      what: `burst of ${round(jobs)} one-pod Jobs, to Complete on the hub`,
      measured: `${round(ours, 1)} Jobs/s`,
      wanted: isLargest ? "0.85 x the built-in's or more" : "",
      met: !isLargest || ours >= 0.85 * builtIn,
      builtIn: `${round(builtIn, 1)} Jobs/s (ours ${round(ours / builtIn, 2)} x)`,
      multiKueue: isLargest ? "-" : "1.0 Jobs/s (200 Jobs)",
    };
  });
}

/** What a Job costs Jobferry itself: manager, agents and Redis, without the API servers. */
function cpuGoal({ turns, sizes }: Figures): Goal {
  const largest = sizes.bursts.length - 1;
  const own = ({ uses, jobs }: Cost): number =>
    (1000 * sum(["manager", "agents", "redis"].map((part) => uses[part]?.cpuSeconds ?? Number.NaN))) / jobs;
  const measured = median(turns.flatMap(({ bursts }) => bursts.slice(largest, largest + 1).map(own)));
  return {
    what: `burst of ${round(sizes.bursts[largest] ?? 0)}: CPU time of manager, agents and Redis per Job`,
    measured: `${round(measured, 1)} ms`,
    wanted: "12 ms or less",
    met: measured <= 12,
    ...{ builtIn: "", multiKueue: "-" },
  };
}

function writeGoals({ turns, sizes }: Figures): Goal[] {
  const cases: { name: string; of: (turn: Figures["turns"][number]) => Cost | undefined }[] = [
    { name: "one at a time", of: ({ sequence }) => sequence },
    ...sizes.bursts.map((jobs, index) => ({
      name: `burst of ${round(jobs)}`,
      of: ({ bursts }: Figures["turns"][number]) => bursts[index],
    })),
  ];
  const goal = (where: string, limit: number, writes: (cost: Cost) => number, multiKueue: string): Goal[] =>
    cases.map(({ name, of }) => {
      const ours = median(turns.map(of).flatMap((cost) => (cost === undefined ? [] : [writes(cost)])));
      return {
        ...{ what: `${where}, ${name}`, measured: round(ours, 2), wanted: `${limit} or fewer` },
        ...{ met: ours <= limit, builtIn: "", multiKueue },
      };
    });
  return [
    ...goal("hub API writes per Job after the user's create, events included", 3, hubWrites, "22"),
    ...goal("worker API writes per Job, events and the pods' own included", 9, workerWrites, "32"),
  ];
}

function waitingGoal({ waiting }: Figures, what: string, of: (level: Figures["waiting"][number]) => number): Goal {
  const [few, many] = [waiting[0], waiting.at(-1)];
  const per = (level: typeof few): number => (level === undefined ? Number.NaN : (of(level) * 1000) / level.placements);
  const ratio = per(many) / per(few);
  return {
    what: `${round(many?.waiting ?? 0)} waiting Jobs: ${what} per placement, against ${round(few?.waiting ?? 0)} waiting`,
    measured: `${round(per(many), 1)} ms / ${round(per(few), 1)} ms = ${round(ratio, 2)} x`,
    wanted: "within 1.3 x",
    met: ratio <= 1.3,
    ...{ builtIn: "", multiKueue: "-" },
  };
}

function manyWorkersGoal({ manyWorkers }: Figures): Goal {
  const p99 = percentile(manyWorkers.toMirrorMs, 0.99);
  const missing = manyWorkers.missing === 0 ? "" : `, ${manyWorkers.missing} missing`;
  return {
    what: `${manyWorkers.workers} embedded workers on one manager: create to mirror at ${manyWorkers.perSecond} Jobs/s, p99`,
    measured: `${round(p99)} ms${missing}`,
    wanted: "under 1 s",
    met: p99 < 1_000 && manyWorkers.missing === 0,
    ...{ builtIn: "", multiKueue: "20 clusters per MultiKueueConfig" },
  };
}
