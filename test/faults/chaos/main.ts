/**
 * `npm run test:chaos -- [--runs N] [--seconds S] [--jobs J] [--seed X] [--record FILE]`: chaos on real parts, N times; a line of JSON
 * for each run is added to FILE. Fails when one of them did.
 */
import { appendFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { lineOf, runChaos } from "./run.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1" },
    seconds: { type: "string", default: "120" },
    jobs: { type: "string", default: "500" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    record: { type: "string" },
  },
});
let inARow = 0;
for (let run = 0; run < Number(values.runs); run++) {
  const seed = Number(values.seed) + run;
  const result = await runChaos({ seed, jobs: Number(values.jobs), seconds: Number(values.seconds) });
  const { problems } = result;
  inARow = problems.length === 0 ? inARow + 1 : 0;
  if (problems.length > 0) process.exitCode = 1;
  for (const problem of problems) console.log(`   ${problem}`);
  console.log(`${lineOf(result)}; ${inARow} in a row`);
  const record = { at: new Date().toISOString(), load: loadavg()[0], ...result, problems: problems.slice(0, 20) };
  if (values.record !== undefined) appendFileSync(values.record, `${JSON.stringify(record)}\n`);
}
