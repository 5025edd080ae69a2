import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { stringify as toYaml } from "yaml";
import { failure } from "../api/errors.ts";
import { type Accepted, readAccept } from "./accept.ts";

const WARNING_LIMIT = 4096;

/** One HTTP request and its answer. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly client: string;
  readonly signal: AbortSignal;
  readonly #warnings: string[] = [];
  #accepted: Accepted | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
    this.url = new URL(request.url ?? "/", "https://sandbox");
    this.client = /^[^\s/]*/.exec(request.headers["user-agent"] ?? "")?.[0] ?? "";
    const gone = new AbortController();
    response.once("close", () => gone.abort(new Error("the client went away")));
    this.signal = gone.signal;
  }

  get method(): string {
    return this.request.method ?? "GET";
  }

  get query(): URLSearchParams {
    return this.url.searchParams;
  }

  get accepted(): Accepted {
    this.#accepted ??= readAccept(this.request.headers.accept);
    return this.#accepted;
  }

  readonly warn = (text: string): void => {
    if (this.#warnings.join("").length < WARNING_LIMIT && !this.#warnings.includes(text)) this.#warnings.push(text);
  };

  json(code: number, body: object, contentType?: string): void {
    const yaml = contentType === undefined && this.#accepted?.yaml === true;
    const text = yaml ? toYaml(body) : `${JSON.stringify(body)}\n`;
    this.head(code, contentType ?? (yaml ? "application/yaml" : "application/json"));
    this.response.end(text);
  }

  text(code: number, body: string): void {
    this.head(code, "text/plain; charset=utf-8");
    this.response.end(body);
  }

  head(code: number, contentType: string): void {
    this.response.setHeader("Content-Type", contentType);
    this.response.setHeader("Cache-Control", "no-cache, private");
    if (this.#warnings.length > 0)
      this.response.setHeader(
        "Warning",
        this.#warnings.map((text) => `299 - ${JSON.stringify(text.replaceAll(/[^\x20-\x7e]/g, "?"))}`),
      );
    this.response.writeHead(code);
  }

  /** Waits when the client reads slower than we write. */
  async write(chunk: string | Buffer): Promise<void> {
    if (this.response.destroyed) throw this.signal.reason;
    if (!this.response.write(chunk)) await once(this.response, "drain", { signal: this.signal });
  }

  fail(error: unknown): void {
    if (this.response.destroyed) return;
    // Code 0 is an injected fault: the client must see a broken connection, not an answer.
    if (this.response.headersSent || (error instanceof ApiError && error.code === 0)) {
      this.response.destroy();
      return;
    }
    const known =
      error instanceof ApiError ? error : failure(500, "InternalError", `Internal error occurred: ${String(error)}`);
    const status = known.status ?? failure(known.code, known.reason, known.message).status;
    const seconds = status?.details?.retryAfterSeconds;
    if (seconds !== undefined) this.response.setHeader("Retry-After", String(seconds));
    // What is left of a refused body is not read: the connection cannot be used again.
    if (!this.request.complete) this.response.setHeader("Connection", "close");
    this.json(known.code, status ?? {}, "application/json");
  }
}
