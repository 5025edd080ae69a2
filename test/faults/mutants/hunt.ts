/**
 * `node hunt.ts [FIRST_WORDS ...] [--seeds N]`: runs the simulated fleet with each mutant until a rule is broken, first what has a name
 * (simulation/findings.ts), then seeds; or the one test that is named for it. Prints what found it, and after how many runs.
 */
import { execFile } from "node:child_process";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type Edit, type Killer, MUTANTS, type Mutant, mutated } from "./mutants.ts";

interface Found {
  /** The finding or seed that shows the bug, and the rule that it breaks; undefined: none did. */
  readonly by: string | undefined;
  readonly runs: number;
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
  let runs = 0;
  for (const finding of FINDINGS.toSorted((a, b) => kinship(b.name, mutant.name) - kinship(a.name, mutant.name)))
    for (const [index] of finding.variants.entries()) {
      runs++;
      const wrong = whatIsWrong(finding, await runPlan(planOfFinding(finding, index)));
      if (wrong !== undefined) return { by: `"${finding.name}": ${wrong}`, runs };
    }
  for (let seed = 1; seed <= seeds; seed++) {
    runs++;
    const [violation] = (await runPlan(planOf(seed))).violations;
    if (violation !== undefined) return { by: `seed ${seed}: ${violation.rule}`, runs };
  }
  return { by: undefined, runs };
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
  return { by: failed === undefined ? undefined : `${file}: ${failed.replace(/ +/g, " ")}`, runs: 1 };
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
    const { by, runs } = await huntFor(mutant, Number(values.seeds));
    if (by === undefined) left++;
    console.log(`${mutant.name} | ${by ?? "NOT FOUND"} | ${runs} runs`);
  }
  process.exitCode = left === 0 ? 0 : 1;
}
