/** What placement costs when very many Jobs wait. `npm run bench:placement` takes some minutes and writes docs/bench/placement.md. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { wrapProse } from "../../scripts/prose/wrap.ts";
import { fairness } from "./fairness.ts";
import { measure } from "./measure.ts";
import { page, type Run, runOf, runsTable } from "./page.ts";
import { replay } from "./replay.ts";

const HELP = `npm run bench:placement -- [--quick] [--trace FILE] [--page FILE]

Measures placement with very many waiting Jobs and writes docs/bench/placement.md.
  --quick      small sizes, to see that everything runs; the figures mean nothing
  --trace FILE draws the Jobs of the GPU fleet from this task list, not from the generator
  --page FILE  writes there instead`;

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
    quick: { type: "boolean" },
    trace: { type: "string" },
    page: { type: "string" },
  },
});
if (flags.help === true) console.log(HELP);
else {
  const part = flags.quick === true ? 0.01 : 1;
  const figures = [];
  for (const { waiting, shapes, clusters } of SIZES) {
    const size = { waiting: Math.ceil(waiting * part), shapes: Math.ceil(shapes * part), clusters };
    figures.push(await measure(size, flags.quick === true ? 20 : 400));
    console.error(`${size.waiting} waiting Jobs, ${size.clusters} clusters: done`);
  }
  const quick = flags.quick === true;
  const shares = fairness(quick ? 0.5 : 2);
  console.error(`fairness: ${shares.jobs} Jobs: done`);
  const gpus = replay({
    trace: flags.trace,
    part: quick ? 0.02 : 1,
    hours: quick ? 8 : 12,
    progress: (text) => console.error(text),
  });
  const results = { figures, replay: gpus, fairness: shares };
  const findings = await readFile(join(import.meta.dirname, "findings.md"), "utf8");
  const runs = JSON.parse(await readFile(RUNS, "utf8")) as Run[];
  const run = quick ? undefined : runOf(results, new Date().toISOString().slice(0, 10));
  const all = run === undefined ? runs : [...runs, run];
  const text = wrapProse([page(results).trimEnd(), findings.trimEnd(), runsTable(all)].join("\n\n"));
  await writeFile(flags.page ?? join(import.meta.dirname, "../../docs/bench/placement.md"), text);
  // What goes to another place was a try.
  if (flags.page === undefined && run !== undefined)
    await writeFile(RUNS, `[\n${all.map((each) => `  ${JSON.stringify(each)}`).join(",\n")}\n]\n`);
  console.log(text);
}
