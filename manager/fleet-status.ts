import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isConflict } from "@jobferry/shared/kube/errors.ts";
import { DEFAULT_QUEUE } from "@jobferry/shared/protocol/marks.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Cluster } from "./clusters/cluster.ts";
import type { Clusters } from "./clusters/clusters.ts";
import type { ClusterStatusWriter } from "./clusters/status-writer.ts";
import type { Budgets } from "./placement/budgets.ts";
import type { Ledger } from "./placement/ledger.ts";
import { borrowed } from "./placement/order/quota.ts";
import type { Placement } from "./placement/placement.ts";
import { writeQueueStatus } from "./placement/queue-status.ts";
import type { Queues } from "./placement/queues.ts";

interface Sources {
  readonly api: KubeApi;
  readonly logger: Logger;
  readonly clusters: Clusters;
  readonly clusterStatus: Pick<ClusterStatusWriter, "write">;
  readonly transport: Pick<ManagerTransport, "bytesWaiting">;
  /** The JobQueues on the hub. */
  readonly listQueues: () => JobQueue[];
  readonly queues: Pick<Queues, "quotaOf" | "share">;
  readonly ledger: Pick<Ledger, "loadOf" | "runningOn">;
  readonly placement: Pick<Placement, "waitingByQueue" | "waitingByReason">;
  readonly budgets: Pick<Budgets, "stored">;
}

/** How the fleet stands: as status of WorkerClusters and JobQueues, and for the metrics. */
export class FleetStatus {
  readonly #sources: Sources;
  #writing = false;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** Most clusters are silent at once: none of them is counted as lost. */
  get lossTimersFrozen(): boolean {
    return this.#sources.clusters.frozen;
  }

  /** One round at a time: one that is slow takes the place of the next. */
  async write(): Promise<void> {
    if (this.#writing) return;
    this.#writing = true;
    try {
      const clusters = [...this.#sources.clusters].map((cluster) => this.#writeCluster(cluster));
      await Promise.all([...clusters, this.#writeQueues()]);
    } finally {
      this.#writing = false;
    }
  }

  /** Users choose the names of queues that do not exist, so these are counted together. */
  *queueLoads(): Generator<{ queue: string; pending: number; active: number }> {
    const { placement, ledger, listQueues } = this.#sources;
    const pending = placement.waitingByQueue();
    const names = new Set([DEFAULT_QUEUE, ...listQueues().map(({ metadata }) => metadata.name ?? "")]);
    let unknown = 0;
    for (const [queue, jobs] of pending) if (!names.has(queue)) unknown += jobs;
    for (const queue of names) yield { queue, pending: pending.get(queue) ?? 0, active: ledger.loadOf(queue).jobs };
    if (unknown > 0) yield { queue: "", pending: unknown, active: 0 };
  }

  *clusterLoads(): Generator<{ cluster: string; connected: boolean; active: number; setAside: boolean }> {
    const { clusters, ledger } = this.#sources;
    for (const { name, isConnected, breaker } of clusters)
      yield {
        cluster: name,
        connected: isConnected,
        active: ledger.runningOn(name),
        setAside: breaker.isSetAside,
      };
  }

  /** What waits in Redis; nothing while it does not answer. */
  async boxLoads(): Promise<{ cluster: string; box: string; bytes: number }[]> {
    const { clusters, transport } = this.#sources;
    const boxes = (["deliveries", "reports"] as const).flatMap((box) =>
      [...clusters].map(({ name }) => ({ name, box })),
    );
    const load = async ({ name, box }: (typeof boxes)[number]) => ({
      cluster: name,
      box,
      bytes: await transport.bytesWaiting(name, box),
    });
    return await Promise.all(boxes.map(load)).catch(() => []);
  }

  async #writeCluster(cluster: Cluster): Promise<void> {
    const { clusterStatus, logger } = this.#sources;
    await clusterStatus.write(cluster).catch((error: unknown) => {
      if (!isConflict(error)) logger.warn({ error, cluster: cluster.name }, "cluster status not written");
    });
  }

  async #writeQueues(): Promise<void> {
    const { api, logger, listQueues, queues, ledger, placement, budgets } = this.#sources;
    const pending = placement.waitingByQueue();
    await writeQueueStatus(api, listQueues(), (name) => ({
      pending: pending.get(name) ?? 0,
      running: ledger.loadOf(name).jobs,
      usage: ledger.loadOf(name).used,
      borrowed: borrowed(queues.quotaOf(name)),
      share: queues.share(name),
      waiting: placement.waitingByReason(name),
      budget: budgets.stored(name),
    })).catch((error: unknown) => logger.warn({ error }, "queue status not written"));
  }
}
