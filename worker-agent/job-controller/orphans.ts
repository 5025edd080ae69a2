/** Section 21: takes the tracking finalizer from pods that no sync will account, on a queue of its own. */
import { selectorMatches } from "@jobferry/shared/job/selector.ts";
import type { Job, LabelSelector, Pod } from "@jobferry/shared/job/types.ts";
import { type MeasureQueue, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Claim } from "./core/admit.ts";
import { controllerOf } from "./core/claim.ts";
import type { Rules } from "./core/rules.ts";
import type { Limits } from "./core/types.ts";
import type { Executor } from "./executor/executor.ts";

export interface OrphanOptions {
  claim: Claim;
  rules: Rules;
  limits: Limits;
  clock: Clock;
  workers: number;
  executor: Executor;
  logger: Logger;
  queueMetrics?: MeasureQueue;
  pod(namespace: string, name: string): Pod | undefined;
  job(namespace: string | undefined, name: string): Job | undefined;
  /** Pods with the tracking finalizer that the selector could match. */
  heldPods(namespace: string, selector: LabelSelector): Pod[];
}

/** OR-1: an item of the queue, as its key. */
type Item =
  | { readonly namespace: string; readonly pod: string }
  | { readonly namespace: string; readonly selector: LabelSelector };

export class Orphans {
  readonly queue: WorkQueue;
  readonly #options: OrphanOptions;

  constructor(options: OrphanOptions) {
    this.#options = options;
    const { clock, workers, limits, logger, queueMetrics } = options;
    this.queue = new WorkQueue({
      name: "job_orphan_pod",
      clock,
      concurrency: workers,
      backoff: { baseMs: limits.retryBaseMs, maxMs: limits.retryMaxMs },
      logger,
      ...(queueMetrics && { metrics: queueMetrics }),
      process: (key) => this.#process(key),
    });
  }

  addPod(pod: Pod): void {
    this.#add({ namespace: pod.metadata.namespace ?? "", pod: pod.metadata.name ?? "" });
  }

  /** `later`: when the cache has had the time of a batch to catch up. */
  addSelector(namespace: string, selector: LabelSelector, later: boolean): void {
    this.#add({ namespace, selector }, later ? this.#options.limits.syncBatchMs : 0);
  }

  #add(item: Item, afterMs = 0): void {
    this.queue.addAfter(JSON.stringify(item), afterMs);
  }

  async #process(key: string): Promise<void> {
    // Lets the events that arrived together be applied first.
    await Promise.resolve();
    const item = JSON.parse(key) as Item;
    if ("pod" in item) {
      const pod = this.#options.pod(item.namespace, item.pod);
      if (pod !== undefined) await this.#release(pod);
      return;
    }
    const held = this.#options
      .heldPods(item.namespace, item.selector)
      .filter((pod) => selectorMatches(item.selector, pod.metadata.labels));
    for (const settled of await Promise.allSettled(held.map((pod) => this.#release(pod))))
      if (settled.status === "rejected") this.#logFailure(settled.reason);
  }

  /** OR-2 */
  async #release(pod: Pod): Promise<void> {
    const { rules, claim, executor } = this.#options;
    if (rules.isOrphanToRelease(pod, this.#owner(pod), claim)) await executor.releaseOrphan(pod);
  }

  #owner(pod: Pod): Job | undefined {
    const reference = controllerOf(pod);
    const job = reference && this.#options.job(pod.metadata.namespace, reference.name);
    return job?.metadata.uid === reference?.uid ? job : undefined;
  }

  /** OR-4 */
  #logFailure(error: unknown): void {
    this.#options.logger.warn({ error }, "releasing an orphan pod failed");
  }
}
