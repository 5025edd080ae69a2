import type { WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { jobs as jobResource } from "@jobferry/shared/kube/resources.ts";
import { type ClusterName, clusterName, type HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import type { Subscription } from "@jobferry/shared/queue/bus.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { HubJobs } from "../hub/jobs.ts";
import { uidOf } from "../hub/phase.ts";
import type { Cluster } from "./cluster.ts";
import type { Clusters } from "./clusters.ts";
import type { Inventories } from "./inventories.ts";
import type { ClusterStatusWriter } from "./status-writer.ts";

const STOP_MS = 3_000;

export interface MembershipOptions {
  readonly api: Pick<KubeApi, "list">;
  readonly clusters: Clusters;
  readonly jobs: Pick<HubJobs, "onCluster" | "revision">;
  readonly status: ClusterStatusWriter;
  readonly inventories: Inventories;
  readonly transport: Pick<ManagerTransport, "onReport">;
  readonly logger: Logger;
  report(cluster: Cluster, report: Report): Promise<void>;
  /** The Job is looked at again. `resend`: what was sent about it may not have arrived. */
  enqueue(uid: HubUid, resend: boolean): void;
  /** The cluster changed in a way that may help those who wait. */
  reconsider(cluster: Cluster): void;
}

/** Follows which clusters are in the fleet: listens to those that are, and forgets those that left. */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #subscriptions = new Map<ClusterName, Subscription>();
  #listening = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** The hub's Jobs are known from now on, so that what clusters say of them can be judged. */
  listen(): void {
    this.#listening = true;
    for (const cluster of this.#options.clusters) this.#subscribe(cluster);
  }

  seen(object: WorkerCluster): void {
    const { clusters, reconsider } = this.#options;
    const parsed = clusterName.safeParse(object.metadata.name);
    if (!parsed.success) return;
    const wasDraining = clusters.get(parsed.data)?.isDraining ?? false;
    const cluster = clusters.upsert(parsed.data, object);
    if (this.#listening) this.#subscribe(cluster);
    if (wasDraining !== cluster.isDraining) this.#enqueueJobs(cluster.name, false);
    reconsider(cluster);
  }

  left(object: WorkerCluster): void {
    const { clusters, logger } = this.#options;
    const parsed = clusterName.safeParse(object.metadata.name);
    if (!parsed.success) return;
    const name = parsed.data;
    clusters.remove(name);
    this.#subscriptions
      .get(name)
      ?.stop(STOP_MS)
      .catch((error: unknown) => logger.debug({ error, cluster: name }, "subscription not stopped"));
    this.#subscriptions.delete(name);
    this.#enqueueJobs(name, false);
  }

  /** The agent has introduced itself, or is heard again: nothing sent earlier can be taken for received. */
  async connected(cluster: Cluster): Promise<void> {
    const { status, inventories, logger } = this.#options;
    await this.#continueRevisions(cluster);
    this.#enqueueJobs(cluster.name, true);
    status
      .write(cluster)
      .catch((error: unknown) => logger.warn({ error, cluster: cluster.name }, "cluster status not written"));
    await inventories.send(cluster);
  }

  /** We can read what this cluster sends: otherwise its silence says nothing about it. */
  reaches(name: ClusterName): boolean {
    return this.#subscriptions.get(name)?.reachable ?? false;
  }

  /** Listens to nobody any more. */
  async stop(): Promise<void> {
    await Promise.all([...this.#subscriptions.values()].map((subscription) => subscription.stop(STOP_MS)));
  }

  #subscribe(cluster: Cluster): void {
    const { transport, report } = this.#options;
    const { name } = cluster;
    if (this.#subscriptions.has(name)) return;
    this.#subscriptions.set(
      name,
      transport.onReport(name, (message) => report(cluster, message)),
    );
  }

  /** The hub may have been restored from a backup; that its watch lags is ruled out by a read of our own. */
  async #continueRevisions(cluster: Cluster): Promise<void> {
    const { api, jobs, logger } = this.#options;
    if (!cluster.hasSeenBeyond(jobs.revision ?? 0)) return;
    const { metadata } = await api.list(jobResource, { limit: 1 });
    const revision = Number(metadata.resourceVersion);
    if (!cluster.hasSeenBeyond(revision)) return;
    logger.warn(
      { cluster: cluster.name, revision },
      "the hub is behind what an agent has seen: restored from a backup?",
    );
    cluster.continueFrom(revision);
  }

  #enqueueJobs(cluster: ClusterName, resend: boolean): void {
    for (const job of this.#options.jobs.onCluster(cluster)) this.#options.enqueue(uidOf(job), resend);
  }
}
