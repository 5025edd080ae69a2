import { isComplete } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { jobs as jobResource } from "@jobferry/shared/kube/resources.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Leaving } from "../hub/leaving.ts";
import { type Assignment, type Phases, uidOf } from "../hub/phase.ts";
import type { DispatchMetrics } from "../metrics.ts";
import type { StatusReport } from "../reports/accept.ts";
import type { Departure, Surprise } from "./decide.ts";

export interface TellingOptions {
  readonly recorder: Pick<EventRecorder, "record">;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly phases: Phases;
  /** Of the hub's API server, for messages. */
  readonly hubVersion?: string | undefined;
  /** A report was not acted upon. */
  readonly onRefused?: ((cluster: string, code: string) => void) | undefined;
  readonly metrics?: DispatchMetrics | undefined;
}

type Place = Pick<Assignment, "cluster" | "epoch">;

/** What people are told of a hub Job once a step was taken: events on the Job, one log line per transition, metrics. */
export class Telling {
  readonly #options: TellingOptions;

  constructor(options: TellingOptions) {
    this.#options = options;
  }

  warn(job: Job, reason: string, text: string): void {
    this.#event(job, "Warning", reason, text);
  }

  assigned(job: Job, assignment: Assignment): void {
    const { cluster, epoch } = assignment;
    const isFirst = epoch === 1;
    const verb = isFirst ? "Dispatched" : "Redispatched";
    this.#event(job, "Normal", verb, `${verb} to cluster ${cluster} (epoch ${epoch})`);
    this.#transition(job, assignment, isFirst ? "Job assigned" : "Job moved");
    this.#options.metrics?.admitted(assignment, isFirst ? this.#ageSeconds(job) : undefined);
  }

  adopted(job: Job, assignment: Assignment): void {
    this.#transition(job, assignment, "Job adopted in a later epoch");
  }

  delivered(job: Job, assignment: Assignment, desired: keyof typeof DELIVERED): void {
    this.#transition(job, assignment, DELIVERED[desired]);
  }

  surprised(job: Job, { cluster, queue }: Assignment, but: Surprise): void {
    if (but === "orphans") {
      const why = `queue ${queue} does not allow orphans (spec.allowOrphans)`;
      this.warn(job, "OrphansDeleted", `The Job's pods on cluster ${cluster} are deleted with it: ${why}`);
    } else {
      const what = "The Job's pods request something else than when it was placed";
      this.warn(job, "RequestsChanged", `${what}: it leaves cluster ${cluster}, and is placed anew`);
    }
  }

  waits(job: Job, message: string, { never, held }: { never: boolean; held: boolean }): void {
    if (held) this.warn(job, "ParallelismHeld", `The Job ${message}`);
    else if (never) this.warn(job, "DispatchFailed", message);
    else this.#event(job, "Normal", "Queued", message);
  }

  priority(job: Job, note: string | undefined): void {
    if (note !== undefined) this.warn(job, "PriorityCapped", `The Job waits its turn: ${note}`);
  }

  referencesChanged(job: Job, text: string): void {
    this.#event(job, "Normal", "ReferencesChanged", text);
  }

  left(job: Job, assignment: Assignment, why: Departure): void {
    const { cluster } = assignment;
    if (why.kind === "refused") this.warn(job, "DispatchFailed", `Cluster ${cluster} refused the Job: ${why.text}`);
    if (why.kind === "unschedulable")
      this.warn(job, "Unschedulable", `${departureText(why, cluster)}; the Job is placed anew`);
    if (why.kind === "preempted") this.warn(job, "Preempted", departureText(why, cluster));
    if (why.kind === "lost")
      this.warn(job, "ClusterLost", `No contact with cluster ${cluster}; the Job is placed anew`);
    this.#transition(job, assignment, TRANSITIONS[why.kind]);
    this.#options.metrics?.evicted(assignment, why.kind);
  }

