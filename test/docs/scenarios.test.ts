/** docs/scenarios.md: each fault of table B names tests, and they are there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/scenarios.md"), "utf8");

interface Row {
  readonly fault: string;
  readonly tests: readonly { readonly file: string; readonly title: string | undefined }[];
}

/** `file`, or `file` "part of a title". */
const TEST = /`([^`]+\.ts)`(?: "([^"]+)")?/g;

const rows: Row[] = page
  .slice(page.indexOf("## B."), page.indexOf("## C."))
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(1)
  .map((line) => {
    const [, fault = "", , tests = ""] = line
      .split(" | ")
      .flatMap((cell, index) => (index === 0 ? ["", cell] : [cell]));
    const named = [...tests.matchAll(TEST)].map(([, file = "", title]) => ({ file, title }));
    return { fault: fault.replace(/^\| /, ""), tests: named };
  });

it("has the rows of the table", () => {
  expect(rows.length).toBeGreaterThan(25);
});

it.each(rows)("B $fault", ({ tests }) => {
  expect(tests.length).toBeGreaterThan(0);
  for (const { file, title } of tests) {
    const source = readFileSync(join(root, file), "utf8");
    if (title !== undefined)
      expect(source, `${file} has no test with ${JSON.stringify(title)} in its name`).toContain(title);
  }
});
