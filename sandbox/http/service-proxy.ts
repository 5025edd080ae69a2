/** `.../services/https:NAME:PORT/proxy/...`: what is asked there is asked of a program behind that Service, as a real API server does. */
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { failure } from "../api/errors.ts";
import type { Exchange } from "./exchange.ts";

export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

interface Proxied {
  readonly namespace: string;
  readonly service: string;
  readonly path: string;
}

export function readProxied(path: string): Proxied | undefined {
  const [, namespace, service, rest] =
    /^\/api\/v1\/namespaces\/([^/]+)\/services\/https:([^/:]+):[^/:]*\/proxy(\/.*)?$/.exec(path) ?? [];
  return namespace === undefined || service === undefined ? undefined : { namespace, service, path: rest ?? "/" };
}

export async function proxyService(
  exchange: Exchange,
  { namespace, service, path }: Proxied,
  services: ReadonlyMap<string, ServiceAddress>,
): Promise<void> {
  const address = services.get(`${namespace}/${service}`);
  if (address === undefined) throw failure(404, "NotFound", `services "${service}" not found`);
  // It is for the API server alone.
  const { authorization: _, host: __, ...headers } = exchange.request.headers;
  const options = { ...address, path: `${path}${exchange.url.search}`, method: exchange.method, headers };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    // An API server does not check who a Service is.
    const sent = httpsRequest({ ...options, rejectUnauthorized: false, signal: exchange.signal }, resolve);
    sent.on("error", (error) =>
      reject(failure(503, "ServiceUnavailable", `error trying to reach service: ${error.message}`)),
    );
    exchange.request.pipe(sent);
  });
  exchange.head(answer.statusCode ?? 502, answer.headers["content-type"] ?? "application/octet-stream");
  for await (const chunk of answer) await exchange.write(chunk as Buffer);
  exchange.response.end();
}
