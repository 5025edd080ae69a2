/** The page that a run writes. */
import { cpus, loadavg } from "node:os";
import { type Change, type Figures, percentile } from "./measure.ts";

const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const ms = (value: number): string => (value < 0.995 ? value.toFixed(3) : value.toFixed(1));
const sizeOf = ({ size: { waiting, shapes, clusters } }: Figures): string =>
  `${waiting.toLocaleString("en")} Jobs of ${shapes.toLocaleString("en")} shapes, ${clusters.toLocaleString("en")} clusters`;
const meanCpu = ({ cpuMs, ms: each }: Change): number => cpuMs / each.length;
const costliest = ({ changes }: Figures): number => Math.max(...changes.map(meanCpu));

interface Goal {
  readonly what: string;
  readonly measured: string;
  readonly wanted: string;
  readonly met: boolean;
}

/** Each size is preceded by the same clusters with 100 Jobs. */
export function goals(figures: readonly Figures[]): Goal[] {
  const [small, medium, , large] = figures;
  if (small === undefined || medium === undefined || large === undefined) return [];
  const [perChange, factor] = [costliest(medium), costliest(medium) / costliest(small)];
  return [
    goal(`CPU per change of a cluster, ${sizeOf(medium)}`, perChange, 2, "ms"),
    goal("the same, as a multiple of 100 waiting Jobs", factor, 1.5, "x"),
    goal(`CPU per change of a cluster, ${sizeOf(large)}`, costliest(large), 5, "ms"),
    goal("memory of that process, Jobs included", large.rssMiB, 1536, "MiB"),
    goal("longest turn of the event loop in either", Math.max(medium.longestTurnMs, large.longestTurnMs), 50, "ms"),
  ];
}

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

export const page = (figures: readonly Figures[]): string => `# Placement among very many waiting Jobs

Written by \`npm run bench:placement\`. The placement code of the manager runs here without hub and Redis, on clusters that are
full: each has 96 nodes of three kinds, reported in 24 rows. The Jobs stand in 4 queues; a fifth of the shapes choose an
architecture, a fifth ask for GPUs and tolerate their taint. A change is a report of one cluster: the time is that of taking
the report in and of all that placement does about it, placements included. ${cpus()[0]?.model ?? ""}, Node ${process.version}.

## Goals
| what | measured | wanted | met |
|---|---|---|---|
${goals(figures)
  .map(({ what, measured, wanted, met }) => row(what, measured, wanted, met ? "yes" : "**no**"))
  .join("\n")}

The figure per change is the mean CPU time of the costliest kind of change below. The longest turn is elapsed time, also that in
which the machine did something else: its load was ${(loadavg()[0] ?? 0).toFixed(1)} on ${cpus().length} CPUs.
The first 50 Jobs that come to each size are left out of it: the code is still being compiled then.

## Milliseconds per change of a cluster
| waiting | change | CPU, mean | elapsed: median | 99 % | longest |
|---|---|---|---|---|---|
${figures.flatMap((each) => each.changes.map((change) => changeRow(each, change))).join("\n")}

## Milliseconds per Job that comes
A Job of a shape that waits already costs a look-up. The first of a shape is compared with every cluster, and told why it
waits.

| waiting | median | 99 % | longest | longest turn of the event loop | memory of the process, MiB |
|---|---|---|---|---|---|
${figures
  .map((each) =>
    row(
      sizeOf(each),
      ...[0.5, 0.99, 1].map((part) => ms(percentile(each.arrivals, part))),
      ms(each.longestTurnMs),
      each.rssMiB.toFixed(0),
    ),
  )
  .join("\n")}
`;
