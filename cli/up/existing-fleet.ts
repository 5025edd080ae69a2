/** `jobferry up --hub KUBECONFIG --worker NAME=KUBECONFIG ...`: manager and agents for clusters that exist. */
import type { Bus } from "@jobferry/shared/queue/bus.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type FleetCluster, LocalFleet } from "../local-fleet.ts";
import {
  OWN_WORKER_PREFIX,
  parseClusterFlags,
  type ReachedCluster,
  type ReachedClusters,
  reachClusters,
} from "./clusters.ts";
import { type Applied, installHub } from "./install.ts";
import { keptKeys } from "./keys.ts";
import type { ExistingReporter } from "./report-existing.ts";
import { checkRights } from "./rights.ts";
import { showJobs } from "./watch.ts";

const LEASE = { namespace: "jobferry-system", name: "jobferry-manager" };

export interface ExistingOptions {
  hub: string;
  workers: readonly string[];
  dryRun: boolean;
  report: ExistingReporter;
}

export class ExistingFleet {
  readonly #clusters: ReachedClusters;
  readonly #report: ExistingReporter;
  #fleet: LocalFleet | undefined;

  private constructor(clusters: ReachedClusters, report: ExistingReporter) {
    this.#clusters = clusters;
    this.#report = report;
  }

  get workers(): string[] {
    return this.#clusters.workers.map(({ name }) => name);
  }

  /** Checks everything before it changes anything; then prepares the hub, or with `dryRun` only says how. */
  static async prepare({ hub, workers, dryRun, report }: ExistingOptions): Promise<ExistingFleet> {
    const clusters = await reachClusters(parseClusterFlags(hub, workers));
    try {
      const all = [clusters.hub, ...clusters.workers];
      for (const cluster of all) report.reached(cluster.name, cluster.api.server, cluster.version);
      await Promise.all([
        checkRights(clusters.hub, "hub"),
        ...clusters.workers.map((worker) => checkRights(worker, "worker")),
      ]);
      for (const applied of await installHub(clusters.hub, dryRun)) report.applied("hub", applied);
      if (dryRun) for (const { name } of clusters.workers) report.applied("hub", enrolled(name, "would be applied"));
      for (const { name } of clusters.workers.filter((worker) => isHub(clusters, worker)))
        report.ownWorker(name, OWN_WORKER_PREFIX);
      return new ExistingFleet(clusters, report);
    } catch (error) {
      await clusters.close();
      throw error;
    }
  }

  /** Resolves when the manager has heard from every worker. */
  async start(bus: Bus, logger: Logger): Promise<void> {
    const { hub, workers } = this.#clusters;
    const named = workers.map((worker): [string, FleetCluster] => {
      const namespacePrefix = isHub(this.#clusters, worker) ? OWN_WORKER_PREFIX : "";
      return [worker.name, { api: worker.api, version: worker.version, namespacePrefix }];
    });
    const keys = await keptKeys(hub.api);
    this.#fleet = new LocalFleet({ hub, workers: new Map(named), bus, logger, lease: LEASE, keys });
    await this.#fleet.start();
    for (const name of this.workers) this.#report.applied("hub", enrolled(name, "applied"));
  }

  /** Shows the hub's dispatched Jobs as they change, until `signal` aborts. */
  async show(signal: AbortSignal, logger: Logger): Promise<void> {
    const view = this.#report.view();
    await showJobs({ hub: this.#clusters.hub.api, view, logger, signal }).finally(() => view.end());
  }

  /** What is on the clusters stays there, Jobs that run included. */
  async stop(): Promise<void> {
    await this.#fleet?.stop();
    await this.#clusters.close();
  }
}

const enrolled = (name: string, outcome: Applied["outcome"]): Applied => ({ object: `WorkerCluster/${name}`, outcome });

const isHub = ({ hub }: ReachedClusters, { identity }: ReachedCluster): boolean => identity === hub.identity;
