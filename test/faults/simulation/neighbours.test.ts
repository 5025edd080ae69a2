/** One cluster hangs or is slow: Jobs of another reach it as fast as they do without that. */
import { expect, it } from "vitest";
import type { Plan } from "./plan.ts";
import { runPlan } from "./run.ts";
import type { FaultStep, PlannedJob, Step } from "./steps.ts";

const JOBS = 12;
const BEGIN_MS = 20_000;
const FAULT_MS = 60_000;

const job = (name: string, only: string, runMs: number): PlannedJob => ({
  ...{ name, only, runMs, kind: "plain", policy: "Wait", completions: 1, parallelism: 1, stopMs: 0, suspend: false },
});
const submit = (at: number, of: PlannedJob): Step => ({ at, do: "submit", job: of });

/** Busy with what goes to and comes from east, all the while. */
const EAST: readonly Step[] = Array.from({ length: JOBS }, (_, i) => [
  submit(9_000 + i * 100, job(`east-${i}`, "east", 100_000)),
  { at: BEGIN_MS + i * 4_000, do: "edit", name: `east-${i}`, spec: { parallelism: 2 } } as const,
  submit(BEGIN_MS + i * 4_000, job(`east-later-${i}`, "east", 1_000)),
]).flat();
const WEST: readonly Step[] = Array.from({ length: JOBS }, (_, i) =>
  submit(BEGIN_MS + 1_000 + i * 4_000, job(`west-${i}`, "west", 1_000)),
);

/** From the submission of each Job of west to its mirror and to its end on the hub. */
async function timesOnWest(faults: readonly FaultStep[]): Promise<{ mirror: number[]; over: number[] }> {
  const steps = [...EAST, ...WEST, ...faults.map((fault): Step => ({ at: BEGIN_MS, ...fault }))];
  const plan: Plan = {
    world: { seed: 5, workers: ["east", "west"], planned: [], lostAfterSeconds: 150, maxLagMs: 5 },
    kinds: ["neighbours"],
    steps: steps.toSorted((one, other) => one.at - other.at),
  };
  const { trace, violations } = await runPlan(plan);
  expect(violations).toEqual([]);
  const at = (pattern: RegExp): number => {
    const line = trace.find((each) => pattern.test(each));
    if (line === undefined) throw new Error(`no line like ${pattern}`);
    return Math.round(Number(line.trim().split(" ")[0]) * 1_000);
  };
  const names = Array.from({ length: JOBS }, (_, i) => `west-${i}`);
  const since = (name: string): number => at(new RegExp(`"submit".*"name":"${name}"`));
  return {
    mirror: names.map((name) => at(new RegExp(`west: mirror of ${name}, epoch 1, comes`)) - since(name)),
    over: names.map((name) => at(new RegExp(`west: pod ${name}-\\w+ Succeeded`)) - since(name)),
  };
}

const AGENT = "agent-east";
it.each<[string, readonly FaultStep[]]>([
  ["its agent stands still", [{ do: "freeze", program: AGENT, ms: FAULT_MS }]],
  ["its connection hangs", [{ do: "cut", program: AGENT, ms: FAULT_MS, told: false }]],
  ["its connection is slow", [{ do: "slow redis", program: AGENT, ms: FAULT_MS, lagMs: 3_000 }]],
  ["its part of Redis is away", [{ do: "shard away", cluster: "east", ms: FAULT_MS, empty: false }]],
  [
    "its API server does not answer",
    [{ do: "api errors", cluster: "east", ms: FAULT_MS, effects: ["hang-though-applied"], chance: 1 }],
  ],
])("another cluster is not slowed down when %s", async (_, faults) => {
  const [calm, disturbed] = [await timesOnWest([]), await timesOnWest(faults)];
  for (const what of ["mirror", "over"] as const) {
    const worst = Math.max(...disturbed[what].map((ms, i) => ms - (calm[what][i] ?? 0)));
    console.log(`${what}: ${Math.max(...calm[what])} ms at most without, at most ${worst} ms more with it`);
    expect(worst, what).toBeLessThan(50);
  }
});
