/**
 * Deletes what its owners left behind, and carries out the propagation policy that a DELETE wrote down as a finalizer:
 * `orphan` takes the owner reference off every dependent, `foregroundDeletion` keeps the owner until its blocking dependents are gone.
 */
import { FOREGROUND_DELETION_FINALIZER, ORPHAN_FINALIZER } from "@jobferry/shared/job/keys.ts";
import type { OwnerReference } from "@jobferry/shared/job/types.ts";
import type { DeleteOptions, KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Registry } from "../api/registry.ts";
import type { ResourceType } from "../api/types.ts";
import type { Stored } from "../store/frozen.ts";
import type { Located, Store } from "../store/store.ts";
import { WorkList } from "./work.ts";

type OwnerState = "solid" | "absent" | "deleting" | "unknown";

export class GarbageCollector {
  readonly #api: KubeApi;
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #work: WorkList;
  /** Owners in foreground deletion whose dependents were all told to go: from then on there is only waiting. */
  readonly #draining = new Set<string>();
  #unsubscribe: (() => void) | undefined;

  constructor(options: { api: KubeApi; store: Store; registry: Registry; clock: Clock }) {
    this.#api = options.api;
    this.#store = options.store;
    this.#registry = options.registry;
    this.#work = new WorkList(options.clock, (uid) => this.#attend(uid));
  }

  start(): void {
    this.#unsubscribe = this.#store.onChange((located, previous, deleted) => this.#notice(located, previous, deleted));
    for (const table of this.#store.tables())
      for (const object of table.values()) this.#notice({ table, object }, undefined, false);
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#work.stop();
  }

  #notice({ object }: Located, previous: Stored | undefined, deleted: boolean): void {
    const { uid, ownerReferences } = object.metadata;
    if (deleted) this.#draining.delete(uid);
    if (deleted && this.#store.hasDependents(uid))
      for (const dependent of this.#store.dependentsOf(uid)) this.#work.add(dependent.object.metadata.uid);
    if (!deleted && policyOf(object) !== undefined) this.#work.add(uid);
    if (ownerReferences === undefined && previous?.metadata.ownerReferences === undefined) return;
    // A dependent that went, or stopped blocking, may have been the last its owner waited for.
    for (const { uid: owner } of [...(ownerReferences ?? []), ...(previous?.metadata.ownerReferences ?? [])]) {
      const located = this.#store.byUid(owner);
      if (located !== undefined && policyOf(located.object) === "Foreground") this.#work.add(owner);
    }
    const changedOwners = previous?.metadata.ownerReferences !== ownerReferences;
    if (!deleted && changedOwners && ownerReferences?.some((owner) => this.#stateOf(owner, object) !== "solid"))
      this.#work.add(uid);
  }

  async #attend(uid: string): Promise<void> {
    const located = this.#store.byUid(uid);
    if (located === undefined) return;
    const policy = policyOf(located.object);
    if (policy === "Orphan") await this.#orphanDependents(located);
    else if (policy === "Foreground") await this.#deleteDependents(located);
    if (located.object.metadata.ownerReferences !== undefined) await this.#collect(uid);
  }

  /** Deletes an object none of whose owners is there any more; otherwise drops the references that dangle. */
  async #collect(uid: string): Promise<void> {
    const located = this.#store.byUid(uid);
    if (located === undefined) return;
    const { object } = located;
    if (object.metadata.deletionTimestamp !== undefined && policyOf(object) === undefined) return;
    const owners = object.metadata.ownerReferences ?? [];
    const states = owners.map((owner) => this.#stateOf(owner, object));
    if (owners.length === 0 || states.includes("unknown") || states.every((state) => state === "solid")) return;
    if (states.includes("solid"))
      return this.#setOwners(
        located,
        owners.filter((_, index) => states[index] === "solid"),
      );
    if (object.metadata.deletionTimestamp !== undefined) return;
    const propagationPolicy =
      states.includes("deleting") && this.#store.hasDependents(uid) ? "Foreground" : (policyOf(object) ?? "Background");
    await this.#delete(located, { propagationPolicy, preconditions: { uid } });
  }

  async #orphanDependents(owner: Located): Promise<void> {
    const { uid } = owner.object.metadata;
    for (const dependent of this.#store.dependentsOf(uid)) {
      const current = this.#store.byUid(dependent.object.metadata.uid);
      const owners = current?.object.metadata.ownerReferences ?? [];
      if (current !== undefined)
        await this.#setOwners(
          current,
          owners.filter((reference) => reference.uid !== uid),
        );
    }
    await this.#removeFinalizer(uid, ORPHAN_FINALIZER);
  }

