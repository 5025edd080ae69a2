/** The product has not changed under the known bugs: each edit still finds its place. Whether they are found is asked at night. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { MUTANTS, mutated } from "./mutants.ts";

const root = join(import.meta.dirname, "../../..");

it.each(MUTANTS)("$name", ({ edits, killer }) => {
  for (const { file } of edits) {
    const source = readFileSync(join(root, file), "utf8");
    expect(mutated(edits, `/${file}`, source)).not.toBe(source);
  }
  if (killer !== undefined) expect(existsSync(join(root, killer.file)), killer.file).toBe(true);
});
