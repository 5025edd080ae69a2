import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { stringify } from "yaml";
import { badRequest, unauthorized, unknownResource } from "../api/errors.ts";
import {
  AGGREGATED,
  aggregated,
  coreVersions,
  groupDocument,
  groupList,
  resourceList,
  VERSION,
  wantsAggregated,
} from "./discovery.ts";
import { Exchange } from "./exchange.ts";
import { openApi } from "./openapi.ts";
import { type ResourceParts, ResourceRequest } from "./resources.ts";
import { readRoute } from "./routes.ts";
import { proxyService, readProxied, type ServiceAddress } from "./service-proxy.ts";
import { selfSigned } from "./tls.ts";

export interface ServeOptions extends ResourceParts {
  readonly name: string;
  readonly token: string;
  readonly port?: number | undefined;
  /** Where Services of the cluster are, by namespace and name. */
  readonly services: ReadonlyMap<string, ServiceAddress>;
}

/** The API over TLS on the loopback interface. */
export class ApiListener {
  readonly #options: ServeOptions;
  readonly #sockets = new Set<Duplex>();
  #server: Server | undefined;
  #certificate = "";
  #port = 0;

  constructor(options: ServeOptions) {
    this.#options = options;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  async listen(): Promise<void> {
    const { key, cert } = await selfSigned(this.#options.name);
    this.#certificate = cert;
    const server = createServer({ key, cert }, (request, response) => void this.#handle(request, response));
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    // Watches stay open for as long as they like.
    server.requestTimeout = 0;
    server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#options.port ?? 0, "127.0.0.1", resolve);
    });
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    this.dropConnections();
    await closed;
  }

  /** Breaks every open connection, watches included. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  kubeconfig(): string {
    const { name, token } = this.#options;
    const data = Buffer.from(this.#certificate).toString("base64");
    return stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server: this.url, "certificate-authority-data": data } }],
      users: [{ name, user: { token } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      "current-context": name,
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!URL.canParse(request.url ?? "/", "https://sandbox")) {
      response.writeHead(400).end();
      return;
    }
    const exchange = new Exchange(request, response);
    try {
      await this.#answer(exchange);
    } catch (error) {
      exchange.fail(error);
    }
  }

  async #answer(exchange: Exchange): Promise<void> {
    const path = exchange.url.pathname;
    if (["/healthz", "/livez", "/readyz"].includes(path)) return exchange.text(200, "ok");
    if (path === "/version") return exchange.json(200, VERSION);
    if (exchange.request.headers.authorization !== `Bearer ${this.#options.token}`) throw unauthorized();
    if (this.#describe(exchange, path)) return;
    const proxied = readProxied(path);
    if (proxied !== undefined) return await proxyService(exchange, proxied, this.#options.services);
    const route = routeOf(path);
    if (route === undefined) return exchange.text(404, "404 page not found\n");
    const { registry } = this.#options.server;
    if (route.group !== "" && groupDocument(registry, route.group) === undefined)
      return exchange.text(404, "404 page not found\n");
    // POST to "bindings" is POST to "pods/NAME/binding" with the name in the body only.
    const binds = route.group === "" && route.plural === "bindings";
    const type = registry.find(route.group, route.version, binds ? "pods" : route.plural);
    if (type === undefined) throw unknownResource();
    const request = new ResourceRequest(this.#options, exchange, route, type);
    await (binds ? request.bindByName() : request.answer());
  }

  /** Discovery and OpenAPI; true when the path was one of theirs. */
  #describe(exchange: Exchange, path: string): boolean {
    const { registry } = this.#options.server;
    const parts = path.split("/").filter((part) => part !== "");
    const [root, group, version] = parts;
    const document = openApi(registry, path);
    if (document !== undefined) exchange.json(200, document, "application/json");
    else if (root === "api" && parts.length === 1) {
      if (wantsAggregated(exchange.request.headers.accept)) exchange.json(200, aggregated(registry, true), AGGREGATED);
      else exchange.json(200, coreVersions(this.url.slice("https://".length)));
    } else if (root === "apis" && parts.length === 1) {
      if (wantsAggregated(exchange.request.headers.accept)) exchange.json(200, aggregated(registry, false), AGGREGATED);
      else exchange.json(200, groupList(registry));
    } else if (root === "api" && parts.length === 2)
      return sendIfAny(exchange, resourceList(registry, "", group ?? ""));
    else if (root === "apis" && parts.length === 2) return sendIfAny(exchange, groupDocument(registry, group ?? ""));
    else if (root === "apis" && parts.length === 3)
      return sendIfAny(exchange, resourceList(registry, group ?? "", version ?? ""));
    else return false;
    return true;
  }
}

function sendIfAny(exchange: Exchange, document: object | undefined): boolean {
  if (document !== undefined) exchange.json(200, document);
  return document !== undefined;
}

function routeOf(path: string): ReturnType<typeof readRoute> {
  try {
    return readRoute(path);
  } catch {
    throw badRequest("the path is not valid percent-encoding");
  }
}
