import type { WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import { type ClusterName, clusterName, type HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Subscription } from "@jobferry/shared/queue/bus.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { Reports } from "../mirror/reports.ts";
import type { Inventories } from "./inventories.ts";
import type { Clusters } from "./registry.ts";
import type { ClusterStatusWriter } from "./status-writer.ts";

const STOP_MS = 3_000;

export interface MembershipOptions {
  clusters: Clusters;
  status: ClusterStatusWriter;
  inventories: Inventories;
  reports: Reports;
  outbox: Outbox;
  transport: Pick<ManagerTransport, "onReport">;
  logger: Logger;
  /** Asks for another look at this Job. */
  again(uid: HubUid): void;
  /** Something changed that may help those who wait. */
  reconsider(): void;
}

/** Follows which clusters are in the fleet: listens to those that are, and forgets those that left. */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #subscriptions = new Map<ClusterName, Subscription>();

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  seen(object: WorkerCluster): void {
    const { clusters, transport, reports, reconsider } = this.#options;
    const parsed = clusterName.safeParse(object.metadata.name);
    if (!parsed.success) return;
    const name = parsed.data;
    const wasDraining = clusters.isDraining(name);
    clusters.upsert(object);
    if (!this.#subscriptions.has(name))
      this.#subscriptions.set(
        name,
        transport.onReport(name, (report) => reports.handle(name, report)),
      );
    if (wasDraining !== clusters.isDraining(name)) this.#lookAt(clusters.jobsOn(name));
    reconsider();
  }

  left(object: WorkerCluster): void {
    const { clusters, status, reports, inventories } = this.#options;
    const parsed = clusterName.safeParse(object.metadata.name);
    if (!parsed.success) return;
    const name = parsed.data;
    const jobs = [...clusters.jobsOn(name)];
    clusters.remove(name);
    status.forget(name);
    reports.forget(name);
    inventories.forget(name);
    this.#subscriptions
      .get(name)
      ?.stop(STOP_MS)
      .catch(() => {});
    this.#subscriptions.delete(name);
    this.#lookAt(jobs);
  }

  /** The cluster's figures changed. `isNew`: it was not connected before, so nothing sent earlier can be taken for received. */
  changed(cluster: ClusterName, isNew: boolean): void {
    const { clusters, status, inventories, outbox, logger, reconsider } = this.#options;
    if (isNew) {
      for (const uid of clusters.jobsOn(cluster)) outbox.doubt(uid as HubUid);
      this.#lookAt(clusters.jobsOn(cluster));
      status.write(cluster).catch((error: unknown) => logger.warn({ error, cluster }, "cluster status not written"));
      inventories.send(cluster).catch(() => {});
    }
    reconsider();
  }

  /** Listens to nobody any more. */
  async stop(): Promise<void> {
    await Promise.all([...this.#subscriptions.values()].map((subscription) => subscription.stop(STOP_MS)));
  }

  #lookAt(jobs: Iterable<string>): void {
    for (const uid of jobs) this.#options.again(uid as HubUid);
  }
}
