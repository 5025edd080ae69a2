import type { Job } from "@jobferry/shared/job/types.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { jobs as jobResource } from "@jobferry/shared/kube/resources.ts";
import type { AssignmentRef } from "@jobferry/shared/protocol/delivery.ts";
import { RoundCollector } from "@jobferry/shared/protocol/inventory.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { assignmentOf, phaseOf } from "../claim/hub-job.ts";
import type { Clusters } from "../clusters/registry.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { HubCache } from "../hub-cache.ts";
import type { StatusReport } from "./accept.ts";
import type { Inbox } from "./inbox.ts";

export interface ReportsOptions {
  cache: HubCache;
  clusters: Clusters;
  inbox: Inbox;
  outbox: Outbox;
  recorder: Pick<EventRecorder, "record">;
  logger: Logger;
  again(uid: HubUid): void;
  /** A report was not acted upon. */
  onRefused?: ((cluster: string, code: string) => void) | undefined;
  /** The cluster's figures or its connection changed. */
  clusterChanged(cluster: ClusterName, hello: boolean): void;
}

type Mirror = Extract<Report, { kind: "inventory" }>["mirrors"][number];

/** What the manager does with each kind of report. Seals are opened before; whether a Job is the sender's is checked here. */
export class Reports {
  readonly #options: ReportsOptions;
  readonly #rounds = new Map<ClusterName, RoundCollector<Mirror>>();

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  async handle(cluster: ClusterName, report: Report): Promise<void> {
    const { clusters, inbox, again, clusterChanged } = this.#options;
    const wasConnected = clusters.isConnected(cluster);
    // A rebuilt cluster has nothing to say about Jobs that were given to its predecessor.
    if (report.kind !== "hello" && report.kind !== "heartbeat" && clusters.isRebuilt(cluster)) return;
    switch (report.kind) {
      case "hello":
        clusters.heard(cluster, report);
        return clusterChanged(cluster, true);
      case "heartbeat":
        clusters.heard(cluster, report);
        return clusterChanged(cluster, !wasConnected && clusters.isConnected(cluster));
      case "status":
        clusters.heard(cluster);
        return this.#take(cluster, report, report) ? again(report.uid) : undefined;
      case "refused":
      case "withdrawn":
        clusters.heard(cluster);
        if (report.kind === "withdrawn" && report.last !== undefined && !this.#take(cluster, report, report.last))
          return;
        inbox.answer(report.uid, cluster, report);
        return again(report.uid);
      case "newer":
        return clusters.heard(cluster);
      case "event":
        clusters.heard(cluster);
        return this.#forward(cluster, report);
      case "inventory": {
        clusters.heard(cluster);
        const collector = this.#rounds.get(cluster) ?? new RoundCollector<Mirror>();
        this.#rounds.set(cluster, collector);
        const mirrors = collector.add({ ...report, items: report.mirrors });
        return mirrors === undefined ? undefined : this.#compare(cluster, mirrors);
      }
    }
  }

  /** False: its number is beyond what the cluster's API server can have reached. After it, every true report would look old. */
  #take(cluster: ClusterName, ref: AssignmentRef, { seq, status }: Pick<StatusReport, "seq" | "status">): boolean {
    const { clusters, inbox, recorder, logger, onRefused } = this.#options;
    const [origin, highest] = [clusters.identity(cluster), clusters.highestSeq(cluster)];
    if (seq <= highest) {
      inbox.status(ref.uid, { cluster, origin, highest, epoch: ref.epoch, seq, status });
      return true;
    }
    onRefused?.(cluster, "report/invalid");
    logger.warn({ uid: ref.uid, cluster, seq, highest }, "report refused: its number is too high");
    const text = `Cluster ${cluster} numbered a report ${seq}, which its API server cannot have reached; it was not used`;
    const job = this.#jobOf(cluster, ref);
    if (job !== undefined) recorder.record(jobResource, job, "Warning", "StatusRejected", text);
    return false;
  }

  forget(cluster: ClusterName): void {
    this.#rounds.delete(cluster);
  }

  #forward(cluster: ClusterName, report: Extract<Report, { kind: "event" }>): void {
    const job = this.#jobOf(cluster, report);
    if (job === undefined) return;
    for (const { reason, message, count, regarding } of report.warnings) {
      const text = `[${cluster}] ${regarding.kind} ${regarding.name}: ${message}`;
      this.#options.recorder.record(jobResource, job, "Warning", reason, text, count);
    }
  }

  /** The Job, if it is this cluster's in this epoch. */
  #jobOf(cluster: ClusterName, { uid, epoch }: AssignmentRef): Job | undefined {
    const job = this.#options.cache.byUid(uid);
    const assignment = job === undefined ? undefined : assignmentOf(job);
    return assignment?.cluster === cluster && assignment.epoch === epoch ? job : undefined;
  }

  /** Assignments that are not yet as they should be are delivered again, finished mirrors of finished Jobs may go. */
  async #compare(cluster: ClusterName, mirrors: readonly Mirror[]): Promise<void> {
    const { clusters, outbox, cache, again } = this.#options;
    const present = new Map(mirrors.map((mirror) => [mirror.uid as string, mirror]));
    for (const uid of clusters.jobsOn(cluster)) {
      const job = cache.byUid(uid as HubUid);
      if (job !== undefined && !clusters.isDraining(cluster) && isAsDelivered(job, present.get(uid))) continue;
      outbox.doubt(uid as HubUid);
      again(uid as HubUid);
    }
    for (const { uid, epoch } of mirrors) {
      const job = cache.byUid(uid);
      if (job === undefined || phaseOf(job).phase !== "finished") continue;
      if (assignmentOf(job)?.epoch === epoch) await outbox.release(uid, { cluster, epoch });
    }
  }
}

/** The mirror stands where the hub Job's last delivery wants it. */
const isAsDelivered = (job: Job, mirror: Mirror | undefined): boolean =>
  mirror !== undefined &&
  mirror.epoch === assignmentOf(job)?.epoch &&
  mirror.generation === (job.metadata.generation ?? 0) &&
  job.metadata.deletionTimestamp === undefined;
