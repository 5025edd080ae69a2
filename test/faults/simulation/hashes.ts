/** Prints what became of some seeds, a line each: `node hashes.ts SEED...`. Two processes must say the same. */
import { planOf } from "./plan.ts";
import { runPlan } from "./run.ts";

for (const seed of process.argv.slice(2).map(Number)) {
  const { hash, tasks } = await runPlan(planOf(seed));
  console.log(`${seed} ${hash} ${tasks}`);
}
