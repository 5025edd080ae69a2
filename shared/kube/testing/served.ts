import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach } from "vitest";
import { type Clock, realClock } from "../../runtime/clock.ts";
import type { ClusterAccess } from "../access.ts";
import type { Resource } from "../api.ts";
import { type ClientOptions, createClient, type KubeClient } from "../client.ts";
import type { CredentialSource } from "../credentials.ts";
import { ApiError } from "../errors.ts";
import * as resources from "../resources.ts";

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}
export type Answer = (response: ServerResponse, seen: Seen, count: number) => void;

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** Waits a hundredth of what it is asked for, and remembers what that was. */
export function impatientClock() {
  const waits: number[] = [];
  const clock: Clock = {
    ...realClock,
    after: (ms, callback) => {
      if (ms < 29_000) waits.push(ms);
      return realClock.after(ms / 100, callback);
    },
  };
  return { clock, waits };
}

/** An HTTP server that answers as told, and a client of it. */
export async function served(answer: Answer, options: ClientOptions = {}, credentials?: CredentialSource) {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
    answer(response, seen[seen.length - 1] as Seen, seen.length);
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = connect(`http://127.0.0.1:${port}`, options, credentials);
  cleanups.push(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { client, seen, sockets, server };
}

export function connect(server: string, options: ClientOptions, credentials?: CredentialSource): KubeClient {
  const access: ClusterAccess = {
    server,
    namespace: "default",
    tls: {},
    credentials: credentials ?? { current: () => ({ headers: { authorization: "Bearer t" } }), refresh() {} },
  };
  return createClient(access, { random: () => 1, ...options });
}

export const json = (
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
};
export const status = (code: number, reason: string, extra: object = {}): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  reason,
  message: `it is ${reason}`,
  code,
  ...extra,
});
export const failure = (promise: Promise<unknown>): Promise<ApiError> =>
  promise.then(
    () => Promise.reject(new Error("it succeeded")),
    (error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    },
  );
export const key = { namespace: "ns", name: "a" };
export const echo: Answer = (response) => json(response, 200, { metadata: { name: "a" } });

export const named = { metadata: { name: "a" } };

/** Without their shapes, so that a test need not spell out whole objects. */
export const { jobs, namespaces, pods }: Record<"jobs" | "namespaces" | "pods", Resource> = resources;
