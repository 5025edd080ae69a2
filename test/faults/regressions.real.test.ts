/** Proof that the fault runs can fail: every regression of the field is found by them. */
import { describe, expect, it } from "vitest";
import { disturbed, undisturbed } from "./every-fault.ts";
import { type Regression, regressions } from "./regressions.ts";
import type { Scenario } from "./scenario.ts";
import { changing } from "./scenarios-changing.ts";
import { finishing } from "./scenarios-finishing.ts";

function scenarioNamed(beginning: string): () => Scenario {
  const make = [...finishing, ...changing].find((candidate) => candidate().name.startsWith(beginning));
  if (make === undefined) throw new Error(`no scenario is named ${beginning}`);
  return make;
}

/** What the first run says that shows the symptom; the run without a fault is tried first. */
async function firstHit({ scenario, sabotage, symptom }: Regression): Promise<string | undefined> {
  const make = scenarioNamed(scenario);
  const healthy = await undisturbed(make);
  expect(JSON.stringify(healthy)).not.toMatch(symptom);
  const broken = await undisturbed(make, sabotage);
  const unprovoked = `without a fault: ${[...broken.violations, JSON.stringify(broken.ending)].join("; ")}`;
  if (symptom.test(unprovoked)) return unprovoked;
  for (const fault of broken.faults) {
    const problem = await disturbed(make, fault, healthy, sabotage);
    if (problem !== undefined && symptom.test(problem)) return problem;
  }
  return undefined;
}

describe("a regression is found", () => {
  it.each(regressions)("$name", { timeout: 240_000 }, async (regression) => {
    const hit = await firstHit(regression);
    expect(hit, "no run showed it").toMatch(regression.symptom);
    console.log(`${regression.name}: ${hit?.slice(0, 200)}`);
  });
});
