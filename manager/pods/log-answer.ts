/** How logs go out over HTTP. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { generate } from "selfsigned";
import { LogError } from "./log-reader.ts";

/** A reader that takes nothing for this long has gone. */
const STUCK_MS = 300_000;
const DAY_MS = 86_400_000;

export function answer(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { "content-type": "text/plain" });
  response.end(text);
}

export interface LogAnswerOptions {
  /** Logs that are read at a time; more are answered with 429. */
  readonly most: number;
  /** Says what is the matter, as whoever reads here understands it. */
  refuse(response: ServerResponse, code: number, message: string): void;
}

/** Sends logs to a bounded number of readers, each as fast as it reads. */
export class LogAnswers {
  readonly #options: LogAnswerOptions;
  #open = 0;

  constructor(options: LogAnswerOptions) {
    this.#options = options;
  }

  async send(response: ServerResponse, open: (gone: AbortSignal) => Promise<AsyncIterable<Buffer>>): Promise<void> {
    const { most, refuse } = this.#options;
    if (this.#open >= most) return refuse(response, 429, `${most} logs are being read already: try again later`);
    this.#open++;
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    response.once("close", leave);
    try {
      await pipe(await open(gone.signal), response, gone.signal);
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      // An API server ends the reader's answer as if it were whole when we break off: only the log itself can tell, as with kubelets.
      if (response.headersSent) response.end(`\njobferry: the log breaks off here: ${error.message}\n`);
      else refuse(response, error.code, error.message);
    } finally {
      response.off("close", leave);
      this.#open--;
    }
  }
}

/** As fast as the reader reads; one that goes away ends the log. */
async function pipe(chunks: AsyncIterable<Buffer>, response: ServerResponse, gone: AbortSignal): Promise<void> {
  response.writeHead(200, { "content-type": "text/plain" });
  response.flushHeaders();
  for await (const chunk of chunks) {
    if (!response.write(chunk)) await drained(response, gone);
    if (gone.aborted) break;
  }
  response.end();
}

async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  const late = AbortSignal.timeout(STUCK_MS);
  await once(response, "drain", { signal: AbortSignal.any([signal, late]) }).catch(() => {
    if (late.aborted) response.destroy();
  });
}

/** A certificate that nobody has signed: an API server takes any, unless it is told otherwise. */
export async function selfSigned(commonName: string, host: string): Promise<{ key: string; cert: string }> {
  const { private: key, cert } = await generate([{ name: "commonName", value: commonName }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    notBeforeDate: new Date(Date.now() - DAY_MS),
    notAfterDate: new Date(Date.now() + 3650 * DAY_MS),
    extensions: [
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: [{ type: 2, value: "jobferry" }, ...(isIp(host) ? [{ type: 7 as const, ip: host }] : [])],
      },
    ],
  });
  return { key, cert };
}

const isIp = (host: string): boolean => /^[\d.]+$/.test(host);
