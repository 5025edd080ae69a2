import type { Job } from "@jobferry/shared/job/types.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { jobs as jobResource } from "@jobferry/shared/kube/resources.ts";
import type { AssignmentRef } from "@jobferry/shared/protocol/delivery.ts";
import { RoundCollector } from "@jobferry/shared/protocol/inventory.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { Health } from "../clusters/health.ts";
import type { JobHealth } from "../clusters/job-health.ts";
import { Paced } from "../clusters/paced.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { HubJobs } from "../hub/jobs.ts";
import { type Phases, uidOf } from "../hub/phase.ts";
import { shiftTimes } from "../hub/times.ts";
import type { PodSide } from "../pods/pod-side.ts";
import type { StatusReport } from "./accept.ts";
import type { Inbox } from "./inbox.ts";

export interface ReportsOptions {
  readonly jobs: Pick<HubJobs, "byUid" | "onCluster">;
  readonly phases: Phases;
  readonly inbox: Inbox;
  readonly outbox: Outbox;
  readonly recorder: Pick<EventRecorder, "record">;
  readonly logger: Logger;
  /** The cluster says that what it refused the Job for is mended; whether it had refused it. */
  mended(uid: HubUid, cluster: Cluster): boolean;
  /** The same of all that it refused. Returns those. */
  mendedAll(cluster: Cluster): readonly HubUid[];
  /** Sends what the agent lacks of its Job. */
  asked(job: Job, ask: Extract<Report, { kind: "ask" }>): Promise<void>;
  /** The Job is looked at again. `resend`: what was sent about it may not have arrived. */
  enqueue(uid: HubUid, resend: boolean): void;
  /** A report was not acted upon. */
  readonly onRefused?: ((cluster: string, code: string) => void) | undefined;
  /** The agent has introduced itself, or is heard again. */
  connected(cluster: Cluster): Promise<void>;
  /** The cluster's figures may have changed. */
  reconsider(cluster: Cluster): void;
  readonly transport: Pick<ManagerTransport, "sendDelivery">;
  readonly clock: Clock;
  readonly health?: Pick<JobHealth, "warned"> | undefined;
  /** Undefined: pods are not shown on the hub. */
  readonly pods?: Pick<PodSide, "reported" | "inventory"> | undefined;
}

type Mirror = Extract<Report, { kind: "inventory" }>["mirrors"][number];
type About = Extract<Report, { kind: "status" | "refused" | "withdrawn" | "newer" | "event" | "pods" }>;

/** Each makes us look at all Jobs of the cluster: an agent that says hello all the time gets no more of us than this. */
const PACE_MS = 5_000;

/** What the manager does with each kind of report. Who sent it is known; whether the Job is the sender's is checked here. */
export class Reports {
  readonly #options: ReportsOptions;
  readonly #rounds = new WeakMap<Cluster, RoundCollector<Mirror>>();

  readonly #greetings: Paced<Cluster>;
  readonly #inventories: Paced<Cluster>;

  constructor(options: ReportsOptions) {
    this.#options = options;
    this.#greetings = new Paced(options.clock, PACE_MS);
    this.#inventories = new Paced(options.clock, PACE_MS);
  }

  stop(): void {
    this.#greetings.stop();
    this.#inventories.stop();
  }

  async handle(cluster: Cluster, report: Report): Promise<void> {
    if (report.kind === "hello" || report.kind === "heartbeat") return this.#contact(cluster, report);
    // A rebuilt cluster has nothing to say about Jobs that were given to its predecessor.
    if (cluster.isRebuilt) return;
    cluster.signOfLife();
    if (report.kind === "inventory") return this.#inventory(cluster, report);
    if (report.kind === "available") return this.#available(cluster, report.jobs);
    if (report.kind === "pods-inventory") return this.#options.pods?.inventory(cluster, report);
    this.#saw(report);
    const job = this.#jobOf(cluster, report);
    if (job === undefined) this.#options.onRefused?.(cluster.name, "report/not-its-job");
    else if (report.kind === "ask") await this.#options.asked(job, report);
    else this.#about(cluster, job, report);
  }

