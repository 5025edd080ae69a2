import type { Patch } from "@jobferry/shared/kube/api.ts";
import { namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { admitNew } from "./admission/policies.ts";
import { bindingType, policyType } from "./admission/policy-types.ts";
import { Applier } from "./api/apply.ts";
import { bindPod, evictPod } from "./api/connect.ts";
import { type Core, getOrFail, type Key, namespaceOf } from "./api/core.ts";
import { unknownResource } from "./api/errors.ts";
import { Lister, type ListRequest, type ListResult } from "./api/list.ts";
import { patchObject } from "./api/patch.ts";
import { Registry } from "./api/registry.ts";
import { type Removal, type RemoveOptions, removeObject } from "./api/remove.ts";
import type { Draft, ResourceType } from "./api/types.ts";
import { openWatch, type WatchRequest } from "./api/watch.ts";
import { commit, createObject, hasSpecFinalizers, updateObject, type WriteOptions } from "./api/write.ts";
import { definitionType, followDefinitions } from "./crd/definitions.ts";
import { builtInTypes } from "./kinds/built-in.ts";
import { columnsFor } from "./kinds/columns.ts";
import type { Random } from "./random.ts";
import type { Stored } from "./store/frozen.ts";
import { Interner } from "./store/intern.ts";
import { Store } from "./store/store.ts";
import type { StoreLimits } from "./store/table.ts";
import type { Watcher } from "./store/watcher.ts";

const BOOKMARK_INTERVAL_MS = 60_000;

export interface Written {
  readonly object: Stored;
  readonly created: boolean;
}

/** The verbs of the API, each at one instant of time: answers are returned, refusals thrown as ApiError. */
export class ApiServer implements Core {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly interner = new Interner();
  readonly #lister: Lister;
  readonly #applier: Applier;
  #cancelBookmarks: (() => void) | undefined;

  constructor(options: { clock: Clock; random: Random; limits?: Partial<StoreLimits> | undefined }) {
    this.clock = options.clock;
    this.random = options.random;
    this.store = new Store(options.limits);
    this.registry = new Registry([...builtInTypes(columnsFor), definitionType, policyType, bindingType]);
    this.#lister = new Lister(this);
    this.#applier = new Applier(this);
    followDefinitions(this);
  }

  type(resource: { group: string; version: string; plural: string }): ResourceType {
    const type = this.registry.find(resource.group, resource.version, resource.plural);
    if (type === undefined) throw unknownResource();
    return type;
  }

  admitNew(type: ResourceType, draft: Draft): Draft {
    return admitNew(this, type, draft);
  }

  get(type: ResourceType, key: Key): Stored {
    return getOrFail(this, type, key);
  }

  list(type: ResourceType, request: ListRequest): ListResult {
    return this.#lister.list(type, request);
  }

  watch(type: ResourceType, request: WatchRequest): Watcher {
    const watcher = openWatch(this, type, request);
    if (request.allowWatchBookmarks === true) this.#keepBookmarking();
    return watcher;
  }

  create(type: ResourceType, namespace: string | undefined, body: unknown, options?: WriteOptions): Stored {
    return createObject(this, type, namespace, body, options);
  }

  replace(type: ResourceType, key: Key, body: unknown, options?: WriteOptions): Stored {
    return this.put(type, key, body, options).object;
  }

  /** PUT: for a few types it also creates. */
  put(type: ResourceType, key: Key, body: unknown, options?: WriteOptions): Written {
    const exists = this.store.table(type).get(namespaceOf(type, key.namespace), key.name) !== undefined;
    if (!exists && type.strategy.createOnUpdate === true && options?.subresource === undefined)
      return { object: createObject(this, type, key.namespace, body, options), created: true };
    return { object: updateObject(this, type, key, () => body, options), created: false };
  }

  patch(type: ResourceType, key: Key, patch: Patch, options?: WriteOptions): Stored {
    return this.apply(type, key, patch, options).object;
  }

  /** PATCH: server-side apply also creates. */
  apply(type: ResourceType, key: Key, patch: Patch, options?: WriteOptions): Written {
    if (patch.type === "apply") return this.#applier.apply(type, key, patch, options);
    return { object: patchObject(this, type, key, patch, options), created: false };
  }

  delete(type: ResourceType, key: Key, options?: RemoveOptions): Removal {
    return removeObject(this, type, key, options);
  }

  bind(key: Key, body: unknown, dryRun?: boolean): void {
    bindPod(this, this.type(pods), key, body, dryRun);
  }

  evict(key: Key, body: unknown, dryRun?: boolean): void {
    evictPod(this, this.type(pods), key, body, dryRun);
  }

  /** Takes the finalizer off the spec of a namespace that is empty; without others the namespace goes. */
  finalizeNamespace(name: string): void {
    const type = this.type(namespaces);
    const object = this.store.table(type).get("", name);
    if (object?.metadata.deletionTimestamp === undefined) return;
    if ((object.metadata.finalizers?.length ?? 0) === 0) this.store.remove(this.store.table(type), object);
    else commit(this, type, { ...object, spec: {} }, false);
  }

  /** PUT namespaces/NAME/finalize: the only way to change the finalizers in the spec. */
  finalize(name: string, body: Record<string, unknown>): Stored {
    const type = this.type(namespaces);
    const object = getOrFail(this, type, { name });
    if (!hasSpecFinalizers(body)) this.finalizeNamespace(name);
    return object;
  }

  compact(): void {
    this.store.compact();
    this.#lister.compact();
  }

  close(): void {
    this.#cancelBookmarks?.();
    this.#cancelBookmarks = undefined;
    this.store.closeWatches();
  }

  #keepBookmarking(): void {
    this.#cancelBookmarks ??= this.clock.after(BOOKMARK_INTERVAL_MS, () => {
      this.#cancelBookmarks = undefined;
      if (this.store.sendBookmarks()) this.#keepBookmarking();
    });
  }
}
