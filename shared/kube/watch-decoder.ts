import type { KubeObject, WatchEvent } from "./api.ts";
import { ApiError } from "./errors.ts";

/** Objects are limited to about 1.5 MiB by the server; anything near this is not a watch. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;

const NEWLINE = 10;

/** Turns the chunks of a watch response into events: one JSON document per line, chunks cut anywhere. */
export class WatchDecoder<T extends KubeObject> {
  readonly #maxLineBytes: number;
  #partial: Buffer[] = [];
  #partialBytes = 0;

  constructor(maxLineBytes = MAX_LINE_BYTES) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The events that end in this chunk. */
  push(chunk: Buffer): WatchEvent<T>[] {
    const events: WatchEvent<T>[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const line = this.#complete(chunk.subarray(from, end));
      if (line.length > 0) events.push(parseEvent(line));
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
    return events;
  }

  #complete(end: Buffer): string {
    if (this.#partial.length === 0) return end.toString("utf8");
    this.#keep(end);
    const line = Buffer.concat(this.#partial, this.#partialBytes).toString("utf8");
    this.#partial = [];
    this.#partialBytes = 0;
    return line;
  }

  #keep(part: Buffer): void {
    this.#partialBytes += part.length;
    if (this.#partialBytes > this.#maxLineBytes)
      throw new ApiError(0, "InvalidResponse", `a watch event is longer than ${this.#maxLineBytes} bytes`);
    this.#partial.push(part);
  }
}

function parseEvent<T extends KubeObject>(line: string): WatchEvent<T> {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (cause) {
    throw new ApiError(0, "InvalidResponse", "a watch event is not JSON", { cause });
  }
  if (typeof event === "object" && event !== null && "type" in event && "object" in event) {
    const { object } = event;
    if (typeof object === "object" && object !== null) return event as WatchEvent<T>;
  }
  throw new ApiError(0, "InvalidResponse", "a watch event has no type or object");
}
