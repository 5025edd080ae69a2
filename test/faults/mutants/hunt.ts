/**
 * `node hunt.ts [FIRST_WORDS ...] [--seeds N]`: runs the simulated fleet with each mutant until a rule is broken, once by seeds alone,
 * once by what has a name (simulation/findings.ts); or the one test that is named for it. Prints what found it, and after how many.
 */
import { execFile } from "node:child_process";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type Edit, type Killer, MUTANTS, type Mutant, mutated } from "./mutants.ts";

export interface Found {
  /** The named run or test that shows the bug; undefined: none does. */
  readonly named: string | undefined;
  /** The first seed that shows it, and the rule that it breaks. Its number is how many were needed. */
  readonly seed?: { readonly number: number; readonly rule: string } | undefined;
}

/** From now on this thread loads the product with these edits in it. */
function mutate(edits: readonly Edit[]): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const source = mutated(edits, url, String(loaded.source));
      return source === undefined ? loaded : { ...loaded, source };
    },
  });
}

/** How many words two names share: what is about the same thing is tried first. */
const kinship = (one: string, other: string): number => {
  const words = new Set(other.split(" ").filter((word) => word.length > 3 || /^F\d+$/.test(word)));
  return one.split(/[ ()]/).filter((word) => words.has(word)).length;
};

async function hunt(mutant: Mutant, seeds: number): Promise<Found> {
  mutate(mutant.edits);
  const { FINDINGS, planOfFinding, whatIsWrong } = await import("../simulation/findings.ts");
  const { planOf } = await import("../simulation/plan.ts");
  const { runPlan } = await import("../simulation/run.ts");
  const bySeed = async (): Promise<Found["seed"]> => {
    for (let number = 1; number <= seeds; number++) {
      const [violation] = (await runPlan(planOf(number))).violations;
      if (violation !== undefined) return { number, rule: violation.rule };
    }
    return undefined;
  };
  const byName = async (): Promise<string | undefined> => {
    for (const finding of FINDINGS.toSorted((a, b) => kinship(b.name, mutant.name) - kinship(a.name, mutant.name)))
      for (const [index] of finding.variants.entries()) {
        const wrong = whatIsWrong(finding, await runPlan(planOfFinding(finding, index)));
        if (wrong !== undefined) return `"${finding.name}": ${wrong}`;
      }
    return undefined;
  };
  return { named: await byName(), seed: await bySeed() };
}

/** Its test is run with the bug in it, and must fail: by its assertions, not because nothing could be loaded. */
async function runKiller({ name }: Mutant, { project, file }: Killer): Promise<Found> {
  const vitest = fileURLToPath(new URL("../../../node_modules/vitest/vitest.mjs", import.meta.url));
  const env = { ...process.env, JOBFERRY_MUTANT: name, NO_COLOR: "1" };
  const ended = await promisify(execFile)(
    process.execPath,
    [vitest, "run", "--experimental.fsModuleCache=false", "--project", project, file],
    { env },
  ).then(
    () => "",
    ({ stdout }: { stdout: string }) => stdout,
  );
  const [failed] = /Tests +\d+ failed/.exec(ended) ?? [];
  return { named: failed === undefined ? undefined : `${file}: ${failed.replace(/ +/g, " ")}` };
}

/** In a thread of its own, which loads everything anew. */
export function huntFor(mutant: Mutant, seeds: number): Promise<Found> {
  if (mutant.killer !== undefined) return runKiller(mutant, mutant.killer);
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { name: mutant.name, seeds } });
    worker.once("message", (found: Found) => {
      resolve(found);
      void worker.terminate();
    });
    worker.once("error", reject);
  });
}

/** One that the generators can express is to be found by them; the others by what is named for them. */
export const isFound = ({ killer, directed }: Mutant, { named, seed }: Found): boolean =>
  killer !== undefined || directed === true ? named !== undefined : seed !== undefined;

export const lineOf = ({ name }: Mutant, { named, seed }: Found): string =>
  `${name} | ${seed === undefined ? "none" : `${seed.number} (${seed.rule})`} | ${named ?? "none"}`;

if (!isMainThread && typeof workerData?.name === "string") {
  const { name, seeds } = workerData as { name: string; seeds: number };
  const mutant = MUTANTS.find((each) => each.name === name);
  if (mutant !== undefined) parentPort?.postMessage(await hunt(mutant, seeds));
} else if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    options: { seeds: { type: "string", default: "300" } },
    allowPositionals: true,
  });
  let left = 0;
  const isWanted = ({ name }: Mutant): boolean =>
    positionals.length === 0 || positionals.some((words) => name.startsWith(words));
  for (const mutant of MUTANTS.filter(isWanted)) {
    const found = await huntFor(mutant, Number(values.seeds));
    if (!isFound(mutant, found)) left++;
    console.log(lineOf(mutant, found));
  }
  process.exitCode = left === 0 ? 0 : 1;
}
