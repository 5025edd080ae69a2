/** The commands that a page of the documentation gives its reader. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** A fenced block. */
export interface Block {
  /** Where to look when it fails, such as `docs/install.md:30`. */
  readonly at: string;
  /** The headings it stands below, joined by `/`. */
  readonly section: string;
  /** After the opening fence; empty if nothing is there. */
  readonly language: string;
  readonly text: string;
}

/** A command in the running text or in a table. */
export interface Inline {
  readonly at: string;
  readonly section: string;
  readonly text: string;
}

const PROGRAMS =
  /^(kubectl|jobferry|jobferry-agent|jobferry-manager|redis-cli|redis_admin|node|npm|npx|docker|openssl) \S/;

export const blocksOf = (path: string): Block[] => readPage(path, readFileSync(join(root, path), "utf8")).blocks;
export const inlineOf = (path: string): Inline[] => readPage(path, readFileSync(join(root, path), "utf8")).inline;

/** Reads the Markdown that our pages use: ATX headings, fences at the margin, code in single backticks. */
export function readPage(path: string, markdown: string): { blocks: Block[]; inline: Inline[] } {
  const blocks: Block[] = [];
  const inline: Inline[] = [];
  const headings: string[] = [];
  let open: { at: string; language: string; lines: string[] } | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const at = `${path}:${index + 1}`;
    const section = headings.slice(1).join("/");
    const fence = /^```(.*)$/.exec(line);
    if (open !== undefined && fence === null) open.lines.push(line);
    else if (open !== undefined) {
      blocks.push({ at: open.at, section, language: open.language, text: open.lines.join("\n") });
      open = undefined;
    } else if (fence !== null) open = { at, language: fence[1] ?? "", lines: [] };
    else {
      const heading = /^(#+) (.*)$/.exec(line);
      if (heading !== null) headings.splice((heading[1] ?? "").length - 1, headings.length, heading[2] ?? "");
      for (const [, text = ""] of line.matchAll(/`([^`]+)`/g))
        if (PROGRAMS.test(text)) inline.push({ at, section, text });
    }
  }
  if (open !== undefined) throw new Error(`${open.at}: the fence is not closed`);
  return { blocks, inline };
}
