import { Backoff } from "../runtime/backoff.ts";
import { type Clock, realClock, sleep } from "../runtime/clock.ts";
import type { ClusterAccess } from "./access.ts";
import type {
  CallOptions,
  DeleteOptions,
  KubeApi,
  KubeList,
  KubeObject,
  ListOptions,
  ObjectKey,
  Patch,
  Resource,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./api.ts";
import { BodyStream } from "./body-stream.ts";
import { currentCredentials } from "./credentials.ts";
import { ApiError } from "./errors.ts";
import { collectionPath, objectPath, type Query } from "./paths.ts";
import type { LogOptions, PodLogs } from "./pod-logs.ts";
import { PROTOBUF_TYPE } from "./protobuf/meta.ts";
import { pods } from "./resources.ts";
import { failureOf, isOnlyMarked, parseAnswer } from "./responses.ts";
import { type AfterFailure, canRetry } from "./retry.ts";
import { type HttpRequest, type HttpResponse, Transport } from "./transport.ts";
import { watchStream } from "./watch-stream.ts";

/** One attempt at one request, for metrics. `code` 0: no answer. */
export interface RequestObservation {
  method: HttpRequest["method"] | "WATCH";
  resource: string;
  code: number;
  durationMs: number;
}

export interface ClientOptions {
  clock?: Clock;
  random?: () => number;
  userAgent?: string;
  /** Deadline of a call with all its retries, where the call does not bring its own. */
  timeoutMs?: number;
  /** Tries after the first; 0 leaves retrying to the caller. */
  maxRetries?: number;
  connections?: { calls: number; watches: number };
  onRequest?(observation: RequestObservation): void;
}

export interface KubeClient extends KubeApi, PodLogs {
  readonly server: string;
  /** The namespace of the kubeconfig's context, or of the pod. */
  readonly namespace: string;
  /** Any path, with further headers, as its bytes come. */
  read(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Such as `v1.36.3`. */
  serverVersion(): Promise<string>;
  /** Ends watches and calls that are under way. */
  close(): Promise<void>;
}

const JSON_TYPE = "application/json";
const metadataType = (kind: string): string => `${JSON_TYPE};as=${kind};g=meta.k8s.io;v=v1`;
/** Not a resource, but counted like one. */
const VERSION: Resource = { group: "", version: "v1", plural: "version", kind: "Info", namespaced: false };
const PATCH_TYPES = {
  strategic: "application/strategic-merge-patch+json",
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** The client of one cluster. */
export const createClient = (access: ClusterAccess, options: ClientOptions = {}): KubeClient =>
  new HttpKubeClient(access, options);

class HttpKubeClient implements KubeClient {
  readonly server: string;
  readonly namespace: string;
  readonly #access: ClusterAccess;
  readonly #options: ClientOptions;
  readonly #clock: Clock;
  readonly #transport: Transport;
  readonly #jsonHeaders: Record<string, string>;
  readonly #protobufHeaders: Record<string, string>;
  #closed = false;

  constructor(access: ClusterAccess, options: ClientOptions) {
    this.server = access.server;
    this.namespace = access.namespace;
    this.#access = access;
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#transport = new Transport(access, this.#clock, options.connections ?? { calls: 64, watches: 256 });
    this.#jsonHeaders = { accept: JSON_TYPE, "user-agent": options.userAgent ?? "jobferry" };
    this.#protobufHeaders = { ...this.#jsonHeaders, accept: `${PROTOBUF_TYPE}, ${JSON_TYPE}` };
  }

  async get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options: CallOptions = {}): Promise<T> {
    return this.#call<T>(resource, { method: "GET", path: objectPath(resource, key) }, "safe", options);
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const { namespace, signal: _, timeoutMs: __, ...query } = options;
    const path = collectionPath(resource, namespace, query);
    const headers = this.#headersFor(resource, "PartialObjectMetadataList");
    const list = await this.#call<KubeList<T>>(resource, { method: "GET", path, headers }, "safe", options);
    // The server writes `items: null` for some empty lists.
    return list.items === null || list.items === undefined ? { ...list, items: [] } : list;
  }

  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>[]> {
    const { namespace, signal, ...query } = options;
    const request = { method: "GET" as const, path: collectionPath(resource, namespace, { ...query, watch: true }) };
    return watchStream<T>({
      transport: this.#transport,
      clock: this.#clock,
      request: { ...request, headers: this.#headersFor(resource) },
      resource,
      credentials: this.#access.credentials,
      openMs: this.#options.timeoutMs ?? 30_000,
      ...(options.timeoutSeconds === undefined ? {} : { lastsMs: options.timeoutSeconds * 1000 }),
      ...(signal === undefined ? {} : { signal }),
      onOpened: (code, durationMs) => this.#observe("WATCH", resource, code, durationMs),
    });
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string | undefined,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = collectionPath(resource, namespace, writeQuery(options));
    // With a fixed name a second try cannot make a second object; with generateName it can.
    const afterFailure = object.metadata.name ? "repeatable" : "once";
    return this.#call<T>(resource, withBody("POST", path, JSON_TYPE, object), afterFailure, options);
  }

  async replace<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = objectPath(resource, key, options.subresource, writeQuery(options));
    return this.#call<T>(resource, withBody("PUT", path, JSON_TYPE, object), "repeatable", options);
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const apply = patch.type === "apply" ? { fieldManager: patch.fieldManager, force: patch.force } : {};
    const path = objectPath(resource, key, options.subresource, { ...writeQuery(options), ...apply });
    // Repeating "append to this list" appends twice; the other patch types say how it should be in the end.
    const afterFailure = patch.type === "json" ? "once" : "repeatable";
    return this.#call<T>(resource, withBody("PATCH", path, PATCH_TYPES[patch.type], patch.body), afterFailure, options);
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    const { signal: _, timeoutMs: __, ...body } = options;
    const request = withBody("DELETE", objectPath(resource, key), JSON_TYPE, {
      apiVersion: "v1",
      kind: "DeleteOptions",
      ...body,
    });
    const answer = await this.#call<T>(resource, request, "repeatable", options);
    return isOnlyMarked(answer) ? answer : undefined;
  }

  async readLog(
    pod: Required<ObjectKey>,
    options: LogOptions & { readonly container: string },
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    return this.read(objectPath(pods, pod, "log", { ...options }), {}, signal);
  }

  async read(path: string, more: Record<string, string>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const credentials = await currentCredentials(this.#access.credentials);
    const headers = { ...this.#jsonHeaders, accept: "*/*", ...more, ...credentials.headers };
    const body = new BodyStream();
    const openMs = this.#options.timeoutMs ?? 30_000;
    const abort = this.#transport.stream({ method: "GET", path, headers }, credentials, openMs, body, signal);
    await body.opened;
    return body.chunks(abort);
  }

  async serverVersion(): Promise<string> {
    const request = { method: "GET" as const, path: "/version" };
    return (await this.#call<{ gitVersion: string }>(VERSION, request, "safe", {})).gitVersion;
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#transport.close();
  }

  async #call<R>(
    resource: Resource,
    request: Omit<HttpRequest, "headers"> & { headers?: Record<string, string> },
    afterFailure: AfterFailure,
    options: CallOptions,
  ): Promise<R> {
    const deadline = this.#clock.monotonic() + (options.timeoutMs ?? this.#options.timeoutMs ?? 30_000);
    const backoff = new Backoff({
      baseMs: 100,
      maxMs: 5_000,
      ...(this.#options.random && { random: this.#options.random }),
    });
    const headers = { ...this.#headersFor(resource), ...request.headers };
    let renewed = false;
    for (let tries = 0; ; tries++) {
      options.signal?.throwIfAborted();
      if (this.#closed) throw new ApiError(0, "NotSent", "the client has been closed");
      try {
        return parseAnswer<R>(
          resource,
          await this.#attempt(resource, { ...request, headers }, deadline, options.signal),
        );
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.code === 401 && !renewed) {
          renewed = true;
          this.#access.credentials.refresh();
          continue;
        }
        if (tries >= (this.#options.maxRetries ?? 4) || !canRetry(error, afterFailure)) throw error;
        const waitMs = backoff.next(error.retryAfterMs);
        if (this.#clock.monotonic() + waitMs >= deadline) throw error;
        await sleep(this.#clock, waitMs, options.signal);
      }
    }
  }

  #headersFor(resource: Resource, metadata = "PartialObjectMetadata"): Record<string, string> {
    if (resource.metadataOnly === true) return { ...this.#jsonHeaders, accept: metadataType(metadata) };
    return resource.protobuf === undefined ? this.#jsonHeaders : this.#protobufHeaders;
  }

  /** One request and its answer; rejects when the answer is not a success. */
  async #attempt(
    resource: Resource,
    request: HttpRequest,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<HttpResponse> {
    const began = this.#clock.monotonic();
    let code = 0;
    try {
      const credentials = await currentCredentials(this.#access.credentials);
      const sending = { ...request, headers: { ...request.headers, ...credentials.headers } };
      const response = await this.#transport.call(sending, credentials, Math.max(0, deadline - began), signal);
      code = response.status;
      const failure = failureOf(response);
      if (failure !== undefined) throw failure;
      return response;
    } finally {
      this.#observe(request.method, resource, code, this.#clock.monotonic() - began);
    }
  }

  #observe(method: RequestObservation["method"], resource: Resource, code: number, durationMs: number): void {
    this.#options.onRequest?.({ method, resource: resource.plural, code, durationMs });
  }
}

const withBody = (method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, type: string, body: object) => ({
  method,
  path,
  headers: { "content-type": type },
  body: JSON.stringify(body),
});

const writeQuery = (options: WriteOptions): Query => ({
  fieldManager: options.fieldManager,
  dryRun: options.dryRun === true ? "All" : undefined,
});
