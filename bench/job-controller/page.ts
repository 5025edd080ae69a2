/** The page that a run writes: each goal with what was measured, then what lies behind the figures. */
import { cpus, totalmem } from "node:os";
import { type ContenderName, type Figures, median, sum, type Turn, type WorkFigures } from "./figures.ts";
import { HEAP_LIMIT } from "./sandbox-scale.ts";

interface Goal {
  readonly what: string;
  readonly builtIn: string;
  readonly ours: string;
  readonly ratio: number;
  readonly wanted: string;
  readonly met: Verdict;
}

/** `not shown`: the median meets it, but not every round does, so that the next run may say otherwise. */
export type Verdict = "yes" | "not shown" | "**no**";

type Work = "oneJob" | "manyJobs" | "singles";

const round = (value: number, digits = 0): string =>
  Number.isFinite(value)
    ? value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : "-";

const turnsOf = ({ turns }: Figures, contender: ContenderName): Turn[] =>
  turns.filter((turn) => turn.contender === contender);

/** The median of one figure over a controller's turns. */
const medianOf = (figures: Figures, contender: ContenderName, of: (turn: Turn) => number): number =>
  median(turnsOf(figures, contender).map(of));

/**
 * One for each round: within a round both had nearly the same machine, which is up to half as fast again from one quarter of an
 * hour to the next.
 */
function ratiosOf(figures: Figures, of: (turn: Turn) => number): number[] {
  const theirs = turnsOf(figures, "built-in");
  return turnsOf(figures, "jobferry").map((turn, round) => of(turn) / (theirs[round] ? of(theirs[round]) : Number.NaN));
}

export function verdictOf(ratios: readonly number[], meets: (ratio: number) => boolean): Verdict {
  if (!meets(median(ratios))) return "**no**";
  return ratios.every(meets) ? "yes" : "not shown";
}

interface Comparison {
  readonly what: string;
  readonly of: (turn: Turn) => number;
  readonly unit: string;
  readonly digits: number;
  readonly limit: number;
  readonly limitIs: "at least" | "at most";
}

function compare(figures: Figures, { what, of, unit, digits, limit, limitIs }: Comparison): Goal {
  const builtIn = medianOf(figures, "built-in", of);
  const ours = medianOf(figures, "jobferry", of);
  const ratios = ratiosOf(figures, of);
  return {
    what,
    builtIn: `${round(builtIn, digits)} ${unit}`,
    ours: `${round(ours, digits)} ${unit}`,
    ratio: median(ratios),
    wanted: `${limitIs} ${limit} x`,
    met: verdictOf(ratios, (ratio) => (limitIs === "at least" ? ratio >= limit : ratio <= limit)),
  };
}

/** Events are a courtesy that controllers may drop when busy, and the built-in one does. */
const lastingWrites = (figures: WorkFigures): number => allWrites(figures) - (figures.writes.events ?? 0);
const allWrites = ({ writes }: WorkFigures): number => sum(Object.values(writes));

function goals(figures: Figures): Goal[] {
  const { pods, parallelism, jobs, singles } = figures.sizes;
  const n = (count: number): string => round(count);
  const comparisons: Comparison[] = [
    {
      what: `one Indexed Job of ${n(pods)} pods, parallelism ${n(parallelism)}`,
      of: ({ oneJob }) => (pods / oneJob.seconds) * 60,
      ...{ unit: "pods/min", digits: 0, limit: 1, limitIs: "at least" },
    },
    {
      what: `${n(jobs)} Jobs of one pod`,
      of: ({ manyJobs }) => (jobs / manyJobs.seconds) * 60,
      ...{ unit: "Jobs/min", digits: 0, limit: 1.2, limitIs: "at least" },
    },
    {
      what: "create to Complete of a one-pod Job on an idle cluster, p50",
      of: (turn) => median(turn.singles.latenciesMs),
      ...{ unit: "ms", digits: 0, limit: 0.3, limitIs: "at most" },
    },
    ...writeComparisons(pods, jobs, singles),
    {
      what: "controller CPU time per pod, large Job",
      of: ({ oneJob }) => (oneJob.cpuSeconds / pods) * 1000,
      ...{ unit: "ms", digits: 2, limit: 2, limitIs: "at most" },
    },
    {
      what: "controller CPU time per pod, Jobs of one pod",
      of: ({ manyJobs }) => (manyJobs.cpuSeconds / jobs) * 1000,
      ...{ unit: "ms", digits: 2, limit: 2, limitIs: "at most" },
    },
  ];
  return comparisons.map((comparison) => compare(figures, comparison));
}

function writeComparisons(pods: number, jobs: number, singles: number): Comparison[] {
  const works: [string, (turn: Turn) => WorkFigures, number][] = [
    ["pod of the large Job", ({ oneJob }) => oneJob, pods],
    ["Job, all at once", ({ manyJobs }) => manyJobs, jobs],
    ["Job, one after the other", (turn) => turn.singles, singles],
  ];
  const common = { unit: "", digits: 3, limit: 1, limitIs: "at most" } as const;
  return works.flatMap(([what, work, count]) => [
    { ...common, what: `writes to pods and Jobs per ${what}`, of: (turn) => lastingWrites(work(turn)) / count },
    { ...common, what: `all writes, events too, per ${what}`, of: (turn) => allWrites(work(turn)) / count },
  ]);
}

