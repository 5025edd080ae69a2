import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { uidOf } from "../hub/phase.ts";
import type { Cluster } from "./cluster.ts";
import type { Clusters } from "./clusters.ts";

export interface JobHealthOptions {
  readonly clusters: Clusters;
  readonly clock: Clock;
  readonly recorder: Pick<EventRecorder, "record">;
  jobOf(uid: HubUid): Job | undefined;
  /** Jobs may go there again, or may not. */
  changed(cluster: ClusterName): void;
}

/** A pod that fails within this time after its Job began has crashed at its start; one that runs for longer has not. */
const START_MS = 60_000;

/** What a worker warns of when it cannot bring a pod to life, whosever it is. */
const START_TROUBLE: Readonly<Record<string, RegExp>> = {
  Failed: /pull image|ErrImage|ImagePullBackOff/i,
  FailedCreatePodSandBox: /./,
  InspectFailed: /./,
};

/** Hears how Jobs fare on their clusters, and tells the clusters' breakers (breaker.ts). */
export class JobHealth {
  readonly #options: JobHealthOptions;
  readonly #timers = new Set<() => void>();

  constructor(options: JobHealthOptions) {
    this.#options = options;
  }

  /** Its worker warns of something about the Job or its pods. */
  warned(cluster: Cluster, job: Job, reason: string, message: string): void {
    if (START_TROUBLE[reason]?.test(message) === true) this.#failed(cluster, job, `${reason}: ${message}`);
  }

  /** Its status is stored. */
  reported(name: ClusterName, before: Job, job: Job): void {
    const cluster = this.#options.clusters.get(name);
    if (cluster === undefined) return;
    const { succeeded = 0, failed = 0, ready = 0, startTime = "" } = job.status ?? {};
    if (succeeded > (before.status?.succeeded ?? 0)) this.#succeeded(cluster, job);
    const ranMs = this.#options.clock.now() - Date.parse(startTime);
    if (failed > (before.status?.failed ?? 0) && succeeded === 0 && ranMs < START_MS)
      this.#failed(cluster, job, "a pod failed within a minute");
    else if (ready > 0 && ranMs >= START_MS) this.#succeeded(cluster, job);
  }

  #failed(cluster: Cluster, job: Job, text: string): void {
    const { clusters, clock, recorder, changed } = this.#options;
    const now = clock.monotonic();
    const { namespace: submitter = "", ownerReferences = [] } = job.metadata;
    const source = ownerReferences.find(({ controller }) => controller === true)?.uid ?? uidOf(job);
    const isBadElsewhere = (who: string): boolean =>
      [...clusters].some((other) => other !== cluster && other.breaker.hasFailed(who, now));
    const opened = cluster.breaker.failed({ source, submitter, text }, uidOf(job), now, isBadElsewhere);
    if (!opened) return;
    recorder.record(workerClusters, cluster.object, "Warning", "SetAside", this.#words(cluster));
    changed(cluster.name);
    this.#after(cluster.breaker.leftMs(now) + 1, () => changed(cluster.name));
  }

  #succeeded(cluster: Cluster, job: Job): void {
    const { clock, recorder, changed } = this.#options;
    if (!cluster.breaker.succeeded(uidOf(job), clock.monotonic())) return;
    const text = "The Job that was tried on the cluster has started well: it gets Jobs again";
    recorder.record(workerClusters, cluster.object, "Normal", "TakenBack", text);
    changed(cluster.name);
  }

  #words({ breaker }: Cluster): string {
    const minutes = Math.ceil(breaker.leftMs(this.#options.clock.monotonic()) / 60_000);
    return `No Jobs go to the cluster for ${minutes} minutes: ${breaker.why}`;
  }

  /** A Job was given to a cluster. If it decides about it, it is looked at from time to time: one that only runs reports nothing. */
  assigned(name: ClusterName, uid: HubUid): void {
    const cluster = this.#options.clusters.get(name);
    if (cluster?.breaker.trial !== uid) return;
    this.#after(START_MS, () => {
      if (cluster.breaker.trial !== uid) return;
      const job = this.#options.jobOf(uid);
      if (job !== undefined) this.reported(name, job, job);
      this.assigned(name, uid);
    });
  }

  stop(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  #after(ms: number, act: () => void): void {
    const cancel = this.#options.clock.after(ms, () => {
      this.#timers.delete(cancel);
      act();
    });
    this.#timers.add(cancel);
  }
}
