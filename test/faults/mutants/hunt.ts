/**
 * `node hunt.ts [FIRST_WORDS ...] [--seeds N]`: runs the simulated fleet with each mutant until a rule is broken, first what has a name
 * (simulation/findings.ts), then seeds; prints what found it, and after how many runs.
 */
import { registerHooks } from "node:module";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type Edit, MUTANTS, type Mutant } from "./mutants.ts";

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
      let source = String(loaded.source);
      for (const { file, from, to } of edits.filter((each) => url.endsWith(`/${each.file}`))) {
        if (source.split(from).length !== 2) throw new Error(`${file} has not exactly one ${JSON.stringify(from)}`);
        source = source.replace(from, () => to);
      }
      return edits.some(({ file }) => url.endsWith(`/${file}`)) ? { ...loaded, source } : loaded;
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

/** In a thread of its own, which loads everything anew. */
export function huntFor(mutant: Mutant, seeds: number): Promise<Found> {
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
