import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { Registry } from "prom-client";
import { Batching, UnfinishedPods } from "../batching.ts";
import type { Claim } from "../core/admit.ts";
import { Handlers } from "../handlers.ts";
import { Memories } from "../memory.ts";
import { JobMetrics } from "../metrics.ts";
import { NOW, type PodBuilder } from "./builders.ts";

const AT_ONCE = "now";
export const SETTLED = "after settling";
export const BATCHED = "after the batch";

/** Handlers on a virtual clock, with the Jobs that their cache knows. */
export class WatchedHandlers {
  readonly clock = new VirtualClock(NOW);
  readonly memories = new Memories();
  readonly registry = new Registry();
  readonly jobs = new Map<string, Job>();
  readonly orphans: string[] = [];
  readonly timers: number[] = [];
  readonly #added: string[] = [];
  readonly batching = new Batching({ clock: this.clock, batchMs: 1000, add: (key) => this.#added.push(key) });
  readonly handlers: Handlers;

  constructor(jobs: Job[], claim: Claim = "unmanaged") {
    for (const job of jobs) this.jobs.set(job.metadata.name ?? "", job);
    this.handlers = new Handlers({
      claim,
      clock: this.clock,
      memories: this.memories,
      metrics: new JobMetrics(this.registry),
      unfinished: new UnfinishedPods(),
      batching: this.batching,
      job: (_, name) => this.jobs.get(name),
      jobsThatMayAdopt: () => [...this.jobs.values()],
      syncAfter: (_, ms) => this.timers.push(ms),
      orphans: {
        addPod: (pod) => this.orphans.push(pod.metadata.name ?? ""),
        addSelector: (namespace, _, later) => this.orphans.push(`selector in ${namespace}${later ? ", later" : ""}`),
      },
    });
  }

  /** Which Jobs the events so far have woken, and when. */
  async woken(): Promise<string[]> {
    const soFar = (when: string) => this.#added.splice(0).map((key) => `${key} ${when}`);
    const woken = soFar(AT_ONCE);
    await this.clock.advance(50);
    woken.push(...soFar(SETTLED));
    await this.clock.advance(950);
    return [...woken, ...soFar(BATCHED)];
  }

  async metric(name: string): Promise<number> {
    const found = await this.registry.getSingleMetric(name)?.get();
    return found?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
  }
}

export const version = (pod: PodBuilder, resourceVersion: string): Pod => pod.metadata({ resourceVersion }).build();
