/**
 * Every write of every scenario is crashed before, crashed after, refused in three ways and applied without an answer; every
 * watch event is lost until the next list, delayed and doubled. Nothing is sampled. The Job must end as in the undisturbed
 * run, and the invariants of every step must hold.
 */
import { afterAll, describe, expect, it } from "vitest";
import { type Disturbance, EVENT_EFFECTS, WRITE_EFFECTS } from "./disturbance.ts";
import { scenarios } from "./scenarios.ts";
import { type Ending, type Scenario, World } from "./world.ts";

interface Count {
  writes: number;
  events: number;
}

let runs = 0;
afterAll(() => console.log(`${runs} disturbed runs of ${scenarios.length} scenarios`));

async function undisturbed(make: () => Scenario): Promise<Count & { ending: Ending }> {
  const world = new World(make());
  const ending = await world.run();
  expect(world.violations).toEqual([]);
  return { ending, writes: world.meter.writes, events: world.meter.events };
}

async function disturbed(make: () => Scenario, disturbance: Disturbance, ending: Ending): Promise<string | undefined> {
  const world = new World(make(), disturbance);
  const result = await world.run();
  runs++;
  const problems = [...world.violations];
  // A run that goes another way may be over before the n-th comes; then it was the undisturbed run, and equal to it.
  if (JSON.stringify(result) !== JSON.stringify(ending)) problems.push(`ended as ${JSON.stringify(result)}`);
  const what = `${disturbance.effect} at ${disturbance.at} ${disturbance.nth}${world.meter.struck ? "" : " (did not come)"}`;
  return problems.length === 0 ? undefined : `${what}: ${problems.join("; ")}`;
}

describe.each(scenarios.map((make) => ({ name: make().name, make })))("$name", ({ make }) => {
  it("ends the same whatever goes wrong once", { timeout: 120_000 }, async () => {
    const { ending, writes, events } = await undisturbed(make);
    expect(ending.podsLeftWithFinalizer).toBe(0);
    const cases: Disturbance[] = [
      ...WRITE_EFFECTS.flatMap((effect) => upTo(writes).map((nth): Disturbance => ({ at: "write", nth, effect }))),
      ...EVENT_EFFECTS.flatMap((effect) => upTo(events).map((nth): Disturbance => ({ at: "event", nth, effect }))),
    ];
    const problems: string[] = [];
    for (const disturbance of cases) {
      const problem = await disturbed(make, disturbance, ending);
      if (problem !== undefined) problems.push(problem);
    }
    expect(problems, `undisturbed: ${JSON.stringify(ending)}`).toEqual([]);
  });
});

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
