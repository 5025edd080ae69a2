/** `npm run prose`: breaks lines of Markdown that are too long. `npm run test:quick` finds them. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { markdownFiles } from "./prose/files.ts";
import { wrapProse } from "./prose/wrap.ts";
import { root } from "./run.ts";

for (const path of markdownFiles()) {
  const text = await readFile(join(root, path), "utf8");
  const wrapped = wrapProse(text);
  if (wrapped === text) continue;
  await writeFile(join(root, path), wrapped);
  console.log(path);
}
