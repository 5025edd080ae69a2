/** When the hub showed what of a Job's pods, and when the Job was Complete. */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { JOB_NAME_LABEL } from "@jobferry/shared/job/keys.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER } from "@jobferry/shared/protocol/marks.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";

/** By `performance.now()`. */
export interface Seen {
  /** The first shadow. */
  early?: number;
  /** A shadow that stands for a worker's pod. */
  shown?: number;
  /** A shadow whose pod has ended. */
  ended?: number;
  complete?: number;
}

export class ShadowWatch {
  readonly #stop = new AbortController();
  readonly #watches: Promise<void>[] = [];
  readonly #synced: Promise<void>[] = [];
  readonly #seen = new Map<string, Seen>();
  readonly #waiting = new Set<{ holds(): boolean; resolve(): void }>();

  constructor(api: KubeApi, namespace: string) {
    this.#watch(api, namespace, pods, (pod) => this.#sawPod(pod));
    this.#watch(api, namespace, jobs, (job) => this.#sawJob(job));
  }

  async ready(): Promise<void> {
    await Promise.all(this.#synced);
  }

  of(job: string): Seen {
    const seen = this.#seen.get(job) ?? {};
    this.#seen.set(job, seen);
    return seen;
  }

  /** Resolves when it holds; asked whenever something was seen. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ holds, resolve }));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#watches);
  }

  #watch<T extends KubeObject>(api: KubeApi, namespace: string, resource: Resource<T>, saw: (object: T) => void): void {
    const reflector = new Reflector<T>({ api, resource, clock: realClock, namespace });
    reflector.addHandler({ added: saw, updated: (_, object) => saw(object) });
    this.#watches.push(reflector.start(this.#stop.signal));
    this.#synced.push(reflector.whenSynced());
  }

  #sawPod({ metadata, status }: Pod): void {
    const now = performance.now();
    const seen = this.of(metadata.labels?.[JOB_NAME_LABEL] ?? "");
    seen.early ??= now;
    if (metadata.labels?.[CLUSTER] !== undefined) seen.shown ??= now;
    if (status?.phase === "Succeeded" || status?.phase === "Failed") seen.ended ??= now;
    this.#tell();
  }

  #sawJob(job: Job): void {
    if (!isFinished(job)) return;
    this.of(job.metadata.name ?? "").complete ??= performance.now();
    this.#tell();
  }

  #tell(): void {
    for (const each of this.#waiting)
      if (each.holds()) {
        this.#waiting.delete(each);
        each.resolve();
      }
  }
}
