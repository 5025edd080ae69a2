import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../runtime/clock.ts";
import type { KubeObject, Resource, WatchEvent } from "./api.ts";
import { type CredentialSource, currentCredentials } from "./credentials.ts";
import { ApiError } from "./errors.ts";
import { failureOf, isProtobuf } from "./responses.ts";
import type { HttpRequest, ResponseSink, Transport } from "./transport.ts";
import { JsonWatchDecoder, ProtobufWatchDecoder, type WatchDecoder } from "./watch-decoder.ts";

export interface WatchStreamOptions {
  transport: Pick<Transport, "stream">;
  clock: Clock;
  request: HttpRequest;
  resource: Resource<KubeObject>;
  credentials: CredentialSource;
  /** The server must begin to answer within this. */
  openMs: number;
  /** What we asked the server to end the watch after; if it has not by then, we do. */
  lastsMs?: number;
  signal?: AbortSignal;
  onOpened(code: number, durationMs: number): void;
}

const SERVER_LATE_MS = 30_000;

/** A consumer this many events behind stops the socket until it has caught up. */
const MAX_QUEUED_EVENTS = 2_000;

const MAX_ERROR_BYTES = 1024 * 1024;

/** Opens a watch and yields its events in the batches they arrive in. */
export async function* watchStream<T extends KubeObject>(options: WatchStreamOptions): AsyncGenerator<WatchEvent<T>[]> {
  for (let renewed = false; ; renewed = true) {
    const feed = new Feed<T>(options);
    try {
      const status = await feed.open();
      if (status === 401 && !renewed) {
        options.credentials.refresh();
        continue;
      }
      for (let batch = await feed.next(); batch !== undefined; batch = await feed.next()) yield batch;
      return;
    } finally {
      feed.close();
    }
  }
}

/** The sink of one watch response: decodes as chunks come, hands out what has gathered when asked. */
class Feed<T extends KubeObject> implements ResponseSink {
  readonly #options: WatchStreamOptions;
  #decoder: WatchDecoder<T> = new JsonWatchDecoder();
  readonly #opened = Promise.withResolvers<number>();
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #errorBody: Buffer[] = [];
  #errorBytes = 0;
  #queue: WatchEvent<T>[] = [];
  #flow: { pause(): void; resume(): void } | undefined;
  #paused = false;
  #end: { error?: unknown } | undefined;
  #wake: (() => void) | undefined;
  #abort: ((reason: unknown) => void) | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
  }

  /** Resolves to the status when the answer begins. */
  async open(): Promise<number> {
    const { transport, clock, request, credentials, openMs, lastsMs, signal, onOpened } = this.#options;
    const began = clock.monotonic();
    try {
      signal?.throwIfAborted();
      const now = await currentCredentials(credentials);
      const sending = { ...request, headers: { ...request.headers, ...now.headers } };
      this.#abort = transport.stream(sending, now, openMs, this, signal);
      if (lastsMs !== undefined)
        this.#cancelTimer = clock.after(lastsMs + SERVER_LATE_MS, () =>
          this.#abort?.(new ApiError(0, "Timeout", "the server did not end the watch in time")),
        );
      return await this.#opened.promise;
    } finally {
      onOpened(this.#status, clock.monotonic() - began);
    }
  }

  /** What has gathered since the last call; undefined at the end. Rejects when the watch failed, after the last events. */
  async next(): Promise<WatchEvent<T>[] | undefined> {
    while (this.#queue.length === 0 && this.#end === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      if (this.#paused) {
        this.#paused = false;
        this.#flow?.resume();
      }
      return batch;
    }
    if (this.#end !== undefined && "error" in this.#end) throw this.#end.error;
    return undefined;
  }

  close(): void {
    this.#cancelTimer?.();
    if (this.#end === undefined) this.#abort?.(new Error("no longer watched"));
  }

  start(status: number, headers: IncomingHttpHeaders, flow: { pause(): void; resume(): void }): void {
    this.#status = status;
    this.#headers = headers;
    if (isProtobuf(headers)) this.#decoder = new ProtobufWatchDecoder(this.#options.resource.protobuf ?? {});
    this.#flow = flow;
    this.#opened.resolve(status);
  }

  data(chunk: Buffer): void {
    if (this.#status !== 200) {
      this.#errorBytes += chunk.length;
      if (this.#errorBytes <= MAX_ERROR_BYTES) this.#errorBody.push(chunk);
      return;
    }
    try {
      const events = this.#decoder.push(chunk);
      if (events.length === 0) return;
      this.#queue = this.#queue.length === 0 ? events : this.#queue.concat(events);
    } catch (error) {
      this.#abort?.(error);
      return;
    }
    if (this.#queue.length >= MAX_QUEUED_EVENTS) {
      this.#paused = true;
      this.#flow?.pause();
    }
    this.#wake?.();
  }

  end(): void {
    this.#finish(this.#status === 200 ? {} : { error: this.#refusal() });
  }

  fail(error: unknown): void {
    this.#opened.reject(error);
    this.#finish({ error });
  }

  #refusal(): ApiError {
    const body = Buffer.concat(this.#errorBody);
    const failure = failureOf({ status: this.#status, headers: this.#headers, body });
    return failure ?? new ApiError(0, "InvalidResponse", `a watch was answered with ${this.#status}`);
  }

  #finish(end: { error?: unknown }): void {
    this.#end = end;
    this.#wake?.();
  }
}