  /** A Job whose pods end before anybody hears of their start is never shown as running. */
  progress(before: Job, job: Job, { cluster, epoch }: StatusReport, finished: boolean): void {
    const { metrics, phases } = this.#options;
    const place = { cluster, queue: phases.assignmentOf(before)?.queue ?? "" };
    if (hasPods(job) && !hasPods(before)) {
      this.#transition(job, { cluster, epoch }, "Job running");
      if (epoch === 1) metrics?.started(place, this.#ageSeconds(job));
    }
    if (!finished) return;
    this.#transition(job, { cluster, epoch }, "Job finished");
    metrics?.finished(place, isComplete(job) ? "succeeded" : "failed", this.#ageSeconds(job));
  }

  letGo(job: Job): void {
    this.#log(job, "Job let go");
  }

  statusRefused(job: Job, { cluster }: StatusReport, problems: readonly string[]): void {
    this.#options.onRefused?.(cluster, "report/invalid");
    this.#options.logger.warn({ uid: uidOf(job), cluster, problems }, "status refused");
    const text = `Cluster ${cluster} reported an impossible status: ${problems.join("; ")}`;
    this.warn(job, "StatusRejected", text);
  }

  reportDropped(uid: HubUid, { cluster }: StatusReport, why: string): void {
    this.#options.onRefused?.(cluster, "report/stale");
    this.#options.logger.debug({ uid, cluster, why }, "report dropped");
  }

  /** The hub's API server did not store a status as it was reported. */
  statusChanged(job: Job, { cluster }: StatusReport, what: string): void {
    const { logger, hubVersion } = this.#options;
    const hub = hubVersion === undefined ? "The hub" : `The hub (Kubernetes ${hubVersion})`;
    this.warn(job, "StatusRejected", `Status reported by cluster ${cluster}: ${hub} ${what}`);
    logger.warn({ uid: uidOf(job), cluster, hubVersion, what }, "the hub did not take a status as it is");
  }

  releaseNotSent(uid: HubUid, error: unknown): void {
    this.#options.logger.debug({ uid, error }, "release not sent");
  }

  #event(job: Job, type: "Normal" | "Warning", reason: string, text: string): void {
    this.#options.recorder.record(jobResource, job, type, reason, text);
  }

  #transition(job: Job, { cluster, epoch }: Place, what: string): void {
    this.#log(job, what, { cluster, epoch });
  }

  #log(job: Job, what: string, more: object = {}): void {
    const { namespace, name } = job.metadata;
    this.#options.logger.info({ uid: uidOf(job), job: `${namespace}/${name}`, ...more }, what);
  }

  #ageSeconds({ metadata: { creationTimestamp = "" } }: Job): number {
    const since = Date.parse(creationTimestamp);
    return Number.isNaN(since) ? 0 : Math.max(0, this.#options.clock.now() - since) / 1000;
  }
}

const hasPods = ({ status }: Job): boolean => (status?.active ?? 0) > 0;

const TRANSITIONS = {
  refused: "Job refused",
  "handed-over": "Job withdrawn",
  unschedulable: "Job left a cluster without a node for it",
  preempted: "Job displaced",
  removed: "Job left a cluster that was removed",
  lost: "Job left a lost cluster",
} as const;

const DELIVERED = { run: "Job delivered", delete: "Job's deletion delivered", "hand-over": "Job asked back" } as const;

/** Why a Job is no longer on its cluster, for its message. */
export function departureText(why: Departure, cluster: string): string {
  switch (why.kind) {
    case "refused":
      return `cluster ${cluster} refused the Job: ${why.text}`;
    case "handed-over":
      return `handed over by ${cluster}`;
    case "unschedulable":
      return `no node of cluster ${cluster} took its pods: ${why.text}`;
    case "preempted":
      return `displaced from ${cluster}: ${why.text}`;
    case "removed":
      return `cluster ${cluster} was removed from the fleet`;
    case "lost":
      return `cluster ${cluster} is lost`;
  }
}

/** The same while it is on its way out. */
export const askedBackText = (leaving: Leaving, cluster: string): string =>
  `asked back from ${cluster}: ${departureText(leaving, cluster)}`;
