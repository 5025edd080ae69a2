import type { IncomingHttpHeaders } from "node:http";
import { failureOf } from "./responses.ts";
import type { ResponseSink } from "./transport.ts";

/** What may wait for its reader before the server is asked to wait. */
const MAX_QUEUED_BYTES = 512 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
/** Of what comes as one. */
const MAX_CHUNK_BYTES = 256 * 1024;

/** The sink of an answer that is read as it comes, as fast as its reader reads. */
export class BodyStream implements ResponseSink {
  readonly #opened = Promise.withResolvers<void>();
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #queue: Buffer[] = [];
  #bytes = 0;
  #flow: { pause(): void; resume(): void } | undefined;
  #paused = false;
  #end: { error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** Resolves when the answer is a success; rejects with what the server refused it with. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  async *chunks(abort: (reason: unknown) => void): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#next();
        if (chunk !== undefined) {
          this.#taken(chunk.length);
          yield chunk;
        } else if (this.#end === undefined)
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        else if ("error" in this.#end) throw this.#end.error;
        else return;
      }
    } finally {
      if (this.#end === undefined) abort(new Error("no longer read"));
    }
  }

  start(status: number, headers: IncomingHttpHeaders, flow: { pause(): void; resume(): void }): void {
    this.#status = status;
    this.#headers = headers;
    this.#flow = flow;
    if (status === 200) this.#opened.resolve();
  }

  data(chunk: Buffer): void {
    if (this.#status !== 200 && this.#bytes > MAX_ERROR_BYTES) return;
    this.#queue.push(chunk);
    this.#bytes += chunk.length;
    if (this.#status === 200 && this.#bytes >= MAX_QUEUED_BYTES) {
      this.#paused = true;
      this.#flow?.pause();
    }
    this.#wake?.();
  }

  end(): void {
    if (this.#status !== 200) {
      const body = Buffer.concat(this.#queue);
      this.#opened.reject(failureOf({ status: this.#status, headers: this.#headers, body }));
    }
    this.#finish({});
  }

  fail(error: unknown): void {
    this.#opened.reject(error);
    this.#finish({ error });
  }

  /** What came while its reader was busy comes as one: each chunk has a price further on. */
  #next(): Buffer | undefined {
    const [first] = this.#queue;
    let bytes = first?.length ?? 0;
    let count = 1;
    for (; count < this.#queue.length; count++) {
      const { length } = this.#queue[count] ?? { length: 0 };
      if (bytes + length > MAX_CHUNK_BYTES) break;
      bytes += length;
    }
    const parts = this.#queue.splice(0, count);
    return parts.length > 1 ? Buffer.concat(parts, bytes) : parts[0];
  }

  #taken(bytes: number): void {
    this.#bytes -= bytes;
    if (!this.#paused || this.#bytes >= MAX_QUEUED_BYTES / 2) return;
    this.#paused = false;
    this.#flow?.resume();
  }

  #finish(end: { error?: unknown }): void {
    this.#end = end;
    this.#wake?.();
  }
}