function sandboxRows({ sandbox: { small, large }, sizes }: Figures): string {
  const n = round(sizes.sandbox.large);
  const growth = (what: string, from: number, to: number): string =>
    `| ${n} indexes in the sandbox: ${what} per pod, against ${round(sizes.sandbox.small)} indexes | ${round(from)} µs at ${round(sizes.sandbox.small)} | ${round(to)} µs | ${round(to / from, 2)} | at most 1.3 x | ${verdict(to / from <= 1.3)} |`;
  return [
    growth("time", small.microsPerPod, large.microsPerPod),
    growth("CPU time of all threads", small.cpuMicrosPerPod, large.cpuMicrosPerPod),
    `| ${n} indexes in the sandbox: peak memory, everything in one process with a heap of at most ${HEAP_LIMIT} MiB | | ${round(large.peakMiB)} MiB | | under 1,024 MiB | ${verdict(large.peakMiB < 1024)} |`,
  ].join("\n");
}

const verdict = (met: boolean): string => (met ? "yes" : "**no**");

const goalRow = ({ what, builtIn, ours, ratio, wanted, met }: Goal): string =>
  `| ${what} | ${builtIn} | ${ours} | ${round(ratio, 2)} | ${wanted} | ${met} |`;

function roundRows(figures: Figures): string {
  const { pods, jobs } = figures.sizes;
  return figures.turns
    .map(
      ({ contender, oneJob, manyJobs, singles }) =>
        `| ${contender} | ${round((pods / oneJob.seconds) * 60)} | ${round((oneJob.cpuSeconds / pods) * 1000, 2)} | ${round((oneJob.allCpuSeconds / pods) * 1000, 2)} | ${round((jobs / manyJobs.seconds) * 60)} | ${round((manyJobs.cpuSeconds / jobs) * 1000, 2)} | ${round((manyJobs.allCpuSeconds / jobs) * 1000, 2)} | ${round(median(singles.latenciesMs))} |`,
    )
    .join("\n");
}

function writeRows(figures: Figures): string {
  const { pods, jobs, singles } = figures.sizes;
  const works: [string, Work, number][] = [
    [`one Job of ${round(pods)} pods, per pod`, "oneJob", pods],
    [`${round(jobs)} Jobs of one pod, per Job`, "manyJobs", jobs],
    [`${round(singles)} Jobs one after the other, per Job`, "singles", singles],
  ];
  const kinds = new Set(works.flatMap(([, work]) => figures.turns.flatMap((turn) => Object.keys(turn[work].writes))));
  return works
    .flatMap(([name, work, count]) =>
      [...kinds].toSorted().map((kind) => {
        const per = (contender: ContenderName): number =>
          medianOf(figures, contender, (turn) => (turn[work].writes[kind] ?? 0) / count);
        return `| ${name} | ${kind} | ${round(per("built-in"), 4)} | ${round(per("jobferry"), 4)} |`;
      }),
    )
    .join("\n");
}

const hotSpotRows = ({ hotSpots }: Figures): string =>
  hotSpots.map(({ name, place, share }) => `| \`${name}\` | ${place} | ${round(share * 100, 1)} % |`).join("\n");

export function page(figures: Figures, findings: string): string {
  const { sizes, kubernetes, began, load } = figures;
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? "CPU"}, ${round(totalmem() / 2 ** 30)} GiB`;
  return `# Job controller against the built-in one

Written by \`npm run bench:job-controller\` on ${began.toISOString().slice(0, 16).replace("T", " ")} UTC: ${machine}, Node ${process.version}, Kubernetes
${kubernetes}; load average at the start ${round(load, 1)}. API server, etcd, the stand-in kubelet, this program and the controller share the machine.

| work | built-in | jobferry | ratio | wanted | met |
|---|---|---|---|---|---|
${goals(figures).map(goalRow).join("\n")}
${sandboxRows(figures)}

Both controllers work on the same API server, never at the same time: each is started for its turn, runs a Job of ${round(sizes.warmUp)} pods to
get warm, does the three works, and is stopped; ${sizes.rounds} rounds of one turn each, who goes first alternates, after a large Job that is not measured. Figures are medians of the turns, a
ratio is the median of the rounds' ratios. Both may sync 10 Jobs at once and send 1,000 requests per second; kube-controller-manager runs no other controller. Pods are bound and finished at once by a stand-in for
scheduler and kubelet. Writes are counted by the API server (\`apiserver_request_total\`), those of the stand-in left out, events
included; CPU time is the process's own. "Met" is "yes" only where every round met it.

What flatters ours: the pods end within a second, so that the status that shows a Job's start is often written together with its end;
with a kubelet Jobs need both writes ([measured](containers.md)). And in a flood ours drops Normal events that the built-in controller writes: fewer
writes, but not the same service. The row without events leaves that out. The latency on an idle cluster is the second that the built-in
controller waits after a pod event.

## Each turn

"All" is the CPU time of API server, etcd, the stand-in kubelet and the controller together: on few cores it bounds the speed, and
other load on the machine disturbs it less than it disturbs pods per minute.

| controller | large Job, pods/min | CPU ms per pod | all | Jobs/min | CPU ms per Job | all | p50 ms, idle |
|---|---|---|---|---|---|---|---|
${roundRows(figures)}

## Writes by kind

| work | write | built-in | jobferry |
|---|---|---|---|
${writeRows(figures)}

## Where our time goes

CPU profile (\`node --cpu-prof\`) of one more run of the large Job, start of the program included: functions by their own time, as
share of the time the process was busy.

| function | where | share |
|---|---|---|
${hotSpotRows(figures)}

${findings.trim()}
`;
}
