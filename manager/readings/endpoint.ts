/** Where `jobferry logs` asks the manager for logs, mostly through the hub's API server. Nothing is answered without a ticket. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { TICKET_HEADER } from "@jobferry/shared/api/log-readings.ts";
import { reasonOf } from "@jobferry/shared/kube/errors.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { LogAnswers, selfSigned } from "../pods/log-answer.ts";
import { LogError } from "../pods/log-reader.ts";
import type { JobTarget } from "./job-logs.ts";
import { type ReadingRequest, readReadingRequest } from "./reading-request.ts";

export interface LogEndpointOptions {
  readonly host: string;
  readonly port: number;
  /** PEM; made anew, and signed by itself, unless given. */
  readonly certificate?: { readonly key: string; readonly cert: string } | undefined;
  /** The Job that this ticket opens; undefined for one that opens nothing. Rejects with LogError. */
  jobOf(reading: ReadingRequest["reading"], ticket: string): Promise<JobTarget | undefined>;
  /** Rejects with LogError. */
  open(job: JobTarget, asked: ReadingRequest, gone: AbortSignal): Promise<AsyncIterable<Buffer>>;
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

export async function startLogEndpoint(options: LogEndpointOptions): Promise<LogEndpoint> {
  const { host, port, logger } = options;
  const certificate = options.certificate ?? (await selfSigned("jobferry-manager", host));
  const handler = new Handler(options);
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
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

class Handler {
  readonly #options: LogEndpointOptions;
  readonly #answers = new LogAnswers({ most: MAX_STREAMS, refuse });
  #lookups = 0;

  constructor(options: LogEndpointOptions) {
    this.#options = options;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = request.method === "GET" ? readReadingRequest(request.url ?? "/") : undefined;
    if (asked === undefined) return refuse(response, 404, "here are logs for `jobferry logs`, and nothing else");
    const ticket = request.headers[TICKET_HEADER];
    if (typeof ticket !== "string" || ticket === "") return refuse(response, 401, "a ticket of a LogReading is needed");
    if (this.#lookups >= MAX_LOOKUPS) return refuse(response, 429, "too many ask at once: try again in a moment");
    this.#lookups++;
    try {
      const job = await this.#options.jobOf(asked.reading, ticket).finally(() => this.#lookups--);
      if (job === undefined)
        return refuse(response, 403, "the ticket is not that of this LogReading, or it is too old");
      await this.#answers.send(response, (gone) => this.#options.open(job, asked, gone));
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      refuse(response, error.code, error.message);
    }
  }
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
