import type { KubeObject, WatchEvent } from "./api.ts";
import { ApiError } from "./errors.ts";
import type { Fields } from "./protobuf/message.ts";
import { decodeEvent } from "./protobuf/meta.ts";

/** Objects are limited to about 1.5 MiB by the server; anything near this is not a watch. */
const MAX_EVENT_BYTES = 32 * 1024 * 1024;

const NEWLINE = 10;

/** Turns the chunks of a watch response, cut anywhere, into the events that end in each. */
export interface WatchDecoder<T extends KubeObject> {
  push(chunk: Buffer): WatchEvent<T>[];
}

const tooLong = (limit: number): ApiError =>
  new ApiError(0, "InvalidResponse", `a watch event is longer than ${limit} bytes`);

/** One JSON document per line. */
export class JsonWatchDecoder<T extends KubeObject> implements WatchDecoder<T> {
  readonly #maxLineBytes: number;
  #partial: Buffer[] = [];
  #partialBytes = 0;

  constructor(maxLineBytes = MAX_EVENT_BYTES) {
    this.#maxLineBytes = maxLineBytes;
  }

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
    if (this.#partialBytes > this.#maxLineBytes) throw tooLong(this.#maxLineBytes);
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

/** Before each event stand four bytes with its length. */
const PREFIX_BYTES = 4;

/** Protobuf in frames. */
export class ProtobufWatchDecoder<T extends KubeObject> implements WatchDecoder<T> {
  readonly #fields: Fields;
  readonly #maxFrameBytes: number;
  /** The start of a frame, and how much has to be there before it can be looked at again. */
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #wanted = PREFIX_BYTES;

  constructor(fields: Fields, maxFrameBytes = MAX_EVENT_BYTES) {
    this.#fields = fields;
    this.#maxFrameBytes = maxFrameBytes;
  }

  push(chunk: Buffer): WatchEvent<T>[] {
    this.#partial.push(chunk);
    this.#partialBytes += chunk.length;
    if (this.#partialBytes < this.#wanted) return [];
    const bytes = this.#partial.length === 1 ? chunk : Buffer.concat(this.#partial, this.#partialBytes);
    const events: WatchEvent<T>[] = [];
    let from = 0;
    for (;;) {
      const left = bytes.length - from;
      this.#wanted = left < PREFIX_BYTES ? PREFIX_BYTES : PREFIX_BYTES + bytes.readUInt32BE(from);
      if (this.#wanted > this.#maxFrameBytes) throw tooLong(this.#maxFrameBytes);
      if (left < this.#wanted) break;
      const end = from + this.#wanted;
      events.push(decodeEvent(this.#fields, bytes.subarray(from + PREFIX_BYTES, end)));
      from = end;
    }
    this.#partial = from < bytes.length ? [bytes.subarray(from)] : [];
    this.#partialBytes = bytes.length - from;
    return events;
  }
}
