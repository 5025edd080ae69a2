/** What placement costs when very many Jobs wait. `npm run bench:placement` takes some minutes and writes docs/bench/placement.md. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { wrapProse } from "../../scripts/prose/wrap.ts";
import { fairness } from "./fairness.ts";
import { measure } from "./measure.ts";
import { page, type Results, type Run, runOf, runsTable } from "./page.ts";
import { replay } from "./replay.ts";

const HELP = `npm run bench:placement -- [--quick] [--trace FILE] [--page FILE] [--results FILE [--part PART]]

Measures placement with very many waiting Jobs and writes docs/bench/placement.md.
  --quick      small sizes, to see that everything runs; the figures mean nothing
  --trace FILE draws the Jobs of the GPU fleet from this task list, not from the generator
  --page FILE  writes there instead
  --results FILE
               keeps what was measured, and measures only what is not there yet
  --part PART  of speed, fairness and replay only this one, for a machine that is yours for minutes only`;

const RUNS = join(import.meta.dirname, "runs.json");

const SIZES = [
  { waiting: 100, shapes: 100, clusters: 200 },
  { waiting: 10_000, shapes: 5_000, clusters: 200 },
  { waiting: 100, shapes: 100, clusters: 1_000 },
  { waiting: 100_000, shapes: 20_000, clusters: 1_000 },
];

const { values: flags } = parseArgs({
  options: {
    help: { type: "boolean" },
    quick: { type: "boolean", default: false },
    trace: { type: "string" },
    page: { type: "string" },
    results: { type: "string" },
    part: { type: "string" },
  },
});

/** Each is some minutes of work. */
const PARTS: { readonly [Part in keyof Results]: () => Promise<Results[Part]> } = {
  speed: async () => {
    const part = flags.quick ? 0.01 : 1;
    const figures = [];
    for (const { waiting, shapes, clusters } of SIZES) {
      const size = { waiting: Math.ceil(waiting * part), shapes: Math.ceil(shapes * part), clusters };
      figures.push(await measure(size, flags.quick ? 20 : 400));
      console.error(`${size.waiting} waiting Jobs, ${size.clusters} clusters: done`);
    }
    return { figures, load: loadavg()[0] ?? 0 };
  },
  fairness: async () => fairness(flags.quick ? 0.5 : 2),
  replay: async () =>
    replay({
      trace: flags.trace,
      part: flags.quick ? 0.02 : 1,
      hours: flags.quick ? 8 : 12,
      progress: (text) => console.error(text),
    }),
};

async function measured(): Promise<Partial<Results>> {
  const file = flags.results;
  const kept = file !== undefined && existsSync(file) ? await readFile(file, "utf8") : "{}";
  let results = JSON.parse(kept) as Partial<Results>;
  for (const name of Object.keys(PARTS) as (keyof Results)[]) {
    if (results[name] !== undefined || (flags.part !== undefined && flags.part !== name)) continue;
    results = { ...results, [name]: await PARTS[name]() };
    console.error(`${name}: done`);
    if (file !== undefined) await writeFile(file, JSON.stringify(results));
  }
  return results;
}

async function writePage(results: Results): Promise<void> {
  const findings = await readFile(join(import.meta.dirname, "findings.md"), "utf8");
  const runs = JSON.parse(await readFile(RUNS, "utf8")) as Run[];
  const run = flags.quick ? undefined : runOf(results, new Date().toISOString().slice(0, 10));
  const all = run === undefined ? runs : [...runs, run];
  const text = wrapProse([page(results).trimEnd(), findings.trimEnd(), runsTable(all)].join("\n\n"));
  await writeFile(flags.page ?? join(import.meta.dirname, "../../docs/bench/placement.md"), text);
  // What goes to another place was a try.
  if (flags.page === undefined && run !== undefined)
    await writeFile(RUNS, `[\n${all.map((each) => `  ${JSON.stringify(each)}`).join(",\n")}\n]\n`);
  console.log(text);
}

if (flags.help === true) console.log(HELP);
else {
  const { speed, fairness: shares, replay: gpus } = await measured();
  if (speed !== undefined && shares !== undefined && gpus !== undefined)
    await writePage({ speed, fairness: shares, replay: gpus });
}
