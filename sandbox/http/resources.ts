/** The verbs over HTTP: from method, path, query and body to a call of the API and back. */
import { setImmediate } from "node:timers/promises";
import { badRequest, methodNotAllowed, unknownResource } from "../api/errors.ts";
import type { ResourceType } from "../api/types.ts";
import type { WriteOptions } from "../api/write.ts";
import type { ApiServer } from "../api-server.ts";
import type { Call, Verb } from "../faults.ts";
import type { Gateway } from "../gateway.ts";
import type { LocalClient } from "../local-client.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import type { Exchange } from "./exchange.ts";
import { kubeletOf } from "./kubelet-logs.ts";
import { type LogSource, type RemoteKubelet, serveLog } from "./logs.ts";
import { readPatch } from "./patch-body.ts";
import {
  dryRunOf,
  fieldValidationOf,
  flag,
  integer,
  mediaType,
  type ParsedBody,
  parseObject,
  readAll,
  readDeleteOptions,
  text,
} from "./request.ts";
import type { Route } from "./routes.ts";
import { asListItem, includeObject, writeList, writeWatch } from "./stream.ts";
import { partialMetadata, tableOf } from "./table.ts";
import type { Certificate } from "./tls.ts";

const NODES = { group: "", version: "v1", plural: "nodes" };

export interface ResourceParts {
  readonly server: ApiServer;
  readonly gateway: Gateway;
  readonly clientFor: (name: string) => LocalClient;
  readonly logs: LogSource | undefined;
  /** What the kubelets of nodes outside of this process know the API server by. */
  readonly kubeletClient?: Certificate | undefined;
}

/** One request about one resource type. */
export class ResourceRequest {
  readonly #parts: ResourceParts;
  readonly #exchange: Exchange;
  readonly #route: Route;
  readonly #type: ResourceType;

