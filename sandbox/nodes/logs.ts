import type { Clock } from "@jobferry/shared/runtime/clock.ts";

export interface LogOptions {
  follow?: boolean;
  previous?: boolean;
  timestamps?: boolean;
  tailLines?: number;
  sinceSeconds?: number;
  /** RFC 3339 */
  sinceTime?: string;
  limitBytes?: number;
}

interface LogLine {
  time: number;
  text: string;
}

/** A line longer than this is cut into several, as container runtimes do. */
const LINE_BYTES = 16 * 1024;
/** What is kept of one run of a container; the oldest lines go first. */
const RUN_BYTES = 1024 * 1024;
/** What is kept of one cluster's containers; runs that ended longest ago go first. */
const TOTAL_BYTES = 128 * 1024 * 1024;

/** The output of one run of a container. */
export class RunLog {
  readonly #clock: Clock;
  readonly #resized: (bytes: number) => void;
  #lines: LogLine[] = [];
  #dropped = 0;
  #bytes = 0;
  #ended = false;
  #wake: PromiseWithResolvers<void> | undefined;

  constructor(clock: Clock, resized: (bytes: number) => void) {
    this.#clock = clock;
    this.#resized = resized;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** `text` ends with its line break, unless it is the last of its stream or a piece of a long line. */
  append(text: string): void {
    const before = this.#bytes;
    this.#lines.push({ time: this.#clock.now(), text });
    this.#bytes += text.length;
    let surplus = 0;
    for (; this.#bytes > RUN_BYTES; surplus++) this.#bytes -= this.#lines[surplus]?.text.length ?? 0;
    if (surplus > 0) {
      this.#lines.splice(0, surplus);
      this.#dropped += surplus;
    }
    this.#resized(this.#bytes - before);
    this.#notify();
  }

  end(): void {
    this.#ended = true;
    this.#notify();
  }

  clear(): void {
    this.#resized(-this.#bytes);
    this.#dropped += this.#lines.length;
    this.#lines = [];
    this.#bytes = 0;
    this.end();
  }

  async *read(options: LogOptions, signal?: AbortSignal): AsyncGenerator<string> {
    let next = this.#dropped + firstLine(this.#lines, options, this.#clock.now());
    let left = options.limitBytes ?? Number.POSITIVE_INFINITY;
    const aborted = abortOf(signal);
    while (left > 0 && signal?.aborted !== true) {
      next = Math.max(next, this.#dropped);
      const fresh = this.#lines.slice(next - this.#dropped);
      next += fresh.length;
      const text = fresh.map((line) => (options.timestamps ? stamped(line) : line.text)).join("");
      if (text !== "") yield text.length > left ? text.slice(0, left) : text;
      left -= text.length;
      if (next < this.#dropped + this.#lines.length) continue;
      if (this.#ended || !options.follow) return;
      this.#wake ??= Promise.withResolvers();
      await Promise.race([this.#wake.promise, aborted]);
    }
  }

  #notify(): void {
    this.#wake?.resolve();
    this.#wake = undefined;
  }
}

const abortOf = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));

const stamped = ({ time, text }: LogLine): string => `${new Date(time).toISOString()} ${text}`;

function firstLine(lines: readonly LogLine[], options: LogOptions, now: number): number {
  const { sinceSeconds, sinceTime, tailLines } = options;
  const since = sinceSeconds !== undefined ? now - sinceSeconds * 1000 : Date.parse(sinceTime ?? "");
  const recent = Number.isNaN(since) ? 0 : lines.findIndex((line) => line.time >= since);
  const begin = recent === -1 ? lines.length : recent;
  return tailLines === undefined ? begin : Math.max(begin, lines.length - tailLines);
}

/** Cuts one stream into lines. */
export class LineSplitter {
  readonly #emit: (line: string) => void;
  #rest = "";

  constructor(emit: (line: string) => void) {
    this.#emit = emit;
  }

  push(chunk: string): void {
    const pieces = (this.#rest + chunk).split("\n");
    this.#rest = pieces.pop() ?? "";
    for (const piece of pieces) this.#emitLine(`${piece}\n`);
    while (this.#rest.length >= LINE_BYTES) {
      this.#emit(this.#rest.slice(0, LINE_BYTES));
      this.#rest = this.#rest.slice(LINE_BYTES);
    }
  }

  end(): void {
    if (this.#rest !== "") this.#emitLine(this.#rest);
    this.#rest = "";
  }

  #emitLine(line: string): void {
    for (let from = 0; from < line.length; from += LINE_BYTES) this.#emit(line.slice(from, from + LINE_BYTES));
  }
}

/** The last two runs of every container, bounded per run and in all. */
export class LogStore {
  readonly #clock: Clock;
  readonly #totalBytes: number;
  /** By pod UID, then container name; the newest run last. */
  readonly #pods = new Map<string, Map<string, RunLog[]>>();
  #bytes = 0;

  constructor(clock: Clock, totalBytes = TOTAL_BYTES) {
    this.#clock = clock;
    this.#totalBytes = totalBytes;
  }

  open(podUid: string, container: string): RunLog {
    const log = new RunLog(this.#clock, (bytes) => {
      this.#bytes += bytes;
      if (bytes > 0 && this.#bytes > this.#totalBytes) this.#shed(log);
    });
    const containers = this.#pods.get(podUid) ?? new Map<string, RunLog[]>();
    this.#pods.set(podUid, containers);
    const runs = containers.get(container) ?? [];
    if (runs.length > 1) runs.shift()?.clear();
    runs.push(log);
    containers.set(container, runs);
    return log;
  }

  /** Undefined when there is no such run. */
  find(podUid: string, container: string, previous = false): RunLog | undefined {
    const runs = this.#pods.get(podUid)?.get(container) ?? [];
    return previous ? (runs.length > 1 ? runs[0] : undefined) : runs.at(-1);
  }

  remove(podUid: string): void {
    for (const runs of this.#pods.get(podUid)?.values() ?? []) for (const run of runs) run.clear();
    this.#pods.delete(podUid);
  }

  #shed(writing: RunLog): void {
    for (const containers of this.#pods.values())
      for (const runs of containers.values())
        for (const run of runs) {
          if (this.#bytes <= this.#totalBytes) return;
          if (run !== writing && run.ended) run.clear();
        }
  }
}
