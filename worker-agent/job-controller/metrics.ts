/** Section 24: the metrics of the built-in controller, under its names, so that existing dashboards keep working. */
import type { Job, JobStatus, PodFailurePolicyAction } from "@jobferry/shared/job/types.ts";
import { Counter, Histogram, type Registry } from "prom-client";
import { completionMode, hasPerIndexLimit, isIndexed } from "./core/job-spec.ts";
import type { CreationReason, SyncAction } from "./core/scale.ts";
import { finishedDelta } from "./core/status.ts";
import type { Outcome } from "./core/types.ts";

/** 4 ms to 65.5 s */
const SYNC_BUCKETS = Array.from({ length: 15 }, (_, power) => 0.004 * 2 ** power);

const counter = <Label extends string>(registry: Registry, name: string, help: string, labelNames: Label[]) =>
  new Counter({ name: `job_controller_${name}`, help, labelNames, registers: [registry] });

export class JobMetrics {
  readonly #syncDuration: Histogram<"completion_mode" | "result" | "action">;
  readonly #syncs: Counter<"completion_mode" | "result" | "action">;
  readonly #jobsFinished: Counter<"completion_mode" | "result" | "reason">;
  readonly #externalJobs: Counter<"controller_name">;
  readonly #podsFinished: Counter<"completion_mode" | "result">;
  readonly #policyActions: Counter<"action">;
  readonly #terminatedPods: Counter<"event">;
  readonly #finishedIndexes: Counter<"status" | "backoffLimit">;
  readonly #podsCreated: Counter<"reason" | "status">;
  readonly #staleSkips: Counter<"group" | "resource">;

  constructor(registry: Registry) {
    this.#syncDuration = new Histogram({
      name: "job_controller_job_sync_duration_seconds",
      help: "Time a Job sync took",
      labelNames: ["completion_mode", "result", "action"],
      buckets: SYNC_BUCKETS,
      registers: [registry],
    });
    this.#syncs = counter(registry, "job_syncs_total", "Job syncs", ["completion_mode", "result", "action"]);
    this.#jobsFinished = counter(registry, "jobs_finished_total", "Jobs that finished", [
      "completion_mode",
      "result",
      "reason",
    ]);
    this.#externalJobs = counter(registry, "jobs_by_external_controller_total", "Jobs seen that others manage", [
      "controller_name",
    ]);
    this.#podsFinished = counter(registry, "job_pods_finished_total", "Finished pods that are accounted", [
      "completion_mode",
      "result",
    ]);
    this.#policyActions = counter(
      registry,
      "pod_failures_handled_by_failure_policy_total",
      "Failed pods by the action of the pod failure policy that matched",
      ["action"],
    );
    this.#terminatedPods = counter(
      registry,
      "terminated_pods_tracking_finalizer_total",
      "Pods that began or ceased to be terminal with the tracking finalizer",
      ["event"],
    );
    this.#finishedIndexes = counter(registry, "job_finished_indexes_total", "Indexes that finished", [
      "status",
      "backoffLimit",
    ]);
    this.#podsCreated = counter(registry, "job_pods_creation_total", "Pod creations", ["reason", "status"]);
    this.#staleSkips = counter(registry, "stale_sync_skips_total", "Syncs refused because a cache lagged behind", [
      "group",
      "resource",
    ]);
  }

  synced(job: Job, result: "success" | "error", action: SyncAction, seconds: number): void {
    const labels = { completion_mode: completionMode(job), result, action };
    this.#syncDuration.observe(labels, seconds);
    this.#syncs.inc(labels);
  }

  jobFinished(job: Job, outcome: Outcome): void {
    const result = outcome.interim === "SuccessCriteriaMet" ? "succeeded" : "failed";
    this.#jobsFinished.inc({ completion_mode: completionMode(job), result, reason: outcome.reason });
  }

  externalJob(managedBy: string): void {
    this.#externalJobs.inc({ controller_name: managedBy });
  }

  /** After a status write that turned `before` into `after`. */
  statusWritten(job: Job, before: JobStatus, after: JobStatus): void {
    const delta = finishedDelta(job, before, after);
    const mode = completionMode(job);
    this.#podsFinished.inc({ completion_mode: mode, result: "succeeded" }, delta.succeeded);
    this.#podsFinished.inc({ completion_mode: mode, result: "failed" }, delta.failed);
    if (!isIndexed(job)) return;
    const limit = hasPerIndexLimit(job) ? "perIndex" : "global";
    this.#finishedIndexes.inc({ status: "succeeded", backoffLimit: limit }, delta.succeeded);
    this.#finishedIndexes.inc({ status: "failed", backoffLimit: limit }, delta.failedIndexes);
  }

  policyMatched(actions: ReadonlyMap<PodFailurePolicyAction, number>): void {
    for (const [action, count] of actions) this.#policyActions.inc({ action }, count);
  }

  terminatedPod(event: "add" | "delete"): void {
    this.#terminatedPods.inc({ event });
  }

  /** ME-2: failed attempts are counted under both statuses, as the built-in controller does. */
  podsCreated(reason: CreationReason, attempts: number, failed: number): void {
    this.#podsCreated.inc({ reason, status: "succeeded" }, attempts);
    this.#podsCreated.inc({ reason, status: "failed" }, failed);
  }

  staleSync(resource: "jobs" | "pods"): void {
    this.#staleSkips.inc({ group: resource === "jobs" ? "batch" : "", resource });
  }
}
