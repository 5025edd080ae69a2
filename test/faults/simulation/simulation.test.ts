/** What the search itself must be able to do; the search is in seeds.real.test.ts. */
import { describe, expect, it } from "vitest";
import { type Plan, planOf } from "./plan.ts";
import { runPlan } from "./run.ts";
import { isFault } from "./steps.ts";

const withoutFaults = (plan: Plan): Plan => ({
  ...plan,
  steps: plan.steps.filter((step) => !isFault(step) && step.do !== "drain" && step.do !== "delete mirror"),
});

describe("a simulated fleet", () => {
  it.each([3, 9, 20, 23])("goes the same way twice with seed %i", async (seed) => {
    const [one, other] = [await runPlan(planOf(seed)), await runPlan(planOf(seed))];
    expect(other.hash).toBe(one.hash);
    expect(other.trace).toEqual(one.trace);
    expect(other.tasks).toBe(one.tasks);
  });

  it("goes another way with another seed", async () => {
    const plan = withoutFaults(planOf(1));
    const other = { ...plan, world: { ...plan.world, seed: 2 } };
    expect((await runPlan(other)).hash).not.toBe((await runPlan(plan)).hash);
  });

  it("asks nobody but the seed for chance", async () => {
    const { random } = Math;
    let asked = "";
    Math.random = () => {
      asked ||= new Error("asked here").stack ?? "";
      return random();
    };
    try {
      await runPlan(planOf(2));
    } finally {
      Math.random = random;
    }
    expect(asked).toBe("");
  });

  it.each([1, 2, 3, 4, 5, 6])("breaks no rule without faults (seed %i)", async (seed) => {
    const { violations, trace } = await runPlan(withoutFaults(planOf(seed)));
    expect(violations, trace.slice(-40).join("\n")).toEqual([]);
  });
});
