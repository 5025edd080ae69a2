/** `npm run reference`: writes docs/reference from the sources. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FOLDER, referencePages } from "./reference/pages.ts";
import { root } from "./run.ts";

await mkdir(join(root, FOLDER), { recursive: true });
for (const [path, text] of await referencePages()) {
  await writeFile(join(root, path), text);
  console.log(path);
}