  async #deleteDependents(owner: Located): Promise<void> {
    const { uid } = owner.object.metadata;
    if (!this.#draining.has(uid)) {
      for (const dependent of this.#store.dependentsOf(uid)) await this.#collect(dependent.object.metadata.uid);
      this.#draining.add(uid);
    }
    if (this.#store.someDependent(uid, (dependent) => blocks(dependent, uid))) return;
    await this.#removeFinalizer(uid, FOREGROUND_DELETION_FINALIZER);
  }

  #stateOf(owner: OwnerReference, dependent: Stored): OwnerState {
    if (this.#registry.findKind(owner.apiVersion, owner.kind) === undefined) return "unknown";
    const found = this.#store.byUid(owner.uid)?.object;
    const { name, namespace } = found?.metadata ?? {};
    const reachable = namespace === undefined || namespace === dependent.metadata.namespace;
    if (found === undefined || !reachable || found.kind !== owner.kind || name !== owner.name) return "absent";
    return policyOf(found) === "Foreground" ? "deleting" : "solid";
  }

  async #setOwners(dependent: Located, ownerReferences: OwnerReference[]): Promise<void> {
    const body = { metadata: { uid: dependent.object.metadata.uid, ownerReferences: orNull(ownerReferences) } };
    await this.#patch(dependent, body);
  }

  async #removeFinalizer(uid: string, finalizer: string): Promise<void> {
    const current = this.#store.byUid(uid);
    if (current === undefined) return;
    const { finalizers = [], resourceVersion } = current.object.metadata;
    if (!finalizers.includes(finalizer)) return;
    const rest = finalizers.filter((name) => name !== finalizer);
    await this.#patch(current, { metadata: { resourceVersion, finalizers: orNull(rest) } });
  }

  async #patch(located: Located, body: object): Promise<void> {
    try {
      await this.#api.patch(this.#typeOf(located), keyOf(located.object), { type: "merge", body });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #delete(located: Located, options: DeleteOptions): Promise<void> {
    try {
      await this.#api.delete(this.#typeOf(located), keyOf(located.object), options);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #typeOf({ table }: Located): ResourceType {
    const type = this.#registry.findKind(table.apiVersion, table.kind);
    if (type === undefined) throw new Error(`${table.kind} is stored but not served`);
    return type;
  }
}

/** The policy that a deletion under way has to carry out before the object may go. */
function policyOf({ metadata }: Stored): "Orphan" | "Foreground" | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (metadata.finalizers?.includes(ORPHAN_FINALIZER)) return "Orphan";
  return metadata.finalizers?.includes(FOREGROUND_DELETION_FINALIZER) ? "Foreground" : undefined;
}

const blocks = (dependent: Stored, ownerUid: string): boolean =>
  dependent.metadata.ownerReferences?.some((owner) => owner.uid === ownerUid && owner.blockOwnerDeletion === true) ??
  false;

const orNull = <T>(list: T[]): T[] | null => (list.length === 0 ? null : list);

const keyOf = ({ metadata }: Stored): { name: string; namespace?: string } =>
  metadata.namespace === undefined ? { name: metadata.name } : { name: metadata.name, namespace: metadata.namespace };
