import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";

export interface CsvRow {
  /** Counted from 1, the heading included. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface CsvFile {
  readonly path: string;
  readonly columns: readonly string[];
  readonly rows: readonly CsvRow[];
}

/** Reads commas and quotes; every row must have as many cells as the heading. */
export function parseCsv(path: string, text: string): CsvFile {
  const [heading, ...rows] = rowsOf(path, text.replace(/^\uFEFF/, ""));
  if (heading === undefined) throw new ConfigError(`${path}: the file is empty; its first line must name the columns`);
  const columns = heading.cells.map((cell) => cell.trim());
  for (const { line, cells } of rows)
    if (cells.length !== columns.length)
      throw new ConfigError(`${path}, line ${line}: has ${cells.length} cells, and the heading has ${columns.length}`);
  return { path, columns, rows };
}

/** Where a cell is, for a sentence about it. */
export const placeOf = ({ path, columns }: CsvFile, { line }: CsvRow, column: string): string =>
  `${path}, line ${line}, column ${columns.indexOf(column) + 1} (${column})`;

function rowsOf(path: string, text: string): CsvRow[] {
  const rows: CsvRow[] = [];
  let [cells, line, startedAt, at]: [string[], number, number, number] = [[], 1, 1, 0];
  const endRow = (): void => {
    if (cells.length > 1 || cells[0] !== "") rows.push({ line: startedAt, cells });
    cells = [];
    startedAt = line;
  };
  while (at < text.length) {
    const isQuoted = text[at] === '"';
    const end = isQuoted ? closingQuote(text, at) : endOfCell(text, at);
    if (end < 0) throw new ConfigError(`${path}, line ${line}: a quote is opened and never closed`);
    const cell = isQuoted ? text.slice(at + 1, end).replaceAll('""', '"') : text.slice(at, end);
    cells.push(cell);
    line += cell.split("\n").length - 1;
    at = isQuoted ? end + 1 : end;
    if (text[at] === "\r") at++;
    if (at >= text.length) break;
    if (text[at] === ",") {
      at++;
      if (at >= text.length || text[at] === "\n") cells.push("");
      if (text[at] !== "\n") continue;
    }
    if (text[at] !== "\n") throw new ConfigError(`${path}, line ${line}: there is text behind a closing quote`);
    at++;
    line++;
    endRow();
  }
  line++;
  if (cells.length > 0) endRow();
  return rows;
}

function closingQuote(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] !== '"') continue;
    if (text[at + 1] !== '"') return at;
    at++;
  }
  return -1;
}

function endOfCell(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== "," && text[at] !== "\n" && text[at] !== "\r") at++;
  return at;
}
