import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../run.ts";
import { markdownFiles, sourceFiles } from "./files.ts";
import { misusedPhrases } from "./words.ts";
import { overlong, WIDTH, wrapProse } from "./wrap.ts";

const long = "word ".repeat(40).trim();

describe("wrapProse", () => {
  it("breaks a paragraph, and joins what follows the long line", () => {
    const lines = wrapProse(`${long}\nand more`).split("\n");
    expect(lines.every((line) => line.length <= WIDTH)).toBe(true);
    expect(lines.join(" ")).toBe(`${long} and more`);
  });

  it("indents the lines of a list item below its text, and keeps items apart", () => {
    const [first, second, third] = wrapProse(`- ${long}\n- short`).split("\n");
    expect(first).toMatch(/^- word/);
    expect(second).toMatch(/^ {2}word/);
    expect(third).toBe("- short");
  });

  it.each([
    ["a table", `| ${long} |`],
    ["a heading", `# ${long}`],
    ["code", `\`\`\`\n${long}\n\`\`\``],
    ["a paragraph whose lines are short", "one\ntwo"],
    ["a link alone", `<https://example.com/${"x".repeat(WIDTH)}>`],
  ])("leaves %s as it is", (_, text) => {
    expect(wrapProse(text)).toBe(text);
    expect(overlong(text)).toEqual([]);
  });

  it("never breaks code between backticks, nor lets a dash start a line", () => {
    const text = `${"x".repeat(WIDTH - 4)} - then \`one two three four five\` ends`;
    const lines = wrapProse(text).split("\n");
    expect(lines.some((line) => line.startsWith("- "))).toBe(false);
    expect(lines.some((line) => line.includes("`one two three four five`"))).toBe(true);
  });

  it("changes nothing the second time", () => {
    const once = wrapProse(`- ${long}\n  ${long}\n\n${long}`);
    expect(wrapProse(once)).toBe(once);
  });
});

it("finds the phrases that style forbids, and not their innocent neighbours", () => {
  expect(misusedPhrases("at the begin\nit is no file\nfor so long").map(({ line }) => line)).toEqual([1, 2, 3]);
  expect(
    misusedPhrases("it is no longer here\nthere is no file\nno more than ten\nso many that it fails\nto begin with"),
  ).toEqual([]);
});

describe.each(markdownFiles())("%s", (path) => {
  const text = readFileSync(join(root, path), "utf8");
  it("has lines of at most 120 characters", () => {
    expect(overlong(text), `lines that are too long: npm run prose`).toEqual([]);
  });
  it("uses plain words", () => {
    expect(misusedPhrases(text)).toEqual([]);
  });
});

it("comments and messages use plain words", () => {
  const misused = sourceFiles().flatMap((path) =>
    misusedPhrases(readFileSync(join(root, path), "utf8")).map((found) => ({ path, ...found })),
  );
  expect(misused).toEqual([]);
});
