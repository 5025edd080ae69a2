import { expect, it } from "vitest";
import { type Cost, type Figures, percentile, split, type Turn, without } from "./figures.ts";
import { goals } from "./goals.ts";
import { page } from "./page.ts";
import { type CpuProfile, summarise } from "./profile.ts";
import { quickSizes } from "./sizes.ts";

const use = (cpuSeconds: number) => ({ cpuSeconds, residentMiB: 100 });
const uses = { manager: use(0.5), agents: use(0.5), redis: use(0.2), hub: use(3), workers: use(4) };

const aCost = (over: Partial<Cost> = {}): Cost => ({
  jobs: 100,
  seconds: 2,
  hubWrites: { "POST jobs": 100, "PATCH jobs": 100, "POST events": 100, "PUT jobs/status": 100, "PUT leases": 7 },
  workerWrites: { "POST jobs": 100, "POST pods": 100, "PUT pods/status": 200, "POST pods/binding": 100 },
  uses,
  ...over,
});

const aTurn = (over: Partial<Turn> = {}): Turn => ({
  first: "dispatched",
  sequence: { ...aCost(), toPodMs: [40, 50, 300], toCompleteMs: [100, 120, 900] },
  bursts: [aCost()],
  builtIn: { toPodMs: [40], toCompleteMs: [1_000], bursts: [{ jobs: 100, seconds: 4, cpuSeconds: 5 }] },
  ...over,
});

const theFigures = (over: Partial<Figures> = {}): Figures => ({
  sizes: { ...quickSizes, bursts: [100] },
  ...{ kubernetes: "v1", redis: "7", began: new Date(0), load: 0, tookSeconds: 1 },
  turns: [aTurn()],
  timeline: [
    { what: "second", atMs: [5, 6, Number.NaN] },
    { what: "first", atMs: [1, 2, 3] },
  ],
  profiles: { manager: [{ part: "zod", share: 0.2 }], agent: [{ part: "undici", share: 0.3 }] },
  waiting: [
    {
      waiting: 100,
      placements: 10,
      seconds: 1,
      managerCpuSeconds: 0.1,
      managerMiB: 90,
      hubWrites: { "PATCH jobs": 20 },
    },
    { waiting: 9_000, placements: 10, seconds: 1.2, managerCpuSeconds: 0.2, managerMiB: 190, hubWrites: {} },
  ],
  manyWorkers: {
    ...{ workers: 200, jobs: 3, perSecond: 20, toMirrorMs: [10, 20, 999], missing: 0, seconds: 10, uses },
    idle: { seconds: 10, uses },
  },
  ...over,
});

const unmet = (figures: Figures): string[] => goals(figures).flatMap(({ what, met }) => (met ? [] : [what]));

it("a percentile is one of the values", () => {
  expect(percentile([3, 1, 2, 4], 0.5)).toBe(2);
  expect(percentile([3, 1, 2, 4], 0.99)).toBe(4);
  expect(percentile([7], 0.01)).toBe(7);
  expect(percentile([], 0.5)).toBeNaN();
});

it("keeps the writes of Jobs apart from those of time", () => {
  const { ofJobs, ofTime } = split({
    "PUT jobs/status": 1,
    "POST events": 2,
    "PUT leases": 3,
    "PATCH jobqueues/status": 4,
  });
  expect(ofJobs).toEqual({ "PUT jobs/status": 1, "POST events": 2 });
  expect(ofTime).toEqual({ "PUT leases": 3, "PATCH jobqueues/status": 4 });
  expect(without(ofJobs, "POST events")).toEqual({ "PUT jobs/status": 1 });
});

it("finds each goal met, or not, by its own figure", () => {
  expect(unmet(theFigures())).toEqual([expect.stringContaining("CPU time of the manager per placement")]);
  const costly = aTurn({ bursts: [aCost({ uses: { ...uses, redis: use(0.3) } })] });
  expect(unmet(theFigures({ turns: [costly] }))).toContainEqual(expect.stringContaining("manager, agents and Redis"));
  const late = aTurn({ sequence: { ...aCost(), toPodMs: [61], toCompleteMs: [100] } });
  expect(unmet(theFigures({ turns: [late] }))).toContainEqual(expect.stringContaining("create to worker pod"));
  const slow = aTurn({ bursts: [aCost({ seconds: 5 })] });
  expect(unmet(theFigures({ turns: [slow] }))).toContainEqual(expect.stringContaining("burst of 100 one-pod Jobs"));
  const chatty = aCost({ hubWrites: { ...aCost().hubWrites, "PUT jobs/status": 102 } });
  expect(unmet(theFigures({ turns: [aTurn({ bursts: [chatty] })] }))).toContainEqual(
    expect.stringMatching(/hub API writes.*burst of 100/),
  );
  const lost = { ...theFigures().manyWorkers, missing: 1 };
  expect(unmet(theFigures({ manyWorkers: lost }))).toContainEqual(expect.stringContaining("200 embedded workers"));
});

it("does not count the user's create among the writes on the hub", () => {
  const goal = goals(theFigures()).find(({ what }) => what.startsWith("hub API writes"));
  expect(goal?.measured).toBe("3.00");
});

it("writes a page with every figure in it, steps in the order of their times", () => {
  const text = page(theFigures(), "## Findings\n");
  expect(text).not.toContain("undefined");
  expect(text).not.toContain("NaN");
  expect(text.indexOf("| first | 2.0 |")).toBeGreaterThan(0);
  expect(text.indexOf("| first |")).toBeLessThan(text.indexOf("| second | 5.0 |"));
  expect(text).toContain("| 1 | dispatched | 100 | 50.0 | 25.0 | 2.00 | 82 | 50 |");
  expect(text).toContain("hub: 14 PUT leases");
});

it("counts a sample for the innermost package on its stack", () => {
  const frame = (functionName: string, url = "") => ({ functionName, url });
  const profile: CpuProfile = {
    nodes: [
      { id: 1, callFrame: frame("(root)"), children: [2, 5] },
      { id: 2, callFrame: frame("send", "file:///x/node_modules/undici/lib/a.js"), children: [3] },
      { id: 3, callFrame: frame("writev"), children: [] },
      { id: 5, callFrame: frame("(idle)") },
    ],
    samples: [3, 5, 2, 1],
    timeDeltas: [30, 1_000, 50, 20],
  };
  expect(summarise(profile)).toEqual([
    { part: "undici", share: 0.8 },
    { part: "Node itself", share: 0.2 },
  ]);
});
