/** When the first pod of each Job was seen. */
import { JOB_NAME_LABEL } from "@jobferry/shared/job/keys.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { NAMESPACE } from "./work.ts";

export class PodWatch {
  readonly #stop = new AbortController();
  readonly #watches: Promise<void>[] = [];
  readonly #synced: Promise<void>[] = [];
  readonly #seen = new Map<string, number>();

  constructor(apis: readonly KubeApi[]) {
    for (const api of apis) {
      const reflector = new Reflector<Pod>({ api, resource: pods, clock: realClock, namespace: NAMESPACE });
      reflector.addHandler({ added: (pod) => this.#added(pod) });
      this.#watches.push(reflector.start(this.#stop.signal));
      this.#synced.push(reflector.whenSynced());
    }
  }

  async ready(): Promise<void> {
    await Promise.all(this.#synced);
  }

  /** By `performance.now()`. */
  seenAt(job: string): number {
    return this.#seen.get(job) ?? Number.NaN;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#watches);
  }

  #added(pod: Pod): void {
    const job = pod.metadata.labels?.[JOB_NAME_LABEL] ?? "";
    if (!this.#seen.has(job)) this.#seen.set(job, performance.now());
  }
}
