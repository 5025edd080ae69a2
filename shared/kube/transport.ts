import type { IncomingHttpHeaders } from "node:http";
import { type Dispatcher, Pool, ProxyAgent } from "undici";
import type { Clock } from "../runtime/clock.ts";
import type { ClusterAccess } from "./access.ts";
import type { Credentials } from "./credentials.ts";
import { ApiError } from "./errors.ts";

export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  headers: Record<string, string | string[]>;
  body?: string;
}

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Receives a response as it arrives. `fail` is called once at most, and nothing after it or after `end`. */
export interface ResponseSink {
  start(status: number, headers: IncomingHttpHeaders, flow: { pause(): void; resume(): void }): void;
  data(chunk: Buffer): void;
  end(): void;
  fail(error: unknown): void;
}

/** Largest body we take, below the longest string V8 can hold. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/** Shorter than what load balancers and API servers allow, so that we rarely write to a connection just being closed. */
const KEEP_ALIVE_MS = 30_000;

interface Pools {
  cert: string | undefined;
  key: string | undefined;
  calls: Dispatcher;
  watches: Dispatcher;
}

/**
 * HTTP/1.1 over kept connections, a bounded number for calls and another for watches, so that neither starves the other.
 * Measured against HTTP/2 in docs/adr/0002-kubernetes-client.md.
 */
export class Transport {
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  readonly #connections: { calls: number; watches: number };
  readonly #origin: string;
  readonly #prefix: string;
  #pools: Pools | undefined;
  #closed = false;

  constructor(access: ClusterAccess, clock: Clock, connections: { calls: number; watches: number }) {
    this.#access = access;
    this.#clock = clock;
    this.#connections = connections;
    const { origin, pathname } = new URL(access.server);
    this.#origin = origin;
    this.#prefix = pathname.replace(/\/+$/, "");
  }

  /** Sends and collects the whole answer, whatever its status. */
  call(request: HttpRequest, credentials: Credentials, timeoutMs: number, signal?: AbortSignal): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      let status = 0;
      let headers: IncomingHttpHeaders = {};
      const abort = this.#dispatch("calls", request, credentials, {
        start: (code, received) => {
          status = code;
          headers = received;
        },
        data: (chunk) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > MAX_BODY_BYTES)
            abort(new ApiError(0, "InvalidResponse", "the answer is too large: ask for smaller pages"));
        },
        end: () => {
          finish();
          resolve({ status, headers, body: chunks[1] === undefined && chunks[0] ? chunks[0] : Buffer.concat(chunks) });
        },
        fail: (error) => {
          finish();
          reject(error);
        },
      });
      const finish = this.#guard(timeoutMs, signal, abort);
    });
  }

  /** Streams an answer; the returned function ends it. `timeoutMs` counts until the answer begins. */
  stream(
    request: HttpRequest,
    credentials: Credentials,
    timeoutMs: number,
    sink: ResponseSink,
    signal?: AbortSignal,
  ): (reason: unknown) => void {
    const abort = this.#dispatch("watches", request, credentials, {
      start: (status, headers, flow) => {
        cancelTimer();
        sink.start(status, headers, flow);
      },
      data: (chunk) => sink.data(chunk),
      end: () => {
        finish();
        sink.end();
      },
      fail: (error) => {
        finish();
        sink.fail(error);
      },
    });
    const cancelTimer = this.#guard(timeoutMs, undefined, abort);
    const stopListening = this.#guard(undefined, signal, abort);
    const finish = (): void => {
      cancelTimer();
      stopListening();
    };
    return abort;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const pools = this.#pools;
    this.#pools = undefined;
    await Promise.all([pools?.calls.destroy(), pools?.watches.destroy()]);
  }

  /** Aborts on deadline or signal; the returned function takes both back. */
  #guard(timeoutMs: number | undefined, signal: AbortSignal | undefined, abort: (reason: unknown) => void): () => void {
    const onAbort = (): void => abort(signal?.reason);
    const cancelTimer =
      timeoutMs === undefined
        ? undefined
        : this.#clock.after(timeoutMs, () =>
            abort(new ApiError(0, "Timeout", `the server did not answer within ${Math.round(timeoutMs)} ms`)),
          );
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    return () => {
      cancelTimer?.();
      signal?.removeEventListener("abort", onAbort);
    };
  }

  #dispatch(
    kind: "calls" | "watches",
    request: HttpRequest,
    credentials: Credentials,
    sink: ResponseSink,
  ): (reason: unknown) => void {
    let controller: Dispatcher.DispatchController | undefined;
    let sent = false;
    let ended = false;
    const fail = (reason: unknown): void => {
      if (ended) return;
      ended = true;
      // Later, so that whoever called us has what we return before it hears of the failure.
      queueMicrotask(() => sink.fail(reason));
      // A request still queued in the pool has no controller yet; `onRequestStart` drops it then.
      controller?.abort(reason instanceof Error ? reason : new Error("aborted", { cause: reason }));
    };
    this.#poolsFor(credentials)[kind].dispatch(
      { ...request, origin: this.#origin, path: this.#prefix + request.path, headersTimeout: 0, bodyTimeout: 0 },
      {
        onRequestStart(started) {
          controller = started;
          if (ended) started.abort(new Error("aborted while queued"));
          else sent = true;
        },
        onResponseStart(started, status, headers) {
          if (!ended) sink.start(status, headers, started);
        },
        onResponseData(_, chunk) {
          if (!ended) sink.data(chunk);
        },
        onResponseEnd() {
          if (ended) return;
          ended = true;
          sink.end();
        },
        onResponseError: (_, error) => fail(this.#connectionError(error, sent)),
      },
    );
    return fail;
  }

  #connectionError(error: Error, sent: boolean): ApiError {
    const reason = sent ? "ConnectionFailed" : "NotSent";
    const code = "code" in error && typeof error.code === "string" ? `${error.code}: ` : "";
    return new ApiError(0, reason, `no connection to ${this.#origin}: ${code}${error.message}`, { cause: error });
  }

  /** A renewed client certificate needs new connections; the old ones finish what they carry. */
  #poolsFor(credentials: Credentials): Pools {
    const { cert, key } = credentials;
    if (this.#closed) throw new ApiError(0, "NotSent", "the client has been closed");
    if (this.#pools !== undefined && this.#pools.cert === cert && this.#pools.key === key) return this.#pools;
    for (const old of [this.#pools?.calls, this.#pools?.watches]) old?.close().catch(() => {});
    this.#pools = {
      cert,
      key,
      calls: this.#open(this.#connections.calls, credentials),
      watches: this.#open(this.#connections.watches, credentials),
    };
    return this.#pools;
  }

  #open(connections: number, { cert, key }: Credentials): Dispatcher {
    const { tls, proxyUrl } = this.#access;
    const connect = { ...tls, ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) };
    const options = { connections, pipelining: 1, allowH2: false, keepAliveTimeout: KEEP_ALIVE_MS };
    return proxyUrl === undefined
      ? new Pool(this.#origin, { ...options, connect })
      : new ProxyAgent({ ...options, uri: proxyUrl, requestTls: connect });
  }
}
