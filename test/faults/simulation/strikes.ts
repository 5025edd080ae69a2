/**
 * Every life, with manager or agent struck at every write; and pairs, in which the second strike hits what follows the first.
 * `node strikes.ts [LIFE] [--every N] [--pairs]`: all of them, or every Nth.
 */
import { parseArgs } from "node:util";
import { LIVES } from "./lives.ts";
import { judgeAll, type Struck, type Verdict } from "./pool.ts";
import { runPlan } from "./run.ts";
import type { Blow, Strike } from "./striker.ts";

const ROLES = ["manager", "agent"] as const;
const EFFECTS = ["before", "after", "unanswered"] as const;

function* singles(
  life: string,
  writes: Readonly<Record<Strike["role"], number>>,
): Generator<Struck & { first: Strike }> {
  for (const role of ROLES)
    for (let nth = 1; nth <= writes[role]; nth++)
      for (const effect of EFFECTS) {
        const first: Strike = { role, nth, effect };
        yield { life, strikes: [first], first };
      }
}

/** What hits a fleet that is about to recover: whoever writes next dies, too, or the one after that, or Redis forgets. */
const SECONDS: readonly Blow[] = [
  ...ROLES.flatMap((role) =>
    [1, 2].flatMap((nth) => (["before", "after"] as const).map((effect): Strike => ({ role, nth, effect }))),
  ),
  { flushAfterMs: 250 },
  { flushAfterMs: 1_500 },
];

export interface Tally {
  readonly life: string;
  readonly writes: Readonly<Record<Strike["role"], number>>;
  singles: number;
  pairs: number;
  readonly broken: string[];
}

/** All strikes, or every `every`th, from the `offset`th on. */
export async function strikeAll(
  { only = "", every = 1, pairsEvery = 0 }: { only?: string; every?: number; pairsEvery?: number },
  onTally: (tally: Tally) => void = () => {},
): Promise<Tally[]> {
  const tallies: Tally[] = [];
  for (const [life, plan] of Object.entries(LIVES)) {
    if (!life.startsWith(only)) continue;
    const { writes, violations } = await runPlan(plan);
    const tally: Tally = { life, writes, singles: 0, pairs: 0, broken: [] };
    tallies.push(tally);
    for (const { rule, about, what } of violations) tally.broken.push(`without a strike: ${rule}: ${about}: ${what}`);
    const all = [...singles(life, writes)];
    const pairs = all.flatMap(({ first }) => SECONDS.map((second) => ({ life, strikes: [first, second] })));
    const tasks = [...sample(all, every), ...sample(pairs, pairsEvery)];
    await judgeAll<Struck>(tasks.values(), (verdict) => note(tally, verdict));
    onTally(tally);
  }
  return tallies;
}

function note(tally: Tally, { task, violations, landed }: Verdict<Struck>): void {
  if (task.strikes.length === 1) tally.singles++;
  else if (landed === task.strikes.length) tally.pairs++;
  const [first] = violations;
  if (first === undefined) return;
  tally.broken.push(`${JSON.stringify(task.strikes)}: ${first.rule}: ${first.about}: ${first.what}`);
}

const sample = <T>(all: readonly T[], every: number): T[] =>
  every === 0 ? [] : all.filter((_, index) => index % every === Math.floor(every / 2));

export function line({ life, writes, singles: single, pairs, broken }: Tally): string {
  const counted = `${writes.manager} writes of managers, ${writes.agent} of agents`;
  return `a Job that is ${life}: ${counted}; ${single} runs with one strike, ${pairs} with two, ${broken.length} broken`;
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    options: { every: { type: "string", default: "1" }, pairs: { type: "string", default: "0" } },
    allowPositionals: true,
  });
  const only = positionals[0] ?? "";
  const tallies = await strikeAll({ only, every: Number(values.every), pairsEvery: Number(values.pairs) }, (tally) =>
    console.log([line(tally), ...tally.broken.map((text) => `   ${text}`)].join("\n")),
  );
  process.exitCode = tallies.every(({ broken }) => broken.length === 0) ? 0 : 1;
}
