/**
 * `npm run test:soak -- --minutes N`: new seeds on all cores until the time is over; fails when one of them does. `--only displaced`:
 * of these the ones with this situation or fault.
 */
import { parseArgs } from "node:util";
import { livenessLine } from "./liveness.ts";
import { planOf } from "./plan.ts";
import { judgeAll, type Verdict } from "./pool.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string" },
    count: { type: "string" },
    threads: { type: "string" },
    only: { type: "string" },
  },
});
const began = performance.now();
let endsAt = began + Number(values.minutes) * 60_000;
// What was judged until then is told.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    endsAt = 0;
  });
const first = Number(values.seed ?? 1_000_000 + Math.floor(Math.random() * 1_000_000_000));
const most = Number(values.count ?? Number.POSITIVE_INFINITY);

function* seeds(): Generator<number, void> {
  for (let seed = first, given = 0; given < most && performance.now() < endsAt; seed++) {
    if (values.only !== undefined && !planOf(seed).kinds.includes(values.only)) continue;
    given++;
    yield seed;
  }
}

const failed: Verdict[] = [];
const byRule = new Map<string, number[]>();
const byFault = new Map<string, { runs: number; failed: number }>();
const inOrderAfterMs: number[] = [];
let [runs, virtualMs, toldAt] = [0, 0, began];

await judgeAll(
  seeds(),
  (verdict) => {
    runs++;
    virtualMs += verdict.virtualMs;
    inOrderAfterMs.push(...verdict.inOrderAfterMs);
    for (const fault of verdict.kinds) {
      const tally = byFault.get(fault) ?? { runs: 0, failed: 0 };
      tally.runs++;
      if (verdict.violations.length > 0) tally.failed++;
      byFault.set(fault, tally);
    }
    if (verdict.violations.length > 0) {
      failed.push(verdict);
      tell(verdict);
      for (const rule of new Set(verdict.violations.map((violation) => violation.rule)))
        byRule.set(rule, [...(byRule.get(rule) ?? []), verdict.task]);
    }
    if (performance.now() - toldAt < 10_000) return;
    toldAt = performance.now();
    console.log(`${seconds()} s: ${runs} seeds, ${failed.length} failed, ${hours()} h simulated`);
  },
  values.threads === undefined ? undefined : Number(values.threads),
);

function seconds(): number {
  return Math.round((performance.now() - began) / 1000);
}

function hours(): string {
  return (virtualMs / 3_600_000).toFixed(1);
}

function tell({ task: seed, kinds, violations }: Verdict): void {
  console.log(`seed ${seed} (${kinds.join(", ")})`);
  for (const { rule, about, what, at } of violations.slice(0, 4))
    console.log(`   ${(at / 1000).toFixed(1)} ${rule}: ${about}: ${what.slice(0, 200)}`);
}

console.log("\nrule | failing seeds | for example");
for (const [rule, all] of [...byRule].toSorted((a, b) => b[1].length - a[1].length))
  console.log(
    `${rule} | ${all.length} | ${all
      .toSorted((a, b) => a - b)
      .slice(0, 8)
      .join(" ")}`,
  );
console.log("\nfault | seeds with it | of these failed");
for (const [fault, tally] of [...byFault].toSorted()) console.log(`${fault} | ${tally.runs} | ${tally.failed}`);
console.log(`\n${livenessLine(inOrderAfterMs)}`);
console.log(`${runs} seeds from ${first} on, ${failed.length} failed, ${hours()} h simulated in ${seconds()} s`);
if (failed.length > 0) console.log(`replay one: npm run simulate-faults -- --seed ${failed[0]?.task}`);
process.exitCode = failed.length === 0 ? 0 : 1;
