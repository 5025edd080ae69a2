import { describe, expect, it } from "vitest";
import { Simulation } from "../engine/simulation.ts";
import { aFleet, aTraceJob, nodes } from "../testing/builders.ts";
import type { TraceJob } from "../trace/trace-job.ts";
import { figuresOf } from "./figures.ts";

const GPU = "nvidia.com/gpu";
const run = (fleet: ReturnType<typeof aFleet>, jobs: readonly TraceJob[]) => new Simulation({ fleet, jobs }).run();
const waitsOf = (outcome: ReturnType<typeof run>, queue = "default"): number[] =>
  (outcome.waitsMs[outcome.queues.findIndex(({ name }) => name === queue)] ?? []).map((ms) => ms / 1000);

describe("a trace with known answers", () => {
  it("one Job at a time on one node: each waits for the one before, and for the report of the room it left", () => {
    const jobs = ["a", "b", "c"].map((name) => aTraceJob(name, { run: 100 }));
    const outcome = run(aFleet({ only: [nodes(1, { cpu: 1000 })] }), jobs);
    const [first, second = 0, third = 0] = waitsOf(outcome);
    expect(first).toBe(0);
    // 100 s, messages of half a second, and a report every 5 s.
    for (const wait of [second, third - second]) {
      expect(wait).toBeGreaterThanOrEqual(100);
      expect(wait).toBeLessThanOrEqual(107);
    }
    expect(outcome).toMatchObject({ finished: 3, placements: 3, wrong: [], neverPlaced: [] });
    expect(figuresOf(outcome).queues).toMatchObject([{ queue: "default", jobs: 3 }]);
  });

  it("half of the CPUs for half of the time are a quarter", () => {
    const jobs = [aTraceJob("a", { asks: { cpu: 2000 }, run: 500 }), aTraceJob("last", { arrival: 1000, run: 1 })];
    const outcome = run(aFleet({ only: [nodes(1, { cpu: 4000 })] }), jobs);
    expect(figuresOf(outcome).resources[0]?.utilisation).toBeCloseTo(0.25, 2);
  });

  it("a Job that no node could ever hold is never placed, and the others are", () => {
    const jobs = [
      aTraceJob("huge", { asks: { cpu: 9000 } }),
      aTraceJob("small"),
      aTraceJob("gpu", { asks: { [GPU]: 1 } }),
    ];
    const outcome = run(aFleet({ only: [nodes(2, { cpu: 8000 })] }), jobs);
    expect(outcome.neverPlaced.map(({ name }) => name)).toEqual(["huge", "gpu"]);
    expect(outcome.finished).toBe(1);
  });

  it("labels, taints and tolerations decide where a Job may go", () => {
    const fleet = aFleet({
      plain: [nodes(1, { cpu: 8000 })],
      gpu: [nodes(1, { cpu: 8000 }, { labels: { zone: "b" }, taints: [{ key: "gpu", effect: "NoSchedule" }] })],
    });
    const inB = { nodeLabels: [{ key: "zone", values: ["a", "b"] }] };
    const outcome = run(fleet, [
      aTraceJob("kept-away", inB),
      aTraceJob("let-in", { ...inB, tolerations: [{ key: "gpu" }] }),
    ]);
    expect(outcome.neverPlaced.map(({ name }) => name)).toEqual(["kept-away"]);
    expect(outcome).toMatchObject({ finished: 1, wrong: [] });
  });

  it("a gang waits for all of its pods, a plain Job starts with one", () => {
    const blocker = aTraceJob("blocker", { asks: { cpu: 3000 }, run: 300 });
    const four = { arrival: 20, pods: 4, asks: { cpu: 1000 } };
    const fleet = aFleet({ only: [nodes(1, { cpu: 4000 })] });
    expect(waitsOf(run(fleet, [blocker, aTraceJob("plain", four)]))[1]).toBeLessThan(6);
    expect(waitsOf(run(fleet, [blocker, aTraceJob("gang", { ...four, gang: true })]))[1]).toBeGreaterThan(275);
  });

  it("the higher priority goes first", () => {
    const jobs = [
      aTraceJob("running", { run: 100 }),
      aTraceJob("low", { arrival: 1, run: 50 }),
      aTraceJob("high", { arrival: 2, run: 50, priority: 9 }),
    ];
    const waits = waitsOf(run(aFleet({ only: [nodes(1, { cpu: 1000 })] }), jobs));
    expect(waits.map((wait) => Math.round(wait / 50))).toEqual([0, 2, 3]);
  });

  it("two runs of one trace are the same", () => {
    const jobs = Array.from({ length: 60 }, (_, i) => aTraceJob(`j${i}`, { arrival: i, run: 30 + (i % 7) * 20 }));
    const fleet = aFleet({ a: [nodes(2, { cpu: 3000 })], b: [nodes(1, { cpu: 4000 })] });
    expect(run(fleet, jobs).waitsMs).toEqual(run(fleet, jobs).waitsMs);
  });
});

