import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./page.ts";

const folder = join(root, "docs/adr");
const index = readFileSync(join(folder, "README.md"), "utf8");

it("docs/adr/README.md lists every decision under its title", () => {
  const decisions = readdirSync(folder).filter((name) => /^\d{4}-.*\.md$/.test(name));
  const missing = decisions.filter((name) => {
    const [, number, title = ""] = /^# (\d+)\. (.*)$/m.exec(readFileSync(join(folder, name), "utf8")) ?? [];
    return !index.includes(`| [${number}](${name}) | ${title} |`);
  });
  expect(missing).toEqual([]);
});

it("no two decisions have one number", () => {
  const numbers = [...index.matchAll(/^\| \[(\d+)\]/gm)].map(([, number]) => number);
  expect(new Set(numbers).size).toBe(numbers.length);
});
