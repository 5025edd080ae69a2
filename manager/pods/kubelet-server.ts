/** The kubelet of the virtual node, as far as the API server needs one: it reads logs there. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { LogOptions } from "@jobferry/shared/kube/pod-logs.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Caller } from "./kubelet-callers.ts";
import { answer, LogAnswers, selfSigned } from "./log-answer.ts";
import { type LogRequest, readLogRequest } from "./log-request.ts";
import type { ShownContainer } from "./shown-logs.ts";

export interface KubeletServerOptions {
  readonly host: string;
  readonly port: number;
  /** PEM; made anew, and signed by itself, unless given. */
  readonly certificate?: { readonly key: string; readonly cert: string } | undefined;
  /** PEM of those who sign certificates of the API server. */
  readonly clientCa: string;
  /** Whether somebody with a certificate of these may read logs. */
  isAllowed(caller: Caller): Promise<boolean>;
  /** Rejects with LogError. */
  open(asked: ShownContainer, options: LogOptions, gone: AbortSignal): Promise<AsyncIterable<Buffer>>;
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

export async function startKubeletServer(options: KubeletServerOptions): Promise<KubeletServer> {
  const certificate = options.certificate ?? (await selfSigned("system:node:jobferry", options.host));
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
  readonly #answers: LogAnswers;

  constructor(options: KubeletServerOptions) {
    this.#options = options;
    this.#answers = new LogAnswers({
      most: options.maxStreams ?? MAX_STREAMS,
      refuse: (response, code, message) => answer(response, readable(code), message),
    });
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
    await this.#answers.send(response, (gone) => this.#options.open({ namespace, pod, container }, options, gone));
  }
}

/**
 * An API server hands on what a kubelet says with 400 and 500; with 404, 503 and others it says a sentence of its own, which would
 * not tell why there is no log. Of 429 that sentence is good, and clients try again.
 */
const readable = (code: number): number => (code === 429 ? code : code < 500 ? 400 : 500);

function callerOf(socket: TLSSocket): Caller | undefined {
  if (!socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  const user = subject?.CN;
  if (typeof user !== "string" || user === "") return undefined;
  return { user, groups: [subject.O ?? []].flat() };
}

const elsewhere = (verb: string): string =>
  `${verb} does not reach a pod on a worker: use kubectl with the worker's own kubeconfig; the shadow's label jobferry.dev/cluster and annotation jobferry.dev/worker-pod name cluster and pod`;