it("queues that compete get what their weights say", () => {
  const jobs = Array.from({ length: 900 }, (_, i) =>
    aTraceJob(`j${i}`, { arrival: i / 3, run: 40, queue: i % 3 === 0 ? "one" : "two", asks: { cpu: 100 } }),
  );
  const fleet = aFleet({ a: [nodes(4, { cpu: 1000 })], b: [nodes(4, { cpu: 1000 })] }, { one: {}, two: { weight: 3 } });
  const { queues, largestDeviation } = figuresOf(run(fleet, jobs), 60_000);
  expect(queues).toMatchObject([{ queue: "one" }, { queue: "two" }]);
  expect(largestDeviation).toBeLessThan(0.1);
});

it("a more important Job displaces a less important one, which runs again later and ends", () => {
  const jobs = [
    aTraceJob("low", { run: 600, queue: "q" }),
    aTraceJob("high", { arrival: 60, run: 100, queue: "q", priority: 9 }),
  ];
  const only = { only: [nodes(1, { cpu: 1000 })] };
  const patient = run(aFleet(only, { q: {} }), jobs);
  expect(patient).toMatchObject({ preemptions: 0, finished: 2 });
  expect(waitsOf(patient, "q")[1]).toBeGreaterThan(530);
  const rules = { preemption: { withinQueue: "LowerPriority" as const } };
  const outcome = run(aFleet(only, { q: rules }), jobs);
  expect(outcome).toMatchObject({ preemptions: 1, finished: 2, wrong: [] });
  expect(waitsOf(outcome, "q")[1]).toBeLessThan(30);
  // From the beginning again: 60 s are lost.
  expect(outcome.endMs / 1000).toBeGreaterThan(760);
});

it("a Job whose pods find no node moves to another cluster after a while, if there is one", () => {
  // Messages take so long that the nodes are reported twice before the pods come: placement gives the room away again.
  const late = { messageMs: 200_000 };
  const ticks = Array.from({ length: 40 }, (_, i) =>
    aTraceJob(`tick-${i}`, { arrival: 100 + 5 * i, run: 3, asks: { cpu: 1 }, queue: "q" }),
  );
  const jobs = [
    ...ticks,
    aTraceJob("first", { arrival: 300, run: 3_000, queue: "q" }),
    aTraceJob("second", { arrival: 480, run: 60, queue: "q" }),
  ];
  const queues = {
    q: { unschedulableAfter: "1m", placement: "Ordered" as const, preferredClusters: [{ matchLabels: { name: "a" } }] },
  };
  const a = { a: [nodes(1, { cpu: 1050 })] };
  const alone = new Simulation({ fleet: aFleet(a, queues), jobs, ...late }).run();
  expect(alone).toMatchObject({ moves: 0, finished: jobs.length, wrong: [{ bound: 0 }] });
  const both = aFleet({ ...a, b: [nodes(1, { cpu: 1000 })] }, queues);
  const outcome = new Simulation({ fleet: both, jobs, ...late }).run();
  expect(outcome).toMatchObject({ moves: 1, finished: jobs.length, preemptions: 0, wrong: [{ bound: 0 }] });
});

it("a queue that has spent its budget waits until the window has passed", () => {
  const jobs = [
    aTraceJob("first", { run: 3_600, queue: "q" }),
    aTraceJob("second", { arrival: 3_700, run: 60, queue: "q" }),
  ];
  const only = { only: [nodes(4, { cpu: 1000 })] };
  expect(waitsOf(run(aFleet(only, { q: {} }), jobs), "q")[1]).toBeLessThan(10);
  const budget = { window: "3h", resourceHours: { cpu: 1 } };
  const outcome = run(aFleet(only, { q: { budget } }), jobs);
  expect(outcome).toMatchObject({ finished: 2, neverPlaced: [] });
  const [, wait = 0] = waitsOf(outcome, "q");
  expect(wait).toBeGreaterThan(3_600);
  expect(wait).toBeLessThan(4 * 3_600);
});

it("a Job of a queue that selects no cluster is never placed", () => {
  const fleet = aFleet(
    { a: [nodes(1, { cpu: 8000 })] },
    { lost: { clusterSelector: { matchLabels: { no: "where" } } } },
  );
  expect(run(fleet, [aTraceJob("j", { queue: "lost" })]).neverPlaced).toHaveLength(1);
});
