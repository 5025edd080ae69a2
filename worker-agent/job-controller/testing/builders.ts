/** Fluent builders for tests: `aJob().indexed(5).build()`, `aPod(job).index(3).failed({ exitCode: 7 }).build()`. */
import { COMPLETION_INDEX, CONTROLLER_UID_LABEL, TRACKING_FINALIZER } from "@jobferry/shared/job/keys.ts";
import type { Job, JobSpec, JobStatus, Pod, PodPhase, PodStatus } from "@jobferry/shared/job/types.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import { ownerReference } from "../core/claim.ts";
import { factsOf } from "../core/classify.ts";
import type { PodFacts } from "../core/types.ts";

export const NOW = Date.UTC(2026, 0, 1, 12);
/** `seconds` after NOW, as the API server writes it. */
export const at = (seconds: number): string => timestamp(NOW + seconds * 1000);

export class JobBuilder {
  #job: Job;

  constructor(name: string) {
    const labels = { [CONTROLLER_UID_LABEL]: `uid-${name}` };
    this.#job = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name, namespace: "ns", uid: `uid-${name}`, resourceVersion: "1", generation: 1 },
      spec: {
        parallelism: 1,
        completions: 1,
        backoffLimit: 6,
        completionMode: "NonIndexed",
        suspend: false,
        podReplacementPolicy: "TerminatingOrFailed",
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "main" }], restartPolicy: "Never" } },
      },
    };
  }

  spec(changes: Partial<JobSpec>): this {
    this.#job = { ...this.#job, spec: { ...this.#job.spec, ...changes } };
    return this;
  }

  indexed(completions: number, parallelism = completions): this {
    return this.spec({ completionMode: "Indexed", completions, parallelism });
  }

  /** A Job without completions. */
  workQueue(parallelism: number): this {
    const { completions: _, ...spec } = this.#job.spec;
    this.#job = { ...this.#job, spec: { ...spec, parallelism } };
    return this;
  }

  restartPolicy(restartPolicy: "Never" | "OnFailure"): this {
    const { template } = this.#job.spec;
    return this.spec({ template: { ...template, spec: { ...template.spec, restartPolicy } } });
  }

  status(status: JobStatus): this {
    this.#job = { ...this.#job, status: { ...this.#job.status, ...status } };
    return this;
  }

  annotations(annotations: Record<string, string>): this {
    this.#job = { ...this.#job, metadata: { ...this.#job.metadata, annotations } };
    return this;
  }

  deleting(): this {
    this.#job = { ...this.#job, metadata: { ...this.#job.metadata, deletionTimestamp: at(0) } };
    return this;
  }

  build(): Job {
    return this.#job;
  }
}

export const aJob = (name = "job"): JobBuilder => new JobBuilder(name);

let serial = 0;

export class PodBuilder {
  readonly #job: Job;
  #pod: Pod;

  constructor(job: Job, name: string) {
    this.#job = job;
    this.#pod = {
      metadata: {
        name,
        namespace: job.metadata.namespace ?? "",
        uid: `uid-${name}`,
        labels: { ...job.spec.template.metadata?.labels },
        finalizers: [TRACKING_FINALIZER],
        ownerReferences: [ownerReference(job)],
        creationTimestamp: at(-100),
      },
      spec: { containers: [{ name: "main" }] },
      status: { phase: "Pending" },
    };
  }

  metadata(changes: Partial<Pod["metadata"]>): this {
    this.#pod = { ...this.#pod, metadata: { ...this.#pod.metadata, ...changes } };
    return this;
  }

  status(changes: Partial<PodStatus>): this {
    this.#pod = { ...this.#pod, status: { ...this.#pod.status, ...changes } };
    return this;
  }

  node(nodeName: string): this {
    this.#pod = { ...this.#pod, spec: { ...this.#pod.spec, nodeName } };
    return this;
  }

  phase(phase: PodPhase): this {
    return this.status({ phase });
  }

  ready(sinceSeconds = -10): this {
    const condition = { type: "Ready", status: "True" as const, lastTransitionTime: at(sinceSeconds) };
    return this.status({ phase: "Running", conditions: [condition] });
  }

  restarts(restartCount: number): this {
    return this.status({ containerStatuses: [{ name: "main", restartCount }] });
  }

  succeeded(finishedSeconds = -1): this {
    return this.#finished("Succeeded", 0, finishedSeconds);
  }

  failed({ exitCode = 1, finished = -1 }: { exitCode?: number; finished?: number } = {}): this {
    return this.#finished("Failed", exitCode, finished);
  }

  index(index: number | string): this {
    return this.annotations({ [COMPLETION_INDEX]: String(index) });
  }

  annotations(annotations: Record<string, string>): this {
    return this.metadata({ annotations: { ...this.#pod.metadata.annotations, ...annotations } });
  }

  deleting(seconds = -5): this {
    return this.metadata({ deletionTimestamp: at(seconds), deletionGracePeriodSeconds: 0 });
  }

  untracked(): this {
    return this.metadata({ finalizers: [] });
  }

  build(): Pod {
    return this.#pod;
  }

  facts(awaited: ReadonlySet<string> = new Set()): PodFacts {
    return factsOf(this.#job, this.#pod, awaited);
  }

  #finished(phase: PodPhase, exitCode: number, seconds: number): this {
    const state = { terminated: { exitCode, finishedAt: at(seconds) } };
    return this.status({ phase, containerStatuses: [{ name: "main", restartCount: 0, state }] });
  }
}

export const aPod = (job: Job, name = `pod-${++serial}`): PodBuilder => new PodBuilder(job, name);
