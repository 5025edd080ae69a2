/** Shows Jobs as they change: a table that is redrawn on a terminal, a line per change elsewhere. */
import { type Clock, realClock } from "@jobferry/shared/runtime/clock.ts";
import { ageOf, type Row } from "./row.ts";
import type { DemoView } from "./run.ts";

export interface View extends DemoView {
  /** Shows a Job no longer. */
  hide(job: string): void;
  /** Leaves what is shown standing. */
  end(): void;
}

export interface Screen {
  readonly columns: number;
  write(text: string): void;
}

const HEADER = ["JOB", "CLUSTER", "STATE", "INDEXES", "AGE", "MESSAGE"] as const;
const WIDTHS = [15, 9, 10, 12, 5];
const REDRAW_MS = 1_000;

const format = (cells: readonly string[]): string =>
  cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0)).join("  ");

const cellsOf = (row: Row, now: number): string[] => [
  row.job,
  row.cluster,
  row.state,
  row.indexes,
  ageOf(row, now),
  row.message,
];

/** Only what is shown counts as a change. */
class Changes {
  readonly #shown = new Map<string, string>();

  isNew({ job, cluster, state, indexes, message }: Row): boolean {
    const text = JSON.stringify([cluster, state, indexes, message]);
    if (this.#shown.get(job) === text) return false;
    this.#shown.set(job, text);
    return true;
  }

  forget(job: string): void {
    this.#shown.delete(job);
  }
}

export function viewFor(output: "text" | "json", print: (line: string) => void, screen: Screen | undefined): View {
  if (output === "json") return jsonView(print);
  return screen === undefined ? lineView(print) : tableView(screen);
}

export function lineView(print: (line: string) => void, clock: Clock = realClock): View {
  const changes = new Changes();
  print(format(HEADER));
  return {
    show: (row) => {
      if (changes.isNew(row)) print(format(cellsOf(row, clock.now())).trimEnd());
    },
    say: (text) => print(`* ${text}`),
    hide: (job) => changes.forget(job),
    end: () => {},
  };
}

function jsonView(print: (line: string) => void): View {
  const changes = new Changes();
  return {
    show(row) {
      const { job, cluster, state, indexes, message } = row;
      if (changes.isNew(row)) print(JSON.stringify({ event: "job", job, cluster, state, indexes, message }));
    },
    say: (text) => print(JSON.stringify({ event: "demo", text })),
    hide: (job) => changes.forget(job),
    end: () => {},
  };
}

export function tableView(screen: Screen, clock: Clock = realClock): View {
  const rows = new Map<string, Row>();
  let note = "";
  let drawn = 0;
  let cancel = (): void => {};
  const draw = (): void => {
    const now = clock.now();
    const lines = [format(HEADER), ...Array.from(rows.values(), (row) => format(cellsOf(row, now))), "", note];
    // A line that wraps would make the table taller than we count.
    const text = lines.map((line) => `${line.trimEnd().slice(0, Math.max(20, screen.columns - 1))}\n`).join("");
    screen.write(`${drawn > 0 ? `\x1b[${drawn}A` : ""}\x1b[J${text}`);
    drawn = lines.length;
  };
  const tick = (): void => {
    draw();
    cancel = clock.after(REDRAW_MS, tick);
  };
  tick();
  return {
    show(row) {
      rows.set(row.job, row);
      draw();
    },
    say(text) {
      note = text;
      draw();
    },
    hide(job) {
      rows.delete(job);
      draw();
    },
    end() {
      cancel();
      note = "";
      draw();
    },
  };
}
