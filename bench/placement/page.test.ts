import { expect, it } from "vitest";
import { fairness, largestDeviation } from "./fairness.ts";
import { goals, page, runOf, runsTable } from "./page.ts";
import { gpuUtilisation, replay } from "./replay.ts";

const shares = fairness(0.2);
const gpus = replay({ part: 0.004, hours: 8, progress: () => {} });
const turn = { ms: 80, cpuMs: 30, gcMs: 12, what: "a Job comes" };
const figures = [100, 10_000, 100, 100_000].map((waiting) => ({
  size: { waiting, shapes: 10, clusters: 5 },
  arrivals: [1, 2, 3],
  changes: [{ name: "nothing fits", cpuMs: 10, ms: [1, 2, 3, 4] }],
  longestTurn: turn,
  rssMiB: 100,
  placed: 3,
}));
const results = { speed: { figures, load: 1 }, replay: gpus, fairness: shares };

it("a small replay has no wrong placement, on twelve clusters or in a pool, and uses its GPUs", () => {
  for (const run of gpus.runs.flatMap(({ twelve, pool }) => [twelve, pool])) {
    expect(run.wrongPlacements).toBe(0);
    expect(run.jobs).toBe(gpus.jobs);
    expect(gpuUtilisation(run)).toBeGreaterThan(0.3);
  }
});

it("queues of weights 1, 2 and 4 get their parts", () => {
  expect(shares.queues.map(({ weight }) => weight)).toEqual([1, 2, 4]);
  expect(shares.wrongPlacements).toBe(0);
  expect(largestDeviation(shares)).toBeLessThan(0.1);
});

it("judges each goal by the figures: a turn by its CPU time, as far as it is less", () => {
  const judged = goals(results);
  expect(judged.map(({ what, met }) => [what.split(":")[0], met]).slice(0, 6)).toEqual([
    ["CPU per change of a cluster, 10,000 Jobs of 10 shapes, 5 clusters", false],
    ["the same, as a multiple of 100 waiting Jobs", true],
    ["CPU per change of a cluster, 100,000 Jobs of 10 shapes, 5 clusters", true],
    ["memory of that process, Jobs included", true],
    ["longest turn of the event loop in either", true],
    ["GPU fleet", true],
  ]);
  expect(judged[4]?.measured).toBe("30.0 ms");
});

it("the page names every part and every run", () => {
  const text = page(results);
  for (const part of [
    "## Goals",
    "## The longest turn",
    "## A GPU fleet",
    "## Shares of queues",
    "a Job comes | 80.0 | 30.0 | 12.0",
  ])
    expect(text.includes(part), part).toBe(true);
  expect(text).not.toMatch(/NaN|undefined/);
  const run = runOf(results, "2026-01-01");
  expect(runsTable(run === undefined ? [] : [run])).toMatch(
    /^\| 2026-01-01 \| [\d.]+ \| 2.5 \| 1 \| 2.5 \| 30 \| \d+ \| 0 \|/m,
  );
});
