/** docs/install.md has its reader write keys and passwords into the clone: none of them may end up in a commit. */
import { readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { expect, it } from "vitest";
import { blocksOf, root } from "./page.ts";

/** Of what our .gitignore has: names and globs, at the root alone if they begin with a slash. */
const patterns = readFileSync(join(root, ".gitignore"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.replace(/^\//, ""));

const written = blocksOf("docs/install.md")
  .flatMap(({ text }) => [...text.matchAll(/(?:>|-out|--file) +"?([\w$.-]+)/g)])
  .map(([, name = ""]) => name.replace("$1", "jobferry-manager"));

it("every file that docs/install.md writes is ignored by git", () => {
  expect(written).toEqual(expect.arrayContaining(["key.pem", "redis-admin-password", "users.acl", "east.yaml"]));
  expect(written.filter((name) => !patterns.some((pattern) => matchesGlob(name, pattern)))).toEqual([]);
});
