import type { Plan } from "./plan.ts";
import { runPlan } from "./run.ts";
import type { Step } from "./steps.ts";
import type { RuleName } from "./violations.ts";

/** Leaves out steps for as long as the same rule is broken without them. At most `maxRuns` runs. */
export async function shrink(plan: Plan, rule: RuleName, maxRuns = 150): Promise<Plan> {
  let { steps } = plan;
  let runs = 0;
  const stillFails = async (fewer: readonly Step[]): Promise<boolean> => {
    runs++;
    const { violations } = await runPlan({ ...plan, steps: fewer }, rule);
    return violations.some((violation) => violation.rule === rule);
  };
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    // From the end: what comes after the cause goes first.
    for (let end = steps.length; end > 0 && runs < maxRuns; end -= size) {
      const fewer = steps.toSpliced(Math.max(0, end - size), Math.min(size, end));
      if (await stillFails(fewer)) steps = fewer;
    }
  }
  return { ...plan, steps };
}
