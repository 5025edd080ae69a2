/** Code and tests quote the ids of docs/job-behaviour.md: each must be there, or the quote says nothing. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./page.ts";

const ID = /\b([A-Z]{1,2})-(\d+)\b/g;
const specification = readFileSync(join(root, "docs/job-behaviour.md"), "utf8");
const defined = new Set([...specification.matchAll(ID)].map(([id]) => id));
/** Of the specification; others are not its ids (UTF-8). */
const prefixes = new Set(
  [...specification.matchAll(/^(?:- \*\*|\| )([A-Z]{1,2})-\d+/gm)].map(([, prefix = ""]) => prefix),
);

const sources = ["shared", "manager", "worker-agent", "sandbox", "test"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
    .map((name) => join(folder, name)),
);

it("quotes only ids that docs/job-behaviour.md has", () => {
  const quoted = sources.flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(ID)]
      .filter(([, prefix = ""]) => prefixes.has(prefix))
      .map(([id]) => ({ id, path })),
  );
  expect(quoted.length).toBeGreaterThan(500);
  const unknown = quoted.filter(({ id }) => !defined.has(id)).map(({ id, path }) => `${path}: ${id}`);
  expect([...new Set(unknown)]).toEqual([]);
});