  async #contact(cluster: Cluster, report: Health): Promise<void> {
    const { connected, reconsider, onRefused, logger, mendedAll, enqueue } = this.#options;
    const wasConnected = cluster.isConnected;
    const verdict = cluster.contact(report);
    if (verdict === "repeated") {
      onRefused?.(cluster.name, "report/repeated");
      return;
    }
    await this.#challenge(cluster, report);
    if (verdict !== "fresh") return;
    // One that was started anew has forgotten what it refused, and may have other settings.
    if (report.kind === "hello") for (const uid of mendedAll(cluster)) enqueue(uid, false);
    if (report.kind === "hello" || (!wasConnected && cluster.isConnected))
      await this.#greetings.run(cluster, () =>
        connected(cluster).catch((error: unknown) => logger.warn({ error, cluster: cluster.name }, "not greeted")),
      );
    reconsider(cluster);
  }

  /** Sooner or later it says something again, and is asked again. */
  async #challenge(cluster: Cluster, report: Health): Promise<void> {
    const { transport, logger } = this.#options;
    const challenge = cluster.challenge(report);
    if (challenge === undefined) return;
    await transport
      .sendDelivery(cluster.name, { kind: "challenge", ...challenge })
      .catch((error: unknown) => logger.debug({ error, cluster: cluster.name }, "challenge not sent"));
  }

  #available(cluster: Cluster, jobs: readonly HubUid[]): void {
    const { mended, enqueue } = this.#options;
    for (const uid of jobs) if (mended(uid, cluster)) enqueue(uid, false);
  }

  #about(cluster: Cluster, job: Job, report: About): void {
    const { inbox, enqueue } = this.#options;
    switch (report.kind) {
      case "status":
        if (this.#take(cluster, job, report, report)) enqueue(report.uid, false);
        return;
      case "refused":
      case "withdrawn":
        if (report.last !== undefined && !this.#take(cluster, job, report, report.last)) return;
        break;
      case "event":
        this.#warned(cluster, job, report);
        return;
      case "pods":
        this.#options.pods?.reported(cluster, report);
        return;
      case "newer":
        break;
    }
    inbox.answer(report.uid, { ...report, cluster: cluster.name });
    enqueue(report.uid, false);
  }

  /** False: its number is beyond what the cluster's API server can have reached. After it, every true report would look old. */
  #take(
    cluster: Cluster,
    job: Job,
    { uid, epoch }: AssignmentRef,
    { seq, status }: Pick<StatusReport, "seq" | "status">,
  ): boolean {
    const { inbox, recorder, logger, onRefused } = this.#options;
    const { name, clusterID, plausibleSeq, aheadMs } = cluster;
    if (seq <= plausibleSeq) {
      cluster.recentSeq.note(seq);
      inbox.status(uid, { cluster: name, clusterID, epoch, seq, status: shiftTimes(status, -aheadMs) });
      return true;
    }
    onRefused?.(name, "report/invalid");
    logger.warn({ uid, cluster: name, seq, highest: plausibleSeq }, "report refused: its number is too high");
    const text = `Cluster ${name} numbered a report ${seq}, which its API server cannot have reached; it was not used`;
    recorder.record(jobResource, job, "Warning", "StatusRejected", text);
    return false;
  }

  #warned(cluster: Cluster, job: Job, report: Extract<Report, { kind: "event" }>): void {
    const { unschedulable, uid, epoch, warnings } = report;
    if (unschedulable === undefined) {
      this.#forward(cluster, job, report);
      return;
    }
    // The scheduler's own event has been passed on.
    const stuck = { cluster: cluster.name, epoch, ms: unschedulable.seconds * 1000, text: warnings[0]?.message ?? "" };
    this.#options.inbox.stuck(uid, stuck);
    this.#options.enqueue(uid, false);
  }

  #forward(cluster: Cluster, job: Job, report: Extract<Report, { kind: "event" }>): void {
    const { name } = cluster;
    for (const { reason, message, count, regarding } of report.warnings) {
      this.#options.health?.warned(cluster, job, reason, message);
      const text = `[${name}] ${regarding.kind} ${regarding.name}: ${message}`;
      this.#options.recorder.record(jobResource, job, "Warning", reason, text, count);
    }
  }

  #saw({ uid, epoch }: AssignmentRef): void {
    const job = this.#options.jobs.byUid(uid);
    if (job !== undefined) this.#options.phases.saw(job, epoch);
  }

  /** The Job, if it is this cluster's in this epoch. */
  #jobOf({ name }: Cluster, { uid, epoch }: AssignmentRef): Job | undefined {
    const job = this.#options.jobs.byUid(uid);
    const assignment = job === undefined ? undefined : this.#options.phases.assignmentOf(job);
    return assignment?.cluster === name && assignment.epoch === epoch ? job : undefined;
  }

  async #inventory(cluster: Cluster, report: Extract<Report, { kind: "inventory" }>): Promise<void> {
    const collector = this.#rounds.get(cluster) ?? new RoundCollector<Mirror>();
    this.#rounds.set(cluster, collector);
    for (const mirror of report.mirrors) this.#saw(mirror);
    // Only what was given to this cluster is kept, each once: however much an agent makes up, it costs no memory.
    const items = report.mirrors.filter((mirror) => this.#isGivenTo(cluster, mirror));
    const mirrors = collector.add({ ...report, items });
    if (mirrors !== undefined) await this.#inventories.run(cluster, () => this.#compare(cluster, mirrors));
  }

  #isGivenTo({ name }: Cluster, { uid }: AssignmentRef): boolean {
    const job = this.#options.jobs.byUid(uid);
    return job !== undefined && this.#options.phases.assignmentOf(job)?.cluster === name;
  }

  /** Assignments that are not yet as they should be are delivered again, mirrors of finished Jobs may go. */
  async #compare(cluster: Cluster, mirrors: readonly Mirror[]): Promise<void> {
    const { outbox, jobs, phases, enqueue } = this.#options;
    const present = new Map(mirrors.map((mirror) => [mirror.uid, mirror]));
    for (const job of jobs.onCluster(cluster.name)) {
      const uid = uidOf(job);
      if (cluster.isDraining || !this.#isAsDelivered(job, present.get(uid))) enqueue(uid, true);
    }
    for (const { uid, epoch } of mirrors) {
      const job = jobs.byUid(uid);
      if (job === undefined || phases.of(job).phase !== "finished") continue;
      const assignment = phases.assignmentOf(job);
      if (assignment?.epoch === epoch && assignment.cluster === cluster.name) await outbox.release(uid, assignment);
    }
  }

  /** The mirror stands where the hub Job's last delivery wants it. */
  #isAsDelivered(job: Job, mirror: Mirror | undefined): boolean {
    return (
      mirror !== undefined &&
      mirror.epoch === this.#options.phases.assignmentOf(job)?.epoch &&
      mirror.generation === (job.metadata.generation ?? 0) &&
      job.metadata.deletionTimestamp === undefined
    );
  }
}
