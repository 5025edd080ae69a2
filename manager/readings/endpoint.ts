/** Where `jobferry logs` asks the manager for logs, mostly through the hub's API server. Nothing is answered without a ticket. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { TICKET_HEADER } from "@jobferry/shared/api/log-readings.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { reasonOf } from "@jobferry/shared/kube/errors.ts";
import { type Clock, realClock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { LogAnswers, selfSigned } from "../pods/log-answer.ts";
import type { JobLogs } from "./job-logs.ts";
import { type ReadingRequest, readReadingRequest } from "./reading-request.ts";
import { Tickets } from "./tickets.ts";

export interface LogEndpointOptions {
  readonly api: KubeApi;
  readonly clock?: Clock;
  readonly host: string;
  readonly port: number;
  /** PEM; made anew, and signed by itself, unless given. */
  readonly certificate?: { readonly key: string; readonly cert: string } | undefined;
  /** Undefined while another manager leads. */
  logs(): JobLogs | undefined;
  readonly logger: Logger;
}

export interface LogEndpoint {
  readonly port: number;
  close(): Promise<void>;
}

const MAX_STREAMS = 128;
const MAX_CONNECTIONS = 2 * MAX_STREAMS;
/** Tickets that are looked up at a time: each is a question to the hub, and anybody can ask. */
const MAX_LOOKUPS = 16;
const SWEEP_MS = 60_000;

export async function startLogEndpoint(options: LogEndpointOptions): Promise<LogEndpoint> {
  const { host, port, api, clock = realClock, logger } = options;
  const certificate = options.certificate ?? (await selfSigned("jobferry-manager", host));
  const tickets = new Tickets(api, clock);
  const handler = new Handler(options, tickets);
  const server = createServer(certificate, (request, response) => {
    handler.handle(request, response).catch((error: unknown) => {
      logger.warn({ error }, "a request of jobferry logs failed");
      if (response.headersSent) response.destroy();
      else refuse(response, 500, "the manager could not answer: its log says why");
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("tlsClientError", () => {});
  server.listen(port, host);
  await once(server, "listening");
  const sweeping = setInterval(() => {
    if (options.logs() !== undefined)
      tickets.sweep().catch((error: unknown) => logger.warn({ error }, "old LogReadings were not removed"));
  }, SWEEP_MS).unref();
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      clearInterval(sweeping);
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

class Handler {
  readonly #options: LogEndpointOptions;
  readonly #tickets: Tickets;
  readonly #answers = new LogAnswers({ most: MAX_STREAMS, refuse });
  #lookups = 0;

  constructor(options: LogEndpointOptions, tickets: Tickets) {
    this.#options = options;
    this.#tickets = tickets;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = request.method === "GET" ? readReadingRequest(request.url ?? "/") : undefined;
    if (asked === undefined) return refuse(response, 404, "here are logs for `jobferry logs`, and nothing else");
    const logs = this.#options.logs();
    if (logs === undefined) return refuse(response, 503, "another manager leads: try again in a moment");
    const ticket = request.headers[TICKET_HEADER];
    if (typeof ticket !== "string" || ticket === "") return refuse(response, 401, "a ticket of a LogReading is needed");
    if (this.#lookups >= MAX_LOOKUPS) return refuse(response, 429, "too many ask at once: try again in a moment");
    const job = await this.#jobOf(asked, ticket);
    if (job === undefined) return refuse(response, 403, "the ticket is not that of this LogReading, or it is too old");
    await this.#answers.send(response, (gone) => open(logs, job, asked, gone));
  }

  async #jobOf({ reading }: ReadingRequest, ticket: string): Promise<string | undefined> {
    this.#lookups++;
    try {
      return await this.#tickets.jobOf(reading, ticket);
    } finally {
      this.#lookups--;
    }
  }
}

function open(logs: JobLogs, job: string, asked: ReadingRequest, gone: AbortSignal): Promise<AsyncGenerator<Buffer>> {
  const { namespace } = asked.reading;
  if (asked.wants === "pods") return logs.pods(namespace, job, gone);
  const { pod, container, options } = asked;
  return logs.read({ namespace, job, pod, container }, options, gone);
}

/** As API servers say it, so that one client reads both. */
function refuse(response: ServerResponse, code: number, message: string): void {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: reasonOf(code),
    code,
  };
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify(status));
}
