/** The page that a run writes. */
import { cpus } from "node:os";
import { type Fairness, largestDeviation } from "./fairness.ts";
import { type Change, type Figures, percentile, type Turn } from "./measure.ts";
import { gpuFullHours, gpuUtilisation, partOfPool, type Replay } from "./replay.ts";

const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const ms = (value: number): string => (value < 0.995 ? value.toFixed(3) : value.toFixed(1));
const sizeOf = ({ size: { waiting, shapes, clusters } }: Figures): string =>
  `${waiting.toLocaleString("en")} Jobs of ${shapes.toLocaleString("en")} shapes, ${clusters.toLocaleString("en")} clusters`;
const meanCpu = ({ cpuMs, ms: each }: Change): number => cpuMs / each.length;
const costliest = ({ changes }: Figures): number => Math.max(...changes.map(meanCpu));

export interface Results {
  /** `load`: of the machine at the end. */
  readonly speed: { readonly figures: readonly Figures[]; readonly load: number };
  readonly replay: Replay;
  readonly fairness: Fairness;
}

/** As far as it was ours: time that the machine gave to somebody else is not. */
const stallOf = ({ ms: elapsed, cpuMs }: Turn): number => Math.min(elapsed, cpuMs);

interface Goal {
  readonly what: string;
  readonly measured: string;
  readonly wanted: string;
  readonly met: boolean;
}

/** Each size is preceded by the same clusters with 100 Jobs. */
export function goals({ speed: { figures }, replay, fairness }: Results): Goal[] {
  const [small, medium, , large] = figures;
  if (small === undefined || medium === undefined || large === undefined) return [];
  const [perChange, factor] = [costliest(medium), costliest(medium) / costliest(small)];
  return [
    goal(`CPU per change of a cluster, ${sizeOf(medium)}`, perChange, 2, "ms"),
    goal("the same, as a multiple of 100 waiting Jobs", factor, 1.5, "x"),
    goal(`CPU per change of a cluster, ${sizeOf(large)}`, costliest(large), 5, "ms"),
    goal("memory of that process, Jobs included", large.rssMiB, 1536, "MiB"),
    goal(
      "longest turn of the event loop in either",
      Math.max(stallOf(medium.longestTurn), stallOf(large.longestTurn)),
      50,
      "ms",
    ),
    goal("GPU fleet: wrong placements on twelve clusters", wrongIn(replay), 0, ""),
    ...replay.runs.map((run) => ({
      what: `GPU fleet, ${run.scoring}: GPUs used under full load, of one pool with all nodes`,
      measured: `${partOfPool(run).toFixed(3)} x`,
      wanted: "at least 0.97 x",
      met: partOfPool(run) >= 0.97,
    })),
    goal("GPU fleet: the whole replay on twelve clusters, the longer one", longestOf(replay), 60, "s"),
    goal("fairness: largest deviation from the weight over the last half", 100 * largestDeviation(fairness), 5, "%"),
  ];
}

const wrongIn = ({ runs }: Replay): number => runs.reduce((sum, { twelve }) => sum + twelve.wrongPlacements, 0);
const longestOf = ({ runs }: Replay): number => Math.max(...runs.map(({ twelve }) => twelve.elapsedSeconds));

const goal = (what: string, value: number, most: number, unit: string): Goal => ({
  what,
  measured: `${unit === "MiB" ? value.toFixed(0) : ms(value)} ${unit}`,
  wanted: `at most ${most} ${unit}`,
  met: value <= most,
});

const changeRow = (figures: Figures, change: Change): string =>
  row(
    sizeOf(figures),
    change.name,
    ms(meanCpu(change)),
    ...[0.5, 0.99, 1].map((part) => ms(percentile(change.ms, part))),
  );

