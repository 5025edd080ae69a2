import { type JobQueue, jobQueues, type WorkerCluster, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject } from "@jobferry/shared/kube/api.ts";
import { withoutManagedFields } from "@jobferry/shared/kube/managed-fields.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs, namespaces, type PriorityClass, priorityClasses } from "@jobferry/shared/kube/resources.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { type Logger, silentLogger } from "@jobferry/shared/runtime/logger.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import { CLUSTER_INDEX, UID_INDEX } from "./jobs.ts";
import { isOurs, type Phases } from "./phase.ts";

const NO_TEMPLATE = { spec: { restartPolicy: "Never" as const, containers: [] } };

/** @internal A Job that is not ours, and never will be: `managedBy` cannot change. Nothing of it is kept, however large it is. */
export const bareOf = ({ metadata: { name, namespace, uid, resourceVersion }, spec }: Job): Job => ({
  metadata: {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  },
  spec: {
    ...(spec.managedBy === undefined ? {} : { managedBy: spec.managedBy }),
    template: NO_TEMPLATE,
  },
});

/** @internal A finished Job is never run again: what its pods were made of is not kept, nor what others noted on it. */
export const finishedOf = (job: Job): Job => {
  const { annotations = {} } = job.metadata;
  const ours = Object.entries(annotations).filter(([key]) => key.startsWith("jobferry.dev/"));
  const metadata = { ...job.metadata, annotations: Object.fromEntries(ours) };
  return { ...job, metadata, spec: { ...job.spec, template: NO_TEMPLATE } };
};

interface HubWatchOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly phases: Phases;
  /** Shadows of pods are made from their Job's template, also of those that are heard of late. */
  readonly showsPods: boolean;
}

/** Everything the manager watches on the hub. */
export class HubWatch {
  readonly jobs: Reflector<Job>;
  readonly clusters: Reflector<WorkerCluster>;
  readonly queues: Reflector<JobQueue>;
  readonly namespaces: Reflector<KubeObject>;
  /** Where the hub does not let us read them, those of Jobs count for nothing. */
  readonly priorityClasses: Reflector<PriorityClass>;

  constructor({ phases, showsPods, ...options }: HubWatchOptions) {
    this.jobs = new Reflector({
      ...options,
      resource: jobs,
      transform: (job) => {
        if (!isOurs(job)) return bareOf(job);
        const kept = withoutManagedFields(job);
        return isFinished(kept) && !showsPods ? finishedOf(kept) : kept;
      },
      indexers: {
        [UID_INDEX]: (job) => (isOurs(job) ? [job.metadata.uid ?? ""] : []),
        [CLUSTER_INDEX]: (job) => [phases.holderOf(job)?.cluster ?? []].flat(),
      },
    });
    this.clusters = new Reflector({ ...options, resource: workerClusters, transform: withoutManagedFields });
    this.queues = new Reflector({ ...options, resource: jobQueues, transform: withoutManagedFields });
    this.namespaces = new Reflector({ ...options, resource: namespaces, transform: withoutManagedFields });
    const seldom = { logger: silentLogger, backoff: { baseMs: 1_000, maxMs: 60_000 } };
    this.priorityClasses = new Reflector({
      ...{ ...options, ...seldom, resource: priorityClasses, transform: withoutManagedFields },
    });
  }

  get hasSynced(): boolean {
    return this.#all.every(({ hasSynced }) => hasSynced);
  }

  /** Resolves after the first complete lists; never rejects, so race it with your own signal. */
  async whenSynced(): Promise<void> {
    await Promise.all(this.#all.map((reflector) => reflector.whenSynced()));
  }

  /** Watches until the signal aborts; resolves when all watches are over. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#all, this.priorityClasses].map((reflector) => reflector.start(signal)));
  }

  get #all(): Pick<Reflector<KubeObject>, "hasSynced" | "whenSynced" | "start">[] {
    return [this.clusters, this.queues, this.namespaces, this.jobs];
  }
}
