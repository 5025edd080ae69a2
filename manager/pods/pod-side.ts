import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import type { MeasureQueue } from "@jobferry/shared/kube/workqueue.ts";
import { RoundCollector } from "@jobferry/shared/protocol/inventory.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import { aborted } from "@jobferry/shared/runtime/aborted.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { Clusters } from "../clusters/clusters.ts";
import type { HubJobs } from "../hub/jobs.ts";
import type { Phases } from "../hub/phase.ts";
import { type KubeletAddress, NodeKeeper } from "./node.ts";
import { ShadowReconciler } from "./reconcile.ts";
import { Reported, shiftPodTimes } from "./reported.ts";
import type { PodSettings } from "./settings.ts";
import { Shadows } from "./shadows.ts";
import { ShownLogs } from "./shown-logs.ts";

export interface PodSideOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly jobs: Pick<HubJobs, "byUid">;
  readonly phases: Phases;
  readonly clusters: Clusters;
  readonly transport: Pick<ManagerTransport, "sendDelivery">;
  readonly recorder: Pick<EventRecorder, "record">;
  readonly settings: PodSettings;
  readonly kubelet?: KubeletAddress | undefined;
  readonly queueMetrics?: MeasureQueue | undefined;
  shadowPodsOf(job: Job): number;
  /** All pods of a Job are shown to have ended. */
  onEndShown(uid: HubUid): void;
}

type PodsReport = Extract<Report, { kind: "pods" }>;
type PodsInventory = Extract<Report, { kind: "pods-inventory" }>;
type Told = PodsInventory["mirrors"][number];

/** What the manager does about pods: their shadows on the hub, and the node that they are bound to. */
export class PodSide {
  readonly #options: PodSideOptions;
  readonly shadows: Shadows;
  /** Logs of the pods that are shown. */
  readonly logs: ShownLogs;
  readonly #reported = new Reported();
  readonly #reconciler: ShadowReconciler;
  readonly #node: NodeKeeper;
  readonly #rounds = new WeakMap<Cluster, RoundCollector<Told>>();

  constructor(options: PodSideOptions) {
    this.#options = options;
    const { api, clock, random, logger, kubelet, jobs, phases } = options;
    this.shadows = new Shadows({ api, clock, random, logger });
    this.#reconciler = new ShadowReconciler({ ...options, shadows: this.shadows, reported: this.#reported });
    this.#node = new NodeKeeper({ api, clock, logger, identity: "jobferry-manager", kubelet });
    this.logs = new ShownLogs({ jobs, phases, shadows: this.shadows });
    this.shadows.onChange((uid) => this.changed(uid));
  }

  /** The Job, its cluster or one of its shadows changed. */
  changed(uid: HubUid): void {
    this.#reconciler.changed(uid);
  }

  /** A tool that sees the end of a Job looks at its pods next: they are to be seen at their end by then, unless that takes long. */
  endHeldMs(uid: HubUid, job: Job): number {
    return this.#options.shadowPodsOf(job) === 0 ? 0 : this.#reconciler.endHeldMs(uid);
  }

  /** The Job is this cluster's in this epoch. */
  reported(cluster: Cluster, { uid, epoch, seq, pods, more, gone }: PodsReport): void {
    const { name, aheadMs } = cluster;
    const shifted = pods.map((pod) => shiftPodTimes(pod, -aheadMs));
    if (this.#reported.take(uid, { cluster: name, epoch, seq, pods: shifted, more, gone: gone === true }))
      this.changed(uid);
  }

  /** What the cluster has told and did not arrive here is asked for. */
  async inventory(cluster: Cluster, report: PodsInventory): Promise<void> {
    const { jobs, transport } = this.#options;
    const collector = this.#rounds.get(cluster) ?? new RoundCollector<Told>();
    this.#rounds.set(cluster, collector);
    const items = report.mirrors.filter(({ uid }) => jobs.byUid(uid) !== undefined);
    const told = collector.add({ ...report, items });
    if (told === undefined) return;
    const mirrors = this.#reported.missing(told);
    for (const uid of this.#reported.markGone(cluster.name, new Set(told.map((each) => each.uid)))) this.changed(uid);
    if (mirrors.length > 0)
      await transport.sendDelivery(cluster.name, { kind: "pods-wanted", mirrors: mirrors.slice(0, 5_000) });
  }

  /** Until `signal` aborts. The manager does not wait for this: without the rights to it, Jobs run all the same. */
  async run(signal: AbortSignal): Promise<void> {
    const running = [this.shadows.run(signal), this.#node.run(signal)];
    await Promise.race([this.shadows.whenSynced(), aborted(signal)]);
    if (!signal.aborted) this.#reconciler.queue.start();
    await Promise.all(running);
    await this.#reconciler.queue.stop();
  }
}
