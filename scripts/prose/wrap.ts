/** Breaks the prose of a Markdown page into lines of at most 120 characters. Tables, code and headings stay as they are. */
export const WIDTH = 120;

interface Block {
  readonly lines: string[];
  readonly isProse: boolean;
}

const FENCE = /^\s*```/;
const ITEM = /^(\s*)([-*]|\d+\.) /;
const NOT_PROSE = /^\s*(#|\||<|>|\[[^\]]+\]: |(-{3,}|\*{3,})\s*$)|^ {4,}\S|^\t/;

/** Only paragraphs and list items with a line that is too long are broken anew, so that a page is not turned over for one word. */
export function wrapProse(markdown: string): string {
  return blocksOf(markdown)
    .flatMap(({ lines, isProse }) => (isProse && lines.some((line) => line.length > WIDTH) ? wrapped(lines) : lines))
    .join("\n");
}

/** The numbers of the lines that are too long although they could be broken. */
export function overlong(markdown: string): number[] {
  const before = markdown.split("\n");
  if (wrapProse(markdown) === markdown) return [];
  return before.flatMap((line, index) => (line.length > WIDTH && wrapProse(line) !== line ? [index + 1] : []));
}

function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let inCode = false;
  let inItem = false;
  for (const line of markdown.split("\n")) {
    const isFence = FENCE.test(line);
    const starts = ITEM.test(line);
    const goesOn: boolean = inItem && /^\s+\S/.test(line) && !starts;
    const isProse: boolean = !inCode && !isFence && line.trim() !== "" && (starts || goesOn || !NOT_PROSE.test(line));
    const last = blocks.at(-1);
    if (isProse && last?.isProse === true && !starts && !endsHard(last)) last.lines.push(line);
    else blocks.push({ lines: [line], isProse });
    inItem = isProse && (starts || inItem);
    if (isFence) inCode = !inCode;
  }
  return blocks;
}

/** Two blanks or a backslash at the end of a line break it for the reader. */
const endsHard = ({ lines }: Block): boolean => /( {2}|\\)$/.test(lines.at(-1) ?? "");

function wrapped(lines: readonly string[]): string[] {
  const [first = ""] = lines;
  const marker = ITEM.exec(first)?.[0] ?? /^\s*/.exec(first)?.[0] ?? "";
  const indent = ITEM.test(first) ? " ".repeat(marker.length) : marker;
  const text = [first.slice(marker.length), ...lines.slice(1)].map((line) => line.trim()).join(" ");
  const result: string[] = [];
  let current = marker;
  let isEmpty = true;
  for (const word of wordsOf(text)) {
    if (!isEmpty && current.length + 1 + word.length > WIDTH && !startsSomething(word)) {
      result.push(current);
      current = indent;
      isEmpty = true;
    }
    current += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...result, current];
}

/** Code between backticks is one word: a line break in it is not what its author wrote. */
const wordsOf = (text: string): string[] => text.match(/(?:`[^`]*`|[^\s`])+/g) ?? [];

/** At the start of a line these would be a heading, a list or a quotation. */
const startsSomething = (word: string): boolean => /^([-*+>#|]|\d+[.)])$|^#+$/.test(word);
