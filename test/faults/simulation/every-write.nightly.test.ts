/** Manager and agent are struck at every write of a Job's life: killed before and after it, or left without an answer. */
import { afterAll, describe, expect, it } from "vitest";
import type { Plan } from "./plan.ts";
import { runPlan } from "./run.ts";
import type { Step } from "./steps.ts";
import type { Strike } from "./striker.ts";

const START_MS = 9_000;
const at = (ms: number): number => START_MS + ms;
const submit = {
  at: START_MS,
  do: "submit",
  job: {
    ...{ name: "j0", kind: "indexed", policy: "StopThenRedispatch", completions: 3, parallelism: 2, suspend: false },
    ...{ runMs: 6_000, stopMs: 500 },
  },
} as const satisfies Step;

const LIVES: Record<string, readonly Step[]> = {
  "submitted, edited, finished": [submit, { at: at(3_000), do: "edit", name: "j0", spec: { parallelism: 3 } }],
  "suspended and resumed": [
    submit,
    { at: at(2_000), do: "edit", name: "j0", spec: { suspend: true } },
    { at: at(9_000), do: "edit", name: "j0", spec: { suspend: false } },
  ],
  "scaled down": [
    submit,
    { at: at(1_000), do: "edit", name: "j0", spec: { parallelism: 4, completions: 4 } },
    { at: at(8_000), do: "edit", name: "j0", spec: { parallelism: 2, completions: 2 } },
  ],
  deleted: [submit, { at: at(8_000), do: "delete", name: "j0", propagation: "Foreground" }],
  "drained, moved, and the drain undone": [
    submit,
    { at: at(8_000), do: "drain", cluster: "cluster of j0", ms: 20_000 },
  ],
  "displaced by a more important one": [
    { at: 1_000, do: "queue", name: "lab", spec: { preemption: { withinQueue: "LowerPriority" } } },
    { ...submit, job: { ...submit.job, queue: "lab", cpu: 30, only: "east" } },
    { ...submit, at: at(8_000), job: { ...submit.job, name: "j1", queue: "lab", cpu: 30, only: "east", priority: 10 } },
  ],
  "lost and moved": [submit, { at: at(3_000), do: "cut", program: "agent of j0", ms: 150_000, told: false }],
};
const EFFECTS = ["before", "after", "unanswered"] as const;

const planOf = (steps: readonly Step[]): Plan => ({
  world: { seed: 7, workers: ["east", "west"], planned: [], lostAfterSeconds: 60, maxLagMs: 5 },
  kinds: ["every write"],
  steps,
});

let runs = 0;
afterAll(() => console.log(`${runs} runs in which a manager or agent was struck at a write`));

describe.each(Object.entries(LIVES))("a Job that is %s", (_, steps) => {
  it.each(["manager", "agent"] as const)(
    "survives whatever strikes a %s at any write",
    { timeout: 1_800_000 },
    async (role) => {
      const plan = planOf(steps);
      const { writes, violations } = await runPlan(plan);
      expect(violations).toEqual([]);
      expect(writes[role]).toBeGreaterThan(2);
      const problems: string[] = [];
      for (let nth = 1; nth <= writes[role]; nth++)
        for (const effect of EFFECTS) {
          const strike: Strike = { role, nth, effect };
          const struck = await runPlan(plan, undefined, strike);
          runs++;
          const [first] = struck.violations;
          if (first !== undefined)
            problems.push(`${effect} write ${nth}: ${first.rule}: ${first.about}: ${first.what}`);
        }
      expect(problems).toEqual([]);
    },
  );
});
