import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isConflict, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";

export interface TtlControllerOptions {
  api: KubeApi;
  clock: Clock;
  jobs: Reflector<Job>;
  logger?: Logger;
}

/** Deletes finished Jobs when their `ttlSecondsAfterFinished` is over (TT-1..4). */
export class TtlController {
  readonly #options: TtlControllerOptions;
  readonly #queue: WorkQueue;

  constructor(options: TtlControllerOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      name: "ttl_jobs_to_delete",
      clock: options.clock,
      concurrency: 5,
      backoff: { baseMs: 1000, maxMs: 60_000 },
      process: (key) => this.#sync(key),
      ...(options.logger === undefined ? {} : { logger: options.logger }),
    });
  }

  start(): void {
    const consider = (job: Job): void => {
      if (hasTtl(job)) this.#queue.add(`${job.metadata.namespace}/${job.metadata.name}`);
    };
    this.#options.jobs.addHandler({ added: consider, updated: (_, job) => consider(job) });
    this.#queue.start();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  async #sync(key: string): Promise<{ requeueAfterMs: number } | undefined> {
    const [namespace = "", name = ""] = key.split("/");
    const { api, jobs: cache } = this.#options;
    const known = cache.get(namespace, name);
    if (known === undefined || !hasTtl(known)) return undefined;
    const leftMs = this.#leftMs(known);
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    try {
      // TT-3: the TTL may have been changed since; the live Job decides.
      const live = await api.get(jobs, { namespace, name });
      if (!hasTtl(live)) return undefined;
      const liveLeftMs = this.#leftMs(live);
      if (liveLeftMs > 0) return { requeueAfterMs: liveLeftMs };
      const preconditions = { uid: live.metadata.uid ?? "" };
      await api.delete(jobs, { namespace, name }, { propagationPolicy: "Foreground", preconditions });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    return undefined;
  }

  #leftMs(job: Job): number {
    return expiry(job) - this.#options.clock.now();
  }
}

/** TT-1 */
const hasTtl = (job: Job): boolean =>
  typeof job.spec.ttlSecondsAfterFinished === "number" &&
  isFinished(job) &&
  job.metadata.deletionTimestamp === undefined;

/** TT-2 */
function expiry(job: Job): number {
  const condition = job.status?.conditions?.find(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  );
  const finishedAt = Date.parse(condition?.lastTransitionTime ?? "");
  if (Number.isNaN(finishedAt))
    throw new Error(`Job ${job.metadata.namespace}/${job.metadata.name} is finished but does not say since when`);
  return finishedAt + (job.spec.ttlSecondsAfterFinished ?? 0) * 1000;
}
