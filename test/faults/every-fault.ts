/**
 * Every write of every scenario is crashed before, crashed after, refused in three ways and applied without an answer; every
 * watch event is lost until the next list, delayed and doubled. Nothing is sampled. The Job must end as in the undisturbed
 * run, and the invariants of every step must hold.
 */
import { afterAll, describe, expect, it } from "vitest";
import { type Disturbance, EVENT_EFFECTS, WRITE_EFFECTS } from "./disturbance.ts";
import type { Scenario } from "./scenario.ts";
import { type Ending, type Sabotage, World } from "./world.ts";

/** One fault may cost a retry, a restart and the time until a lost event shows; nothing may hang for longer. */
const MAY_TAKE_LONGER_MS = 60_000;

interface Undisturbed {
  readonly ending: Ending;
  readonly overMs: number;
  readonly violations: readonly string[];
  /** Every fault that can be done to this run. */
  readonly faults: readonly Disturbance[];
}

export async function undisturbed(make: () => Scenario, sabotage: Sabotage = {}): Promise<Undisturbed> {
  const world = new World(make(), undefined, sabotage);
  const ending = await world.run();
  const { writes, events } = world.meter;
  return {
    ending,
    overMs: world.overMs,
    violations: world.violations,
    faults: [
      ...WRITE_EFFECTS.flatMap((effect) => upTo(writes).map((nth): Disturbance => ({ at: "write", nth, effect }))),
      ...EVENT_EFFECTS.flatMap((effect) => upTo(events).map((nth): Disturbance => ({ at: "event", nth, effect }))),
    ],
  };
}

/** What the fault changed that it must not change; undefined when nothing. */
export async function disturbed(
  make: () => Scenario,
  disturbance: Disturbance,
  { ending, overMs }: Pick<Undisturbed, "ending" | "overMs">,
  sabotage: Sabotage = {},
): Promise<string | undefined> {
  const world = new World(make(), disturbance, sabotage);
  const result = await world.run();
  const problems = [...world.violations];
  // A run that goes another way may be over before the n-th comes; then it was the undisturbed run, and equal to it.
  if (JSON.stringify(result) !== JSON.stringify(ending)) problems.push(`ended as ${JSON.stringify(result)}`);
  if (world.overMs > overMs + MAY_TAKE_LONGER_MS) problems.push(`took ${world.overMs - overMs} ms longer`);
  const what = `${disturbance.effect} at ${disturbance.at} ${disturbance.nth}${world.meter.struck ? "" : " (did not come)"}`;
  return problems.length === 0 ? undefined : `${what}: ${problems.join("; ")}`;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

export function sufferEveryFault(scenarios: readonly (() => Scenario)[]): void {
  let runs = 0;
  afterAll(() => console.log(`${runs} disturbed runs of ${scenarios.length} scenarios`));
  describe.each(scenarios.map((make) => ({ name: make().name, make })))("$name", ({ make }) => {
    it("ends the same whatever goes wrong once", { timeout: 240_000 }, async () => {
      const reference = await undisturbed(make);
      expect(reference.violations).toEqual([]);
      expect(reference.ending.podsLeftWithFinalizer).toBe(0);
      const problems: string[] = [];
      for (const disturbance of reference.faults) {
        const problem = await disturbed(make, disturbance, reference);
        runs++;
        if (problem !== undefined) problems.push(problem);
      }
      expect(problems, `undisturbed: ${JSON.stringify(reference.ending)}`).toEqual([]);
    });
  });
}
