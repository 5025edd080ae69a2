import { hasTrackingFinalizer } from "@jobferry/shared/job/pods.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";

/** Every condition the Jobs of a namespace ever showed, every pod that ever was there, and when anything last moved. */
export interface Trace {
  lastChange: number;
  conditions: { type: string; status: string; reason?: string; message?: string }[];
  podUids: Set<string>;
  /** AD-3: owner and finalizer go in one write. Seen otherwise, somebody else cleaned up behind the controller (CL-12). */
  halfReleased: Set<string>;
}

/** Watches the Jobs and pods of all namespaces: one pair of watches, however many cases are played. */
export class Observer {
  readonly #jobs: Reflector<Job>;
  readonly #pods: Reflector<Pod>;
  readonly #traces = new Map<string, Trace>();

  constructor(api: KubeApi) {
    const namespace = (object: KubeObject): string[] => [object.metadata.namespace ?? ""];
    this.#jobs = new Reflector({ api, resource: jobs, clock: realClock, indexers: { namespace } });
    this.#pods = new Reflector({ api, resource: pods, clock: realClock, indexers: { namespace } });
    this.#jobs.addHandler({
      added: (job) => this.#sawConditions(undefined, job),
      updated: (before, after) => this.#sawConditions(before, after),
      deleted: (job) => this.#touch(job),
    });
    this.#pods.addHandler({
      added: (pod) => this.#sawPod(undefined, pod),
      updated: (before, after) => this.#sawPod(before, after),
      deleted: (pod) => this.#touch(pod),
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    for (const reflector of [this.#jobs, this.#pods]) void reflector.start(signal);
    await Promise.all([this.#jobs.whenSynced(), this.#pods.whenSynced()]);
  }

  job(namespace: string): Job | undefined {
    return this.#jobs.byIndex("namespace", namespace)[0];
  }

  pods(namespace: string): Pod[] {
    return this.#pods.byIndex("namespace", namespace);
  }

  trace(namespace: string): Trace {
    let trace = this.#traces.get(namespace);
    if (trace === undefined) {
      trace = { lastChange: performance.now(), conditions: [], podUids: new Set(), halfReleased: new Set() };
      this.#traces.set(namespace, trace);
    }
    return trace;
  }

  #touch(object: KubeObject): Trace {
    const trace = this.trace(object.metadata.namespace ?? "");
    trace.lastChange = performance.now();
    return trace;
  }

  #sawConditions(before: Job | undefined, after: Job): void {
    const trace = this.#touch(after);
    const known = new Set((before?.status?.conditions ?? []).map((condition) => JSON.stringify(condition)));
    for (const condition of after.status?.conditions ?? []) {
      if (!known.has(JSON.stringify(condition))) trace.conditions.push(condition);
    }
  }

  #sawPod(before: Pod | undefined, after: Pod): void {
    const trace = this.#touch(after);
    trace.podUids.add(after.metadata.uid ?? "");
    const lostOwner = (before?.metadata.ownerReferences?.length ?? 0) > 0 && !after.metadata.ownerReferences?.length;
    if (lostOwner && hasTrackingFinalizer(after)) trace.halfReleased.add(after.metadata.name ?? "");
  }
}