  constructor(parts: ResourceParts, exchange: Exchange, route: Route, type: ResourceType) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#route = route;
    this.#type = type;
  }

  async answer(): Promise<void> {
    const { name, subresource, namespace } = this.#route;
    if (!this.#type.namespaced && namespace !== undefined) throw unknownResource();
    if (name === undefined) return this.#onCollection();
    if (this.#type.namespaced && namespace === undefined) throw unknownResource();
    const { accepted } = this.#exchange;
    if (accepted.view === "table" && this.#exchange.method !== "GET") throw badRequest("a Table can only be read");
    if (subresource === undefined || (subresource === "status" && this.#type.hasStatus)) return this.#onObject(name);
    const known = this.#type.connects.some((sub) => sub.name === subresource);
    if (!known) throw unknownResource();
    return this.#onSubresource(name, subresource);
  }

  async bindByName(): Promise<void> {
    const { namespace, name } = this.#route;
    if (this.#exchange.method !== "POST" || name !== undefined || namespace === undefined) throw methodNotAllowed();
    const body = await this.#body();
    const pod = isRecord(body.metadata) && typeof body.metadata.name === "string" ? body.metadata.name : "";
    const dryRun = dryRunOf(this.#exchange.query.getAll("dryRun"), "CreateOptions");
    const bind = (): void => this.#parts.server.bind({ namespace, name: pod }, body, dryRun);
    await this.#run("create", bind, { resource: "pods", subresource: "binding", name: pod, dryRun });
    this.#exchange.json(201, SUCCESS_CREATED);
  }

  async #onCollection(): Promise<void> {
    const { method, query } = this.#exchange;
    if (method === "GET" || method === "HEAD") return flag(query, "watch") ? this.#watch() : this.#list();
    if (method === "POST" && (this.#route.namespace !== undefined || !this.#type.namespaced)) return this.#create();
    if (method === "DELETE" && this.#type.plural !== "namespaces") return this.#deleteCollection();
    throw methodNotAllowed();
  }

  async #onObject(name: string): Promise<void> {
    const { method } = this.#exchange;
    const key = { namespace: this.#route.namespace, name };
    switch (method) {
      case "GET":
      case "HEAD": {
        const object = await this.#run("get", () => this.#parts.server.get(this.#type, key));
        return this.#send(200, object);
      }
      case "PUT":
        return this.#replace(key);
      case "PATCH":
        return this.#patch(key);
      case "DELETE":
        if (this.#route.subresource === undefined) return this.#delete(key);
        throw methodNotAllowed();
      default:
        throw methodNotAllowed();
    }
  }

  async #list(): Promise<void> {
    const { query, client } = this.#exchange;
    const request = {
      ...this.#selectors(),
      limit: integer(query, "limit"),
      continue: text(query, "continue"),
      resourceVersion: text(query, "resourceVersion"),
      resourceVersionMatch: text(query, "resourceVersionMatch"),
      sendInitialEvents: flag(query, "sendInitialEvents"),
    };
    const { server } = this.#parts;
    // Decided before the work: a list that nobody can read should not be made.
    void this.#exchange.accepted;
    const { type, ...result } = await this.#parts
      .clientFor(client)
      .listAs(this.#type, request, { signal: this.#exchange.signal });
    await writeList(this.#exchange, type, result, server.clock.now());
  }

  async #watch(): Promise<void> {
    const { query, client, signal } = this.#exchange;
    const request = {
      ...this.#selectors(),
      resourceVersion: text(query, "resourceVersion"),
      resourceVersionMatch: text(query, "resourceVersionMatch"),
      allowWatchBookmarks: flag(query, "allowWatchBookmarks"),
      sendInitialEvents: flag(query, "sendInitialEvents"),
      timeoutSeconds: integer(query, "timeoutSeconds"),
    };
    void this.#exchange.accepted;
    const events = this.#parts.clientFor(client).watchAs(this.#type, request, signal, () => {
      // The stream opens before its first event, so that a client knows its watch stands.
      this.#exchange.head(200, "application/json");
      this.#exchange.response.flushHeaders();
    });
    await writeWatch(this.#exchange, this.#type, events, () => this.#parts.server.clock.now());
  }

  async #create(): Promise<void> {
    const plain = this.#writeOptions("CreateOptions");
    const { value: body, repeated } = await this.#parsed();
    const options = { ...plain, repeated };
    const name = isRecord(body.metadata) && typeof body.metadata.name === "string" ? body.metadata.name : undefined;
    const create = (): Stored => this.#parts.server.create(this.#type, this.#route.namespace, body, options);
    this.#send(201, await this.#run("create", create, { name, dryRun: options.dryRun }));
  }

  async #replace(key: { namespace: string | undefined; name: string }): Promise<void> {
    const plain = this.#writeOptions("UpdateOptions");
    const { value: body, repeated } = await this.#parsed();
    const options = { ...plain, repeated };
    const replace = (): { object: Stored; created: boolean } => this.#parts.server.put(this.#type, key, body, options);
    const { object, created } = await this.#run("update", replace, { dryRun: options.dryRun });
    this.#send(created ? 201 : 200, object);
  }

  async #patch(key: { namespace: string | undefined; name: string }): Promise<void> {
    const options = this.#writeOptions("PatchOptions");
    const patch = readPatch(
      mediaType(this.#exchange.request),
      (await readAll(this.#exchange.request)).toString(),
      this.#exchange.query,
    );
    const perform = (): { object: Stored; created: boolean } =>
      this.#parts.server.apply(this.#type, key, patch, options);
    const { object, created } = await this.#run("patch", perform, { dryRun: options.dryRun });
    this.#send(created ? 201 : 200, object);
  }

  async #delete(key: { namespace: string | undefined; name: string }): Promise<void> {
    const options = await this.#deleteOptions();
    const remove = () => this.#parts.server.delete(this.#type, key, options);
    const { gone, object } = await this.#run("delete", remove, { dryRun: options.dryRun });
    if (gone && this.#type.strategy.answersWithDeleted !== true)
      return this.#exchange.json(200, deleted(this.#type, object));
    this.#send(200, object);
  }

  async #deleteCollection(): Promise<void> {
    const options = await this.#deleteOptions();
    const { server } = this.#parts;
    const list = (): readonly Stored[] => server.list(this.#type, this.#selectors()).items;
    const selected = await this.#run("deletecollection", list, { dryRun: options.dryRun });
    const items: object[] = [];
    for (const [index, { metadata }] of selected.entries()) {
      // Watchers must get their turn, or they would be cut off as too slow.
      if (index % DELETE_CHUNK === DELETE_CHUNK - 1) await setImmediate();
      if (isGone(server, this.#type, metadata)) continue;
      items.push(asListItem(this.#type, server.delete(this.#type, metadata, options).object));
    }
    const metadata = { resourceVersion: String(server.store.revision) };
    this.#exchange.json(200, { kind: this.#type.listKind, apiVersion: this.#type.apiVersion, metadata, items });
  }

  #remoteKubelet({ spec }: Stored): RemoteKubelet | undefined {
    const { server, kubeletClient: client } = this.#parts;
    const name = isRecord(spec) && typeof spec.nodeName === "string" ? spec.nodeName : "";
    if (client === undefined || name === "") return undefined;
    const node = server.store.table(server.type(NODES)).get("", name);
    const kubelet = node === undefined ? undefined : kubeletOf(node);
    return kubelet && { kubelet, client };
  }

  async #onSubresource(name: string, subresource: string): Promise<void> {
    const { method } = this.#exchange;
    const { server, logs } = this.#parts;
    const key = { namespace: this.#route.namespace, name };
    if (subresource === "log" && method === "GET") {
      const pod = await this.#run("get", () => server.get(this.#type, key));
      return serveLog(this.#exchange, pod, logs, this.#remoteKubelet(pod));
    }
    if (subresource === "finalize" && method === "PUT") {
      const body = await this.#body();
      return this.#send(200, await this.#run("update", () => server.finalize(name, body)));
    }
    if (method !== "POST") throw methodNotAllowed();
    const body = await this.#body();
    const dryRun = dryRunOf(this.#exchange.query.getAll("dryRun"), "CreateOptions");
    const act = () => (subresource === "binding" ? server.bind(key, body, dryRun) : server.evict(key, body, dryRun));
    await this.#run("create", act, { dryRun });
    this.#exchange.json(201, SUCCESS_CREATED);
  }

  async #deleteOptions() {
    const { request, query, warn } = this.#exchange;
    return { ...readDeleteOptions(await readAll(request), mediaType(request), query), warn };
  }

  #selectors() {
    const { query } = this.#exchange;
    return {
      namespace: this.#route.namespace,
      labelSelector: text(query, "labelSelector"),
      fieldSelector: text(query, "fieldSelector"),
    };
  }

  #writeOptions(kind: string): WriteOptions {
    const { query, warn } = this.#exchange;
    return {
      dryRun: dryRunOf(query.getAll("dryRun"), kind),
      fieldValidation: fieldValidationOf(query, kind),
      subresource: this.#route.subresource === "status" ? "status" : undefined,
      warn,
    };
  }

  async #body(): Promise<Record<string, unknown>> {
    return (await this.#parsed()).value;
  }

  async #parsed(): Promise<ParsedBody> {
    const { request } = this.#exchange;
    return parseObject(await readAll(request), mediaType(request), this.#type.kind);
  }

  #run<T>(verb: Verb, perform: () => T, more: Partial<Call> = {}): Promise<T> {
    const { namespace, name, subresource, plural } = this.#route;
    const call: Call = { client: this.#exchange.client, verb, resource: plural, subresource, namespace, name, ...more };
    return this.#parts.gateway.run(call, perform, { signal: this.#exchange.signal });
  }

  #send(code: number, object: Stored): void {
    this.#exchange.json(code, this.#shown(object));
  }

  #shown(object: Stored): object {
    const { view } = this.#exchange.accepted;
    if (view === "object") return object;
    if (view === "metadata") return partialMetadata(object);
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    const nowMs = this.#parts.server.clock.now();
    const include = includeObject(this.#exchange);
    return tableOf(this.#type, [object], metadata, { nowMs, include, withDefinitions: true });
  }
}

/** Deleted, or replaced by another of its name, while the collection was gone through. */
const isGone = (server: ApiServer, type: ResourceType, { namespace = "", name, uid }: Stored["metadata"]): boolean =>
  server.store.table(type).get(namespace, name)?.metadata.uid !== uid;

const DELETE_CHUNK = 500;

const SUCCESS_CREATED = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };

const deleted = (type: ResourceType, { metadata }: Stored) => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  details: {
    name: metadata.name,
    ...(type.group === "" ? {} : { group: type.group }),
    kind: type.plural,
    uid: metadata.uid,
  },
});
