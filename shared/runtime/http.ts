import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Registry } from "prom-client";
import { ConfigError } from "./config-error.ts";

export interface StatusServerOptions {
  /** Loopback unless given; probes of a kubelet need `0.0.0.0` or the pod's address. */
  host?: string;
  /** 0: any free one. */
  port: number;
  registry?: Pick<Registry, "metrics" | "contentType">;
  /** What we are still waiting for; none means ready. */
  notReady?: () => string[];
}

export interface StatusServer {
  readonly url: string;
  close(): Promise<void>;
}

interface Answer {
  status: number;
  body: string;
  type?: string;
}

const CLOSE_GRACE_MS = 1_000;
/** A client that has said nothing by then is not asking. */
const SILENT_MS = 2_000;
const MAX_CONNECTIONS = 100;

/** Serves `/healthz`, `/readyz` and `/metrics`. */
export async function startStatusServer(options: StatusServerOptions): Promise<StatusServer> {
  const { host = "127.0.0.1", port } = options;
  const timeouts = {
    headersTimeout: SILENT_MS,
    connectionsCheckingInterval: SILENT_MS / 4,
    keepAliveTimeout: SILENT_MS,
  };
  const server = createServer({ requestTimeout: 10_000, ...timeouts }, (request, response) => {
    void respond(options, request, response);
  });
  shedOldest(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new ConfigError(`cannot listen on ${host}:${port} (${cause.message}): choose another address`, { cause })),
    );
    server.listen(port, host, resolve);
  });
  server.unref();
  const bound = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

/** Whoever holds connections must not keep a probe from being answered: the newest is let in, the oldest goes. */
function shedOldest(server: Server): void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    const [oldest] = open;
    if (open.size > MAX_CONNECTIONS) oldest?.destroy();
  });
}

async function respond(
  options: StatusServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const {
    status,
    body,
    type = "text/plain; charset=utf-8",
  } = await answer(options, request).catch((error: unknown) => ({
    status: 500,
    body: `${error instanceof Error ? error.message : String(error)}\n`,
    type: undefined,
  }));
  response.writeHead(status, {
    "content-type": type,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

async function answer(options: StatusServerOptions, { method, url = "/" }: IncomingMessage): Promise<Answer> {
  if (method !== "GET" && method !== "HEAD") return { status: 405, body: "only GET\n" };
  const path = url.split("?", 1)[0];
  if (path === "/healthz") return { status: 200, body: "ok\n" };
  if (path === "/readyz") {
    const missing = options.notReady?.() ?? [];
    if (missing.length > 0) return { status: 503, body: `not ready: ${missing.join("; ")}\n` };
    return { status: 200, body: "ok\n" };
  }
  if (path === "/metrics" && options.registry !== undefined)
    return { status: 200, body: await options.registry.metrics(), type: options.registry.contentType };
  return { status: 404, body: "there are /healthz, /readyz and /metrics\n" };
}
