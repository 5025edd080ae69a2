/** The kubelet of the virtual node, as far as the API server needs one: it reads logs there. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { generate } from "selfsigned";
import type { Caller } from "./kubelet-callers.ts";
import { LogError } from "./log-reader.ts";
import { type LogRequest, readLogRequest } from "./log-request.ts";
import type { ShownLogs } from "./shown-logs.ts";

export interface KubeletServerOptions {
  readonly host: string;
  readonly port: number;
  /** PEM; made anew, and signed by itself, unless given. */
  readonly certificate?: { readonly key: string; readonly cert: string } | undefined;
  /** PEM of those who sign certificates of the API server. */
  readonly clientCa: string;
  /** Whether somebody with a certificate of these may read logs. */
  isAllowed(caller: Caller): Promise<boolean>;
  /** Undefined while another manager leads. */
  logs(): Pick<ShownLogs, "read"> | undefined;
  readonly logger: Logger;
  readonly maxStreams?: number;
}

export interface KubeletServer {
  readonly port: number;
  /** Others sign certificates of the API server from now on. */
  trust(clientCa: string): void;
  close(): Promise<void>;
}

const MAX_STREAMS = 512;
/** An API server has one for each log, and some to ask with. */
const MAX_CONNECTIONS = 2 * MAX_STREAMS;
/** A reader that takes nothing for this long has gone. */
const STUCK_MS = 300_000;
const DAY_MS = 86_400_000;

export async function startKubeletServer(options: KubeletServerOptions): Promise<KubeletServer> {
  const certificate = options.certificate ?? (await selfSigned(options.host));
  const handler = new Handler(options);
  const tls = { ...certificate, ca: options.clientCa, requestCert: true, rejectUnauthorized: false };
  const server: Server = createServer(tls, (request, response) => {
    handler.handle(request, response).catch((error: unknown) => {
      options.logger.warn({ error }, "a request for a log failed");
      response.destroy();
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("tlsClientError", () => {});
  server.listen(options.port, options.host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    trust: (clientCa) => server.setSecureContext({ ...certificate, ca: clientCa }),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

class Handler {
  readonly #options: KubeletServerOptions;
  #streams = 0;

  constructor(options: KubeletServerOptions) {
    this.#options = options;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const caller = callerOf(request.socket as TLSSocket);
    if (caller === undefined)
      return answer(response, 401, "a client certificate of this cluster's API server is needed");
    if (!(await this.#options.isAllowed(caller)))
      return answer(response, 403, `${caller.user} may not read logs here: nodes/proxy of node jobferry is needed`);
    const asked = readLogRequest(request.url ?? "/");
    if (asked === undefined) return answer(response, 400, "this is not a path of a kubelet");
    const { verb, container } = asked;
    if (["exec", "attach", "portForward", "run"].includes(verb)) return answer(response, 501, elsewhere(verb));
    if (verb !== "containerLogs" || request.method !== "GET" || container === "")
      return answer(response, 404, "this node has logs of containers, and nothing else");
    await this.#log(asked, response);
  }

  async #log({ namespace, pod, container, options }: LogRequest, response: ServerResponse): Promise<void> {
    const logs = this.#options.logs();
    if (logs === undefined) return answer(response, readable(503), "another manager leads: try again in a moment");
    const most = this.#options.maxStreams ?? MAX_STREAMS;
    if (this.#streams >= most) return answer(response, 429, `${most} logs are being read already: try again later`);
    this.#streams++;
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    response.once("close", leave);
    try {
      await pipe(await logs.read({ namespace, pod, container }, options, gone.signal), response, gone.signal);
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      // An API server ends the reader's answer as if it were whole when we break off: only the log itself can tell, as with kubelets.
      if (response.headersSent) response.end(`\njobferry: the log breaks off here: ${error.message}\n`);
      else answer(response, readable(error.code), error.message);
    } finally {
      response.off("close", leave);
      this.#streams--;
    }
  }
}

/**
 * An API server hands on what a kubelet says with 400 and 500; with 404, 503 and others it says a sentence of its own, which would
 * not tell why there is no log. Of 429 that sentence is good, and clients try again.
 */
const readable = (code: number): number => (code === 429 ? code : code < 500 ? 400 : 500);

/** As fast as the reader reads; one that goes away ends the log. */
async function pipe(chunks: AsyncGenerator<Buffer>, response: ServerResponse, gone: AbortSignal): Promise<void> {
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

function callerOf(socket: TLSSocket): Caller | undefined {
  if (!socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  const user = subject?.CN;
  if (typeof user !== "string" || user === "") return undefined;
  return { user, groups: [subject.O ?? []].flat() };
}

const elsewhere = (verb: string): string =>
  `${verb} does not reach a pod on a worker: use kubectl with the worker's own kubeconfig; the shadow's label jobferry.dev/cluster and annotation jobferry.dev/worker-pod name cluster and pod`;

function answer(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { "content-type": "text/plain" });
  response.end(text);
}

/** The API server takes any certificate unless it has `--kubelet-certificate-authority`. */
async function selfSigned(host: string): Promise<{ key: string; cert: string }> {
  const { private: key, cert } = await generate([{ name: "commonName", value: "system:node:jobferry" }], {
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
