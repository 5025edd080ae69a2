import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import { describe, expect, it } from "vitest";
import { Budget, type BudgetRules, budgetRules } from "./budget.ts";

const HOUR = 3_600_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const aQueue = (budget: NonNullable<JobQueue["spec"]>["budget"]): JobQueue => ({
  metadata: { name: "q" },
  spec: budget === undefined ? {} : { budget },
});
const rules: BudgetRules = { windowHours: 24, limits: new Map([["nvidia.com/gpu", 10]]) };
const gpus = (count: number) => new Map([["nvidia.com/gpu", count]]);
/** Counted from hour to hour. */
const spend = (budget: Budget, perHour: number[], from = START): number => {
  budget.count(new Map(), from, rules);
  for (const [i, count] of perHour.entries()) budget.count(gpus(count), from + (i + 1) * HOUR, rules);
  return from + perHour.length * HOUR;
};

describe("a budget", () => {
  it("reads limits in the units of the resource, and thirty days unless a window is set", () => {
    expect(budgetRules(aQueue({ resourceHours: { cpu: "1500m", memory: "1Ki" } }))).toEqual({
      windowHours: 720,
      limits: new Map([
        ["cpu", 1500],
        ["memory", 1024],
      ]),
    });
    expect(budgetRules(aQueue({ resourceHours: { cpu: 2 }, window: "24h" }))?.windowHours).toBe(24);
    expect(budgetRules(aQueue(undefined))).toBeUndefined();
  });

  it("is spent by what is held, and says when it can go on", () => {
    const budget = new Budget();
    spend(budget, [4, 4]);
    expect(budget.obstacle(rules)).toBeUndefined();
    budget.count(gpus(4), START + 3 * HOUR, rules);
    expect(budget.obstacle(rules)).toBe(
      "12 of 10 nvidia.com/gpu-hours in 24 hours are spent; it can go on at 2026-01-02T00:00Z at the earliest",
    );
    budget.count(gpus(0), START + 24 * HOUR, rules);
    expect(budget.obstacle(rules)).toBeUndefined();
    expect(budget.spent("nvidia.com/gpu")).toBe(8);
  });

  it("goes on where the status ends, and counts what ran while nobody looked", () => {
    const before = new Budget();
    const at = spend(before, [4]);
    const after = new Budget(JSON.parse(JSON.stringify(before.toStored(rules))));
    after.count(gpus(2), at + 2 * HOUR, rules);
    expect(after.spent("nvidia.com/gpu")).toBe(8);
    expect(after.toStored(rules)).toMatchObject({ spent: { "nvidia.com/gpu": "8.0000" } });
  });

  it("keeps no more hours than its window has", () => {
    const budget = new Budget();
    spend(
      budget,
      Array.from({ length: 100 }, () => 1),
    );
    expect(Object.keys(budget.toStored(rules).hours)).toHaveLength(24 - 1);
    expect(budget.spent("nvidia.com/gpu")).toBe(23);
  });

  it("takes a status that makes no sense for nothing", () => {
    const budget = new Budget({ spent: {}, countedTo: "never", hours: { x: { "nvidia.com/gpu": "much" } } });
    budget.count(gpus(1), START, rules);
    expect(budget.spent("nvidia.com/gpu")).toBe(0);
  });
});
