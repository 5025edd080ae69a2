/** `npm run simulate-faults -- --seed N`: one seed again, with what it did, and the fewest steps that break the same rule. */
import { parseArgs } from "node:util";
import { type Plan, planOf } from "./plan.ts";
import { type Result, runPlan } from "./run.ts";
import { shrink } from "./shrink.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    lines: { type: "string", default: "60" },
    shrink: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
if (!Number.isSafeInteger(seed)) {
  console.error("Which seed? npm run simulate-faults -- --seed N [--lines N] [--shrink]");
  process.exit(2);
}

function show(plan: Plan, { violations, hash, trace, virtualMs, tasks }: Result): void {
  const broken = trace.findIndex((line) => line.includes("VIOLATED"));
  const end = broken < 0 ? trace.length : broken + 1;
  console.log(trace.slice(Math.max(0, end - Number(values.lines)), end).join("\n"));
  const kinds = plan.kinds.join(", ");
  console.log(`\nseed ${seed}: hash ${hash}, ${Math.round(virtualMs / 1000)} s simulated, ${tasks} tasks; ${kinds}`);
  for (const { rule, about, what, at } of violations)
    console.log(`${(at / 1000).toFixed(1)} "${rule}" is broken: ${about}: ${what}`);
}

const plan = planOf(seed);
const result = await runPlan(plan);
show(plan, result);
const rule = result.violations[0]?.rule;
if (rule !== undefined && values.shrink) {
  const least = await shrink(plan, rule);
  console.log(`\n${least.steps.length} of ${plan.steps.length} steps break "${rule}":`);
  for (const step of least.steps) console.log(JSON.stringify(step));
  console.log();
  show(least, await runPlan(least, rule));
}
process.exit(rule === undefined ? 0 : 1);
