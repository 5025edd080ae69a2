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
} from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { sleep } from "@jobferry/shared/runtime/clock.ts";
import type { ListRequest, ListResult } from "./api/list.ts";
import type { ResourceType } from "./api/types.ts";
import type { WatchRequest } from "./api/watch.ts";
import type { ApiServer } from "./api-server.ts";
import type { Call, Faults, Verb } from "./faults.ts";
import type { Gateway } from "./gateway.ts";
import type { Stored } from "./store/frozen.ts";
import type { Watcher } from "./store/watcher.ts";

/**
 * The API in process: no HTTP, no JSON, only promises and the clock. Objects are handed over as they are stored, deeply frozen.
 * The name says which client calls, so that faults can aim at one.
 */
export class LocalClient implements KubeApi {
  readonly #client: string;
  readonly #server: ApiServer;
  readonly #gateway: Gateway;
  readonly #faults: Faults;

  constructor(client: string, parts: { server: ApiServer; gateway: Gateway; faults: Faults }) {
    this.#client = client;
    this.#server = parts.server;
    this.#gateway = parts.gateway;
    this.#faults = parts.faults;
  }

  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: CallOptions): Promise<T> {
    const call = this.#call("get", resource, key);
    return this.#gateway.run(call, () => shaped<T>(this.#server.get(this.#server.type(resource), key)), options);
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const { type, items, ...metadata } = await this.listAs(resource, options, options);
    return { apiVersion: type.apiVersion, kind: type.listKind, metadata, items: items.map(shaped<T>) };
  }

  /** A list with everything a query may say. */
  listAs(
    resource: Resource,
    request: ListRequest,
    options: CallOptions,
  ): Promise<ListResult & { readonly type: ResourceType }> {
    const call = this.#call("list", resource, { namespace: request.namespace });
    const perform = () => {
      const type = this.#server.type(resource);
      const stale = this.#faults.staleRevision(call);
      return { type, ...this.#server.list(type, stale === undefined ? request : asOf(request, stale)) };
    };
    return this.#gateway.run(call, perform, options);
  }

  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>[]> {
    return this.watchAs(resource, options, options.signal) as AsyncIterable<WatchEvent<KubeObject>[]> as AsyncIterable<
      WatchEvent<T>[]
    >;
  }

  /** A watch with everything a query may say; `onOpen` is called when it stands. */
  async *watchAs(
    resource: Resource,
    request: WatchRequest,
    signal: AbortSignal | undefined,
    onOpen?: () => void,
  ): AsyncGenerator<WatchEvent<Stored>[]> {
    const call = this.#call("watch", resource, { namespace: request.namespace });
    const open = (): Watcher => this.#server.watch(this.#server.type(resource), request);
    const watcher = await this.#gateway.run(call, open, signal === undefined ? {} : { signal });
    const onAbort = (): void => watcher.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      onOpen?.();
      for await (const batch of watcher) {
        if (!this.#faults.disturbsWatches) yield batch;
        else yield* this.#disturbed(call, batch, watcher, signal);
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      watcher.close();
    }
  }

  create<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string | undefined,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const name = object.metadata.name;
    if (resource.group === "" && resource.plural === "bindings") return this.#bind(namespace, object, options);
    const call = this.#call("create", resource, { namespace, name }, options);
    const perform = (): T =>
      shaped(this.#server.create(this.#server.type(resource), namespace, object, writing(options)));
    return this.#gateway.run(call, perform, options);
  }

  replace<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const call = this.#call("update", resource, key, options);
    const perform = (): T =>
      shaped(this.#server.replace(statusChecked(this.#server.type(resource), options), key, object, writing(options)));
    return this.#gateway.run(call, perform, options);
  }

  patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const call = this.#call("patch", resource, key, options);
    const perform = (): T =>
      shaped(this.#server.patch(statusChecked(this.#server.type(resource), options), key, patch, writing(options)));
    return this.#gateway.run(call, perform, options);
  }

  delete<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    const call = this.#call("delete", resource, key);
    const perform = (): T | undefined => {
      const { gone, object } = this.#server.delete(this.#server.type(resource), key, options);
      return gone ? undefined : shaped<T>(object);
    };
    return this.#gateway.run(call, perform, options);
  }

  /** `bindings` is the resource through which a scheduler without subresource calls assigns a pod. */
  #bind<T extends KubeObject>(namespace: string | undefined, binding: T, options: WriteOptions): Promise<T> {
    const name = binding.metadata.name ?? "";
    const pods = { plural: "pods" };
    const call = { ...this.#call("create", pods, { namespace, name }, options), subresource: "binding" };
    const perform = (): T => {
      this.#server.bind({ namespace, name }, binding, options.dryRun);
      return binding;
    };
    return this.#gateway.run(call, perform, options);
  }

  #call(
    verb: Verb,
    resource: { plural: string },
    key: { namespace?: string | undefined; name?: string | undefined },
    options: WriteOptions = {},
  ): Call {
    return {
      client: this.#client,
      verb,
      resource: resource.plural,
      subresource: options.subresource,
      namespace: key.namespace,
      name: key.name,
      dryRun: options.dryRun,
    };
  }

  async *#disturbed(
    call: Call,
    batch: WatchEvent<Stored>[],
    watcher: Watcher,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<WatchEvent<Stored>[]> {
    let passed: WatchEvent<Stored>[] = [];
    for (const event of batch) {
      let copies = 1;
      for (const fault of this.#faults.effectsOn(call, event)) {
        if (fault.effect === "dropEvent") copies = 0;
        else if (fault.effect === "duplicateEvent") copies++;
        else {
          if (passed.length > 0) yield passed;
          passed = [];
          if (fault.effect === "cut") return void (await watcher.return());
          await sleep(this.#server.clock, fault.ms, signal);
        }
      }
      for (let i = 0; i < copies; i++) passed.push(event);
    }
    if (passed.length > 0) yield passed;
  }
}

/** Objects leave with the type the caller asked for; the resource definition vouches for it. */
const shaped = <T extends KubeObject>(object: Stored): T => object as unknown as T;

const writing = (options: WriteOptions) => ({ subresource: options.subresource, dryRun: options.dryRun });

function asOf(request: ListRequest, revision: number): ListRequest {
  if (request.continue !== undefined) return request;
  return { ...request, resourceVersion: String(revision), resourceVersionMatch: "Exact" };
}

function statusChecked(type: ResourceType, options: WriteOptions): ResourceType {
  if (options.subresource === "status" && !type.hasStatus)
    throw new ApiError(404, "NotFound", "the server could not find the requested resource");
  return type;
}