export const page = ({
  speed: { figures, load },
  replay,
  fairness,
}: Results): string => `# Placement among very many waiting Jobs

Written by \`npm run bench:placement\`. The placement code of the manager runs here without hub and Redis, on clusters that are
full: each has 96 nodes of three kinds, reported in 24 rows, and runs 10 of our Jobs. The Jobs that wait stand in 4 queues with
every rule there is: quotas in a cohort, a budget, preemption by a queue whose victims are all too small, and room that is kept
for Jobs that would starve. A fifth of the shapes choose an architecture, a fifth ask for GPUs and tolerate their taint. A change is a report of one cluster: the time is that of taking
the report in and of all that placement does about it, placements included. ${cpus()[0]?.model ?? ""}, Node ${process.version}.

## Goals
| what | measured | wanted | met |
|---|---|---|---|
${goals({ speed: { figures, load }, replay, fairness })
  .map(({ what, measured, wanted, met }) => row(what, measured, wanted, met ? "yes" : "**no**"))
  .join("\n")}

The figure per change is the mean CPU time of the costliest kind of change below. A turn counts with its CPU time, where that is
less than what elapsed: the load of the machine was ${load.toFixed(1)} on ${cpus().length} CPUs.
The first 50 Jobs that come to each size are left out of it: the code is still being compiled then.

## Milliseconds per change of a cluster
| waiting | change | CPU, mean | elapsed: median | 99 % | longest |
|---|---|---|---|---|---|
${figures.flatMap((each) => each.changes.map((change) => changeRow(each, change))).join("\n")}

## Milliseconds per Job that comes
A Job of a shape that waits already costs a look-up. The first of a shape is compared with every cluster, and told why it
waits.

| waiting | median | 99 % | longest | memory of the process, MiB |
|---|---|---|---|---|
${figures
  .map((each) =>
    row(sizeOf(each), ...[0.5, 0.99, 1].map((part) => ms(percentile(each.arrivals, part))), each.rssMiB.toFixed(0)),
  )
  .join("\n")}

## The longest turn of the event loop
| waiting | in | elapsed, ms | CPU, ms | of it garbage collection, ms |
|---|---|---|---|---|
${figures.map((each) => row(sizeOf(each), each.longestTurn.what, ...turnCells(each.longestTurn))).join("\n")}

## A GPU fleet under more load than it has room for
The [simulation](../simulate.md) replays ${replay.jobs.toLocaleString("en")} Jobs (${replay.source}, drawn with replacement, at most a day
long) that ask for 130 % of the GPUs of ${replay.nodes.toLocaleString("en")} nodes while they come. It ends with the last one. The same Jobs run on one pool
that holds all nodes, by the same policy. Its scheduler knows of every node at every moment and binds at once. The manager of the
twelve clusters hears every five seconds what room there is, and its messages take half a second. GPUs count as used
under full load in the time in which Jobs ask for more than there are.

Schedulers choose the emptiest node that has room (LeastAllocated, as kube-scheduler does unless told otherwise), or the fullest
(MostAllocated).

| | ${replay.runs.flatMap(({ scoring }) => [`twelve, ${scoring}`, `pool, ${scoring}`]).join(" | ")} |
|---|${replay.runs.map(() => "---|---|").join("")}
${replayRows(replay)}

## Shares of queues that compete
Three queues of weights 1, 2 and 4 may use the same clusters; each offers one and a half times what it is entitled to:
${fairness.jobs.toLocaleString("en")} Jobs in ${fairness.hours} hours. Shares are of what the three hold together, averaged over the last half.

| queue | weight | share | should be | deviation |
|---|---|---|---|---|
${fairness.queues.map(({ name, weight, got, due }) => row(name, String(weight), percent(got), percent(due), percent(got / due - 1))).join("\n")}
`;

/** One complete run, as it is kept; earlier ones have fewer figures. */
export interface Run {
  readonly date: string;
  readonly load: string;
  readonly change10k: number;
  readonly factor: number;
  readonly change100k: number;
  readonly turn: number;
  readonly wrong?: number;
  /** Of the fleet that was replayed. */
  readonly nodes?: number;
  /** By scoring: LeastAllocated, MostAllocated. */
  readonly gpus?: string;
  readonly replay?: number;
  readonly deviation?: number;
}

export function runOf({ speed: { figures, load }, replay, fairness }: Results, date: string): Run | undefined {
  const [small, medium, , large] = figures;
  if (small === undefined || medium === undefined || large === undefined) return undefined;
  const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));
  return {
    date,
    load: load.toFixed(1),
    change10k: rounded(costliest(medium), 2),
    factor: rounded(costliest(medium) / costliest(small), 2),
    change100k: rounded(costliest(large), 2),
    turn: rounded(Math.max(stallOf(medium.longestTurn), stallOf(large.longestTurn)), 0),
    wrong: wrongIn(replay),
    nodes: replay.nodes,
    gpus: replay.runs.map((run) => partOfPool(run).toFixed(3)).join(", "),
    replay: rounded(longestOf(replay), 0),
    deviation: rounded(100 * largestDeviation(fairness), 1),
  };
}

export const runsTable = (runs: readonly Run[]): string => `## Runs
Every complete run so far; the page shows the last.

| date | load | CPU per change, 10,000 Jobs, ms | against 100 waiting | 100,000 Jobs, ms | longest turn, ms | nodes of the replay | wrong placements | GPUs, of one pool | replay, s | deviation of shares, % |
|---|---|---|---|---|---|---|---|---|---|---|
${runs
  .map(({ date, load, change10k, factor, change100k, turn, nodes, wrong, gpus, replay, deviation }) =>
    row(
      date,
      load,
      ...[change10k, factor, change100k, turn, nodes, wrong, gpus, replay, deviation].map((each) =>
        String(each ?? "-"),
      ),
    ),
  )
  .join("\n")}
`;

const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;
const turnCells = ({ ms: elapsed, cpuMs, gcMs }: Turn): string[] =>
  [elapsed, cpuMs, gcMs].map((each) => each.toFixed(1));

function replayRows({ runs }: Replay): string {
  const line = (what: string, value: (figures: Replay["runs"][number]["pool"]) => string): string =>
    row(what, ...runs.flatMap(({ twelve, pool }) => [value(twelve), value(pool)]));
  return [
    line("GPUs used under full load", (each) => percent(gpuUtilisation(each))),
    line("hours of full load", (each) => gpuFullHours(each).toFixed(1)),
    line("placements", ({ placements }) => placements.toLocaleString("en")),
    line("wrong placements", ({ wrongPlacements }) => String(wrongPlacements)),
    line("CPU per placement, ms", ({ cpuMsPerPlacement }) => cpuMsPerPlacement.toFixed(3)),
    line("CPU of the replay, s", ({ cpuSeconds }) => cpuSeconds.toFixed(0)),
    line("elapsed, s", ({ elapsedSeconds }) => elapsedSeconds.toFixed(0)),
  ].join("\n");
}
