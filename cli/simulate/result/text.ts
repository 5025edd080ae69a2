import { table } from "../../hub/table.ts";
import { duration } from "../trace/seconds.ts";
import type { Figures } from "./figures.ts";

export interface Named {
  readonly name: string;
  readonly figures: Figures;
}

const percent = (part: number | null): string => (part === null ? "-" : `${(100 * part).toFixed(1)} %`);
const seconds = (value: number | undefined): string => (value === undefined ? "-" : duration(1000 * value));

/** One fleet, or two side by side. */
export function textOf(runs: readonly Named[]): string {
  const heads = runs.map(({ name }) => name);
  const line = (what: string, value: (figures: Figures) => string): string[] => [
    what,
    ...runs.map(({ figures }) => value(figures)),
  ];
  const lines = [
    line("Jobs", ({ jobs }) => String(jobs)),
    line("finished", ({ finished }) => String(finished)),
    line("never placed", ({ neverPlaced }) => String(neverPlaced)),
    line("wrong placements", ({ wrongPlacements }) => String(wrongPlacements)),
    line("preemptions", ({ preemptions }) => String(preemptions)),
    line("moves", ({ moves }) => String(moves)),
    line("largest deviation of share", ({ largestDeviation }) => percent(largestDeviation)),
    line("simulated time", ({ simulatedSeconds }) => seconds(simulatedSeconds)),
    line("CPU per placement", ({ cpuMsPerPlacement }) => `${cpuMsPerPlacement.toFixed(3)} ms`),
  ];
  const summary = runs.length === 1 ? table(lines[0] ?? [], lines.slice(1)) : table(["", ...heads], lines);
  return [summary, queueTable(runs), resourceTable(runs)].join("\n\n");
}

function queueTable(runs: readonly Named[]): string {
  const names = [...new Set(runs.flatMap(({ figures }) => figures.queues.map(({ queue }) => queue)))];
  const rows = names.flatMap((name) =>
    runs.flatMap((run) => {
      const found = run.figures.queues.find(({ queue }) => queue === name);
      if (found === undefined) return [];
      const { weight, jobs, waitSeconds, share, deviation } = found;
      const waits = [waitSeconds?.p50, waitSeconds?.p90, waitSeconds?.p99].map(seconds);
      return [[name, run.name, String(weight), String(jobs), ...waits, percent(share), percent(deviation)]];
    }),
  );
  const heads = ["QUEUE", "FLEET", "WEIGHT", "JOBS", "WAIT P50", "P90", "P99", "SHARE", "DEVIATION"];
  return without("FLEET", runs.length === 1, heads, rows);
}

function resourceTable(runs: readonly Named[]): string {
  const names = [...new Set(runs.flatMap(({ figures }) => figures.resources.map(({ resource }) => resource)))];
  const rows = names.flatMap((name) =>
    runs.flatMap((run) => {
      const found = run.figures.resources.find(({ resource }) => resource === name);
      if (found === undefined) return [];
      const { capacity, utilisation, underFullLoad, fullLoadSeconds } = found;
      const full = fullLoadSeconds === 0 ? "never" : seconds(fullLoadSeconds);
      return [[name, run.name, amount(name, capacity), percent(utilisation), percent(underFullLoad), full]];
    }),
  );
  const heads = ["RESOURCE", "FLEET", "THERE IS", "USED", "USED UNDER FULL LOAD", "FULL LOAD FOR"];
  return without("FLEET", runs.length === 1, heads, rows);
}

/** A column that says the same in every row is left out. */
function without(
  column: string,
  isLeftOut: boolean,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (!isLeftOut) return table(heads, rows);
  const at = heads.indexOf(column);
  return table(
    heads.filter((_, i) => i !== at),
    rows.map((row) => row.filter((_, i) => i !== at)),
  );
}

function amount(resource: string, units: number): string {
  if (resource === "cpu") return String(Math.round(units / 1000));
  return resource === "memory" ? `${Math.round(units / 2 ** 30)}Gi` : String(units);
}
