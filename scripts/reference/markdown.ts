import { wrapProse } from "../prose/wrap.ts";

/** The little Markdown that the reference pages need. */
export interface Page {
  /** Below docs/reference. */
  readonly file: string;
  readonly title: string;
  /** Where its facts come from, for whoever wants to change them. */
  readonly from: string;
  readonly body: string;
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...rows.map(line)].join("\n");
}

export const code = (text: string): string => (text === "" ? "" : `\`${text}\``);

export const pageText = ({ title, from, body }: Page): string =>
  wrapProse(`# ${title}\n\nMade from ${from} by \`npm run reference\`; change it there.\n\n${body}\n`);
