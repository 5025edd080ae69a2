import { randomUUID } from "node:crypto";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { pagesOf, RoundNames } from "@jobferry/shared/protocol/inventory.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Assignment, mirroredSeq, phaseOf, uidOf } from "../claim/hub-job.ts";
import type { Clusters } from "./registry.ts";
import type { ClusterStatusWriter } from "./status-writer.ts";

/** Index of the Jobs reflector by the cluster that holds them. */
export const CLUSTER_INDEX = "cluster";

/** Whose the Job is by what the hub stores, until it is finished. */
export function holderOf(job: Job): Assignment[] {
  const phase = phaseOf(job);
  return (phase.phase === "assigned" || phase.phase === "deleting") && phase.assignment !== undefined
    ? [phase.assignment]
    : [];
}

export interface InventoriesOptions {
  jobs: Pick<Reflector<Job>, "byIndex" | "resourceVersion">;
  clusters: Clusters;
  status: Pick<ClusterStatusWriter, "write">;
  transport: Pick<ManagerTransport, "sendDelivery">;
  clock: Clock;
  logger: Logger;
  everyMs: number;
}

/** To an agent that stops Jobs when it does not hear from us (stop-times.ts). */
const WATCHFUL_MS = 10_000;

/** Tells each agent what is its cluster's, and with it that it was heard. */
export class Inventories {
  readonly #options: InventoriesOptions;
  readonly #sentAt = new Map<string, number>();
  readonly #rounds = new RoundNames(randomUUID());

  constructor(options: InventoriesOptions) {
    this.#options = options;
  }

  isDue(cluster: string): boolean {
    const { clock, clusters, everyMs } = this.#options;
    const sentAt = this.#sentAt.get(cluster) ?? Number.NEGATIVE_INFINITY;
    return clock.monotonic() - sentAt >= (clusters.isWatchful(cluster) ? Math.min(everyMs, WATCHFUL_MS) : everyMs);
  }

  forget(cluster: string): void {
    this.#sentAt.delete(cluster);
  }

  /** Everything that is this cluster's by what the hub stores; finished Jobs are not in it, their mirrors go by acknowledgement. */
  async send(cluster: ClusterName): Promise<void> {
    const { jobs, transport, clock, logger } = this.#options;
    this.#sentAt.set(cluster, clock.monotonic());
    const heard = await this.#heard(cluster);
    const { clusters } = this.#options;
    const [origin, highest] = [clusters.identity(cluster), clusters.highestSeq(cluster)];
    const assignments = jobs
      .byIndex(CLUSTER_INDEX, cluster)
      .flatMap((job) =>
        holderOf(job).map(({ epoch }) => ({ uid: uidOf(job), epoch, seq: mirroredSeq(job, origin, highest) })),
      );
    const pages = pagesOf(assignments);
    const asOf = Number(jobs.resourceVersion);
    const round = this.#rounds.next();
    try {
      for (const [index, page] of pages.entries())
        await transport.sendDelivery(cluster, {
          kind: "inventory",
          asOf,
          round,
          page: index + 1,
          pages: pages.length,
          assignments: page,
          ...(heard === undefined ? {} : { heard }),
        });
    } catch (error) {
      logger.debug({ error, cluster }, "inventory not sent");
    }
  }

  /**
   * The heartbeat from which the agent may count. A successor of ours would go on counting from the silence that is stored,
   * so the agent is told that it was heard only once the hub no longer says otherwise.
   */
  async #heard(cluster: ClusterName): Promise<string | undefined> {
    const { clusters, status, logger } = this.#options;
    const stamp = clusters.isRebuilt(cluster) ? undefined : clusters.health(cluster)?.stamp;
    if (clusters.storedSilence(cluster) > 0)
      await status
        .write(cluster)
        .catch((error: unknown) => logger.warn({ error, cluster }, "cluster status not written"));
    return clusters.storedSilence(cluster) > 0 ? undefined : stamp;
  }
}
