/** The search itself: every seed is a fleet of its own, with faults of its own, and breaks no rule. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { livenessLine } from "./liveness.ts";
import { judgeAll, type Verdict } from "./pool.ts";

const SEEDS = 300;
/** Beyond those: seeds that once broke a rule. What they were then, other code makes something else of; they stay in the search. */
const ONCE_BROKEN = [365, 1019, 1049, 1066, 1168];
const TWICE = [1, 2, 3, 20, 29, 45, 131, 205, 210, 291];

async function hashes(): Promise<string[]> {
  const script = fileURLToPath(new URL("hashes.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...TWICE.map(String)]);
  return stdout.trim().split("\n");
}

describe("simulated fleets", () => {
  it(`break no rule, with ${SEEDS} seeds and those that once did`, { timeout: 1_200_000 }, async () => {
    const verdicts: Verdict[] = [];
    const upTo = Array.from({ length: SEEDS }, (_, index) => index + 1);
    const cpu = process.cpuUsage();
    await judgeAll([...upTo, ...ONCE_BROKEN].values(), (verdict) => void verdicts.push(verdict));
    const { user, system } = process.cpuUsage(cpu);
    const broken = verdicts.filter(({ violations }) => violations.length > 0);
    const sum = (of: (verdict: Verdict) => number): number =>
      verdicts.reduce((total, verdict) => total + of(verdict), 0);
    const hours = (sum(({ virtualMs }) => virtualMs) / 3_600_000).toFixed(1);
    const kinds = new Set(verdicts.flatMap((verdict) => verdict.kinds));
    console.log(
      `${verdicts.length} seeds, ${broken.length} broken: ${hours} h simulated, ${sum(({ tasks }) => tasks)} tasks, ` +
        `${kinds.size} kinds of faults and situations, ${Math.round((user + system) / 1e6)} s of CPU`,
    );
    console.log(livenessLine(verdicts.flatMap(({ inOrderAfterMs }) => inOrderAfterMs)));
    expect(
      broken.map(({ task: seed, violations: [first] }) => `seed ${seed}: ${first?.rule}: ${first?.about}`),
    ).toEqual([]);
    expect(verdicts).toHaveLength(SEEDS + ONCE_BROKEN.length);
    // Each kind has its turn, or the search would not be one.
    expect(kinds.size).toBeGreaterThan(25);
  });

  it(`go the same way in two processes, with ${TWICE.length} seeds`, { timeout: 1_200_000 }, async () => {
    const [one, other] = await Promise.all([hashes(), hashes()]);
    expect(one).toHaveLength(TWICE.length);
    expect(other).toEqual(one);
  });
});
