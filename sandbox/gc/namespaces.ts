import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { namespaces } from "@jobferry/shared/kube/resources.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { ResourceType } from "../api/types.ts";
import type { ApiServer } from "../api-server.ts";
import type { Stored } from "../store/frozen.ts";
import { WorkList } from "./work.ts";

/** Empties namespaces that are being deleted, then lets them go. */
export class NamespaceController {
  readonly #api: KubeApi;
  readonly #server: ApiServer;
  readonly #work: WorkList;
  #unsubscribe: (() => void) | undefined;

  constructor(options: { api: KubeApi; server: ApiServer; clock: Clock }) {
    this.#api = options.api;
    this.#server = options.server;
    this.#work = new WorkList(options.clock, (name) => this.#empty(name));
  }

  start(): void {
    this.#unsubscribe = this.#server.store.onChange(({ object }, _, deleted) => this.#notice(object, deleted));
    for (const object of this.#server.store.table(this.#server.type(namespaces)).values()) this.#notice(object, false);
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#work.stop();
  }

  #notice(object: Stored, deleted: boolean): void {
    const { name, namespace, deletionTimestamp } = object.metadata;
    // Nothing new comes into a namespace that is going: after the first pass only its end matters.
    if (namespace !== undefined) {
      if (deleted && this.#isTerminating(namespace) && this.#isEmpty(namespace)) this.#work.add(namespace);
    } else if (object.kind === "Namespace" && !deleted && deletionTimestamp !== undefined) this.#work.add(name);
  }

  #isTerminating(name: string): boolean {
    const table = this.#server.store.table(this.#server.type(namespaces));
    return table.get("", name)?.metadata.deletionTimestamp !== undefined;
  }

  #isEmpty(namespace: string): boolean {
    for (const table of this.#server.store.tables()) if (table.sizeOf(namespace) > 0) return false;
    return true;
  }

  async #empty(name: string): Promise<void> {
    if (!this.#isTerminating(name)) return;
    let left = false;
    for (const type of this.#server.registry.namespaced())
      for (const object of this.#server.store.table(type).sorted(name))
        left = (await this.#remove(type, object)) || left;
    if (!left) this.#server.finalizeNamespace(name);
  }

  /** True while the object is still there, waiting for its grace period or a finalizer. */
  async #remove(type: ResourceType, object: Stored): Promise<boolean> {
    const { name, namespace = "", deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined) return true;
    try {
      const options = { propagationPolicy: "Background" } as const;
      return (await this.#api.delete(type, { namespace, name }, options)) !== undefined;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
}
