/** What placement costs when very many Jobs wait. `npm run bench:placement` takes about a minute and writes docs/bench/placement.md. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { wrapProse } from "../../scripts/prose/wrap.ts";
import { measure } from "./measure.ts";
import { page } from "./page.ts";

const HELP = `npm run bench:placement -- [--quick] [--page FILE]

Measures placement with very many waiting Jobs and writes docs/bench/placement.md.
  --quick      small sizes, to see that everything runs; the figures mean nothing
  --page FILE  writes there instead`;

const SIZES = [
  { waiting: 100, shapes: 100, clusters: 200 },
  { waiting: 10_000, shapes: 5_000, clusters: 200 },
  { waiting: 100, shapes: 100, clusters: 1_000 },
  { waiting: 100_000, shapes: 20_000, clusters: 1_000 },
];

const { values: flags } = parseArgs({
  options: { help: { type: "boolean" }, quick: { type: "boolean" }, page: { type: "string" } },
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
  const findings = await readFile(join(import.meta.dirname, "findings.md"), "utf8");
  const text = wrapProse(`${page(figures).trimEnd()}\n\n${findings}`);
  await writeFile(flags.page ?? join(import.meta.dirname, "../../docs/bench/placement.md"), text);
  console.log(text);
}
