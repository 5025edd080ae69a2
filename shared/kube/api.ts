/**
 * The port through which every controller talks to a Kubernetes API server. `shared/kube/client.ts` implements it over
 * HTTPS, the sandbox implements it in process; code above the port cannot tell them apart.
 *
 * Objects are plain JSON exactly as the server sent them (times are RFC 3339 strings, unknown fields are kept; of a resource with
 * `protobuf` only the fields it names) and may be shared with a cache: treat them as immutable and copy before changing.
 */
import type { ObjectMeta } from "../job/types.ts";
import type { Fields } from "./protobuf/message.ts";

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

/** A served resource type; `T` is the shape of its objects. */
export interface Resource<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** The fields that are read when the server speaks protobuf, which it is then asked to; all others are lost. */
  readonly protobuf?: Fields;
  /** Reads bring nothing but metadata, which is all that the server then sends. The sandbox in this process sends everything. */
  readonly metadataOnly?: true;
  /** Never set: only carries `T`. */
  readonly shape?: T;
}

export interface ObjectKey {
  /** Absent for cluster-scoped resources. */
  namespace?: string;
  name: string;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Deadline of this call; the client has a default. */
  timeoutMs?: number;
}

export interface ListOptions extends CallOptions {
  /** Absent: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: "Exact" | "NotOlderThan";
}

export interface KubeList<T extends KubeObject> {
  apiVersion?: string;
  kind?: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: T[];
}

export interface WatchOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion: string;
  allowWatchBookmarks?: boolean;
  timeoutSeconds?: number;
  signal?: AbortSignal;
}

export type WatchEvent<T extends KubeObject> =
  | { type: "ADDED" | "MODIFIED" | "DELETED"; object: T }
  | { type: "BOOKMARK"; object: { metadata: { resourceVersion: string } } }
  | { type: "ERROR"; object: KubeStatus };

/** `metav1.Status`, what the server answers when a call fails. */
export interface KubeStatus {
  kind: "Status";
  apiVersion: "v1";
  metadata: Record<string, unknown>;
  status: "Success" | "Failure";
  message?: string;
  reason?: string;
  code?: number;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    retryAfterSeconds?: number;
    causes?: { reason?: string; message?: string; field?: string }[];
  };
}

export type Patch =
  | { type: "strategic" | "merge"; body: object }
  | { type: "json"; body: readonly object[] }
  | { type: "apply"; body: object; fieldManager: string; force?: boolean };

export interface WriteOptions extends CallOptions {
  subresource?: "status";
  fieldManager?: string;
  dryRun?: boolean;
}

export interface DeleteOptions extends CallOptions {
  propagationPolicy?: "Orphan" | "Background" | "Foreground";
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
}

/** Every method rejects with `ApiError` (errors.ts) and with nothing else, except an abort through `signal`. */
export interface KubeApi {
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /**
   * Yields events in the batches they arrive in. Ends normally when the server closes the stream; an expired
   * resourceVersion arrives either as a rejected first step (ApiError 410) or as an `ERROR` event with code 410.
   */
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>[]>;
  create<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string | undefined,
    object: T,
    options?: WriteOptions,
  ): Promise<T>;
  /** PUT. With `metadata.resourceVersion` set, optimistic locking applies. */
  replace<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Resolves to the object when it is only marked for deletion, to undefined when it is gone. */
  delete<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | undefined>;
}
