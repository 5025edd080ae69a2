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
/** As it is shown: one write more in ten thousand is no reason to fail a goal. */
const perJob = (writes: Writes, jobs: number): number => Math.round((100 * sum(Object.values(writes))) / jobs) / 100;

export const goals = (figures: Figures): Goal[] => [
  ...latencyGoals(figures),
  ...burstGoals(figures),
  ...writeGoals(figures),
  waitingGoal(figures, "CPU time of the manager", ({ managerCpuSeconds }) => managerCpuSeconds),
  waitingGoal(figures, "time", ({ seconds }) => seconds),
  manyWorkersGoal(figures),
];

function latencyGoals({ turns }: Figures): Goal[] {
  const p50 = (of: (turn: Figures["turns"][number]) => readonly number[]): number => percentile(turns.flatMap(of), 0.5);
  const goal = (what: string, ours: number, builtIn: number, limit: number, multiKueue: string): Goal => ({
    ...{ what: `one Job at a time: ${what}, p50`, measured: `${round(ours)} ms`, wanted: `${limit} ms or less` },
    ...{ met: ours <= limit, builtIn: `${round(builtIn)} ms (ours ${round(ours / builtIn, 2)} x)`, multiKueue },
  });
  return [
    goal(
      "create to worker pod",
      p50(({ sequence }) => sequence.toPodMs),
      p50(({ builtIn }) => builtIn.toPodMs),
      60,
      "416 ms",
    ),
    goal(
      "create to Complete on the hub",
      p50(({ sequence }) => sequence.toCompleteMs),
      p50(({ builtIn }) => builtIn.toCompleteMs),
      400,
      "2,400 ms",
    ),
  ];
}

/** The goal is about the largest burst. */
function burstGoals({ turns, sizes }: Figures): Goal[] {
  return sizes.bursts.map((jobs, index) => {
    const isLargest = index === sizes.bursts.length - 1;
    const rate = (seconds: number | undefined): number => jobs / (seconds ?? Number.NaN);
    const rates = turns.map(({ bursts }) => rate(bursts[index]?.seconds));
    const ours = median(rates);
    const builtIn = median(turns.map((turn) => rate(turn.builtIn.bursts[index]?.seconds)));
    return {
      what: `burst of ${round(jobs)} one-pod Jobs, to Complete on the hub`,
      measured: `${round(ours, 1)} Jobs/s`,
      wanted: isLargest ? "25 Jobs/s or more" : "",
      met: !isLargest || rates.every((each) => each >= 25),
      builtIn: `${round(builtIn, 1)} Jobs/s (ours ${round(ours / builtIn, 2)} x)`,
      multiKueue: isLargest ? "-" : "1.0 Jobs/s (200 Jobs)",
    };
  });
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
