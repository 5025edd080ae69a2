/** What was seen of Jobs and pods, from outside and undisturbed. */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { completionIndex } from "@jobferry/shared/job/pods.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import type { FleetNamespace } from "../../e2e/dispatch/fleet-namespace.ts";
import type { SeenPod } from "./outcome.ts";

export class Watch {
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>[] = [];
  /** By the name of their Job, then by UID. */
  readonly #pods = new Map<string, Map<string, SeenPod>>();
  readonly #jobs = new Map<string, Job>();
  /** Of unfinished Jobs: how long after the last fault each first changed. */
  readonly #moved = new Map<string, number>();
  #calmAt: number | undefined;

  async start({ fleet, name, mapped }: FleetNamespace): Promise<this> {
    const sawPod = (pod: Pod): void => this.#sawPod(pod);
    for (const { api } of fleet.workers.values()) {
      const reflector = new Reflector({ api, clock: realClock, resource: pods, namespace: mapped });
      reflector.addHandler({ added: sawPod, updated: (_, pod) => sawPod(pod) });
      await this.#follow(reflector);
    }
    const reflector = new Reflector({
      api: fleet.hub.api as KubeApi,
      clock: realClock,
      resource: jobs,
      namespace: name,
    });
    reflector.addHandler({
      added: (job) => this.#sawJob(job),
      updated: (_, job) => this.#sawJob(job),
      deleted: (job) => this.#jobGone(job),
    });
    await this.#follow(reflector);
    return this;
  }

  /** All faults are over. */
  calm(): void {
    this.#calmAt = performance.now();
  }

  job(name: string): Job | undefined {
    return this.#jobs.get(name);
  }

  pods(job: string): SeenPod[] {
    return [...(this.#pods.get(job)?.values() ?? [])];
  }

  /** Jobs that are neither finished nor gone. */
  unfinished(): string[] {
    return [...this.#jobs].filter(([, job]) => !isFinished(job)).map(([name]) => name);
  }

  /** Milliseconds, sorted. */
  movedAfter(): number[] {
    return [...this.#moved.values()].sort((one, other) => one - other);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#watching);
  }

  async #follow<T extends Job | Pod>(reflector: Reflector<T>): Promise<void> {
    this.#watching.push(reflector.start(this.#stop.signal));
    await reflector.whenSynced();
  }

  #sawPod(pod: Pod): void {
    const job = pod.metadata.labels?.["job-name"] ?? "";
    const seen = this.#pods.get(job) ?? new Map<string, SeenPod>();
    this.#pods.set(job, seen);
    seen.set(pod.metadata.uid ?? "", { index: completionIndex(pod), phase: pod.status?.phase ?? "" });
  }

  #sawJob(job: Job): void {
    const name = job.metadata.name ?? "";
    const before = this.#jobs.get(name);
    this.#jobs.set(name, job);
    if (before !== undefined && !isFinished(before)) this.#moves(name);
  }

  #jobGone({ metadata: { name = "" } }: Job): void {
    this.#jobs.delete(name);
    this.#moves(name);
  }

  #moves(name: string): void {
    if (this.#calmAt !== undefined && !this.#moved.has(name))
      this.#moved.set(name, Math.round(performance.now() - this.#calmAt));
  }
}
