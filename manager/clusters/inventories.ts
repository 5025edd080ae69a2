import type { Job } from "@jobferry/shared/job/types.ts";
import { pagesOf, RoundNames } from "@jobferry/shared/protocol/inventory.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Random, randomId } from "@jobferry/shared/runtime/random.ts";
import type { HubJobs } from "../hub/jobs.ts";
import { type Phases, uidOf } from "../hub/phase.ts";
import type { Cluster } from "./cluster.ts";
import type { ClusterStatusWriter } from "./status-writer.ts";

export interface InventoriesOptions {
  jobs: Pick<HubJobs, "onCluster" | "revision">;
  phases: Phases;
  status: Pick<ClusterStatusWriter, "write">;
  transport: Pick<ManagerTransport, "sendDelivery">;
  clock: Clock;
  random: Random;
  logger: Logger;
  everyMs: number;
}

/** To an agent that stops Jobs when it does not hear from us (hub-job/stop-times.ts). */
const WATCHFUL_MS = 10_000;

/** Tells each agent what is its cluster's, and with it that it was heard. */
export class Inventories {
  readonly #options: InventoriesOptions;
  readonly #sentAt = new WeakMap<Cluster, number>();
  readonly #rounds: RoundNames;

  constructor(options: InventoriesOptions) {
    this.#options = options;
    this.#rounds = new RoundNames(randomId(options.random));
  }

  isDue(cluster: Cluster): boolean {
    const { clock, everyMs } = this.#options;
    const sinceMs = clock.monotonic() - (this.#sentAt.get(cluster) ?? Number.NEGATIVE_INFINITY);
    return sinceMs >= everyMs || (sinceMs >= WATCHFUL_MS && this.#isWatchful(cluster));
  }

  /** Everything that is this cluster's by what the hub stores; finished Jobs are not in it, their mirrors are released. */
  async send(cluster: Cluster): Promise<void> {
    const { jobs, transport, clock, logger, phases } = this.#options;
    // A list that is under way says nothing of what is absent: mirrors would be withdrawn, and echoes believed.
    if (jobs.revision === undefined) return;
    this.#sentAt.set(cluster, clock.monotonic());
    const heard = await this.#heard(cluster);
    const { revision } = jobs;
    if (revision === undefined) return;
    const { name, clusterID, highestSeq } = cluster;
    const assignments = jobs.onCluster(name).flatMap((job: Job) => {
      const holder = phases.holderOf(job);
      const seq = phases.storedSeq(job, clusterID, highestSeq);
      return holder === undefined ? [] : [{ uid: uidOf(job), epoch: holder.epoch, seq }];
    });
    const pages = pagesOf(assignments);
    const asOf = cluster.revisionOf(revision);
    const round = this.#rounds.next();
    try {
      for (const [index, page] of pages.entries())
        await transport.sendDelivery(name, {
          kind: "inventory",
          asOf,
          round,
          page: index + 1,
          pages: pages.length,
          assignments: page,
          ...(heard === undefined ? {} : { heard }),
        });
    } catch (error) {
      logger.debug({ error, cluster: name }, "inventory not sent");
    }
  }

  /** Some Job here is stopped when its agent does not hear from us often enough. */
  #isWatchful({ name }: Cluster): boolean {
    const { jobs, phases } = this.#options;
    return jobs.onCluster(name).some((job) => phases.holderOf(job)?.stopAfterSeconds !== undefined);
  }

  /**
   * The heartbeat from which the agent may count. A successor of ours would go on counting from the silence that is stored,
   * so the agent is told that it was heard only once the hub no longer says otherwise.
   */
  async #heard(cluster: Cluster): Promise<string | undefined> {
    const { status, logger } = this.#options;
    const stamp = cluster.isRebuilt ? undefined : cluster.health?.stamp;
    if (cluster.storedSilence > 0)
      await status
        .write(cluster)
        .catch((error: unknown) => logger.warn({ error, cluster: cluster.name }, "cluster status not written"));
    return cluster.storedSilence > 0 ? undefined : stamp;
  }
}
