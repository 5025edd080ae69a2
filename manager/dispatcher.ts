import type { Job } from "@jobferry/shared/job/types.ts";
import { ApiError, isConflict, isInvalid, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { jobs as jobResource } from "@jobferry/shared/kube/resources.ts";
import type { ProcessResult } from "@jobferry/shared/kube/workqueue.ts";
import { ProtocolError } from "@jobferry/shared/protocol/errors.ts";
import { DEFAULT_QUEUE, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { suspendedStatus } from "./claim/held.ts";
import { type Assignment, isHeldByUs, nextEpoch, phaseOf, propagationOf, uidOf } from "./claim/hub-job.ts";
import { LossPolicy } from "./clusters/loss-policy.ts";
import type { Clusters } from "./clusters/registry.ts";
import { SILENT_AFTER_MS } from "./clusters/silence.ts";
import type { Desired, Outbox } from "./delivery/outbox.ts";
import { Refusals } from "./delivery/refusals.ts";
import type { Hub } from "./hub.ts";
import type { HubCache } from "./hub-cache.ts";
import type { Inbox } from "./mirror/inbox.ts";
import { Mirroring } from "./mirror/mirroring.ts";
import { IntakeQueue } from "./placement/intake-queue.ts";
import { needsOf } from "./placement/needs.ts";
import { Placer } from "./placement/placer.ts";
import type { Queues } from "./placement/queues.ts";
import { WaitingReasons } from "./placement/waiting-reasons.ts";

/** What the hub refuses once it refuses until the Job is changed; that is seen at once. */
const NOT_ACCEPTED_MS = 10 * 60_000;

/** The annotations or the Job as a whole have no room left for ours. */
const isNotAccepted = (error: unknown): error is ApiError =>
  error instanceof ApiError && (isInvalid(error) || error.code === 413 || /request is too large/.test(error.message));

export interface DispatcherOptions {
  hub: Hub;
  cache: HubCache;
  clusters: Clusters;
  queues: Queues;
  outbox: Outbox;
  inbox: Inbox;
  recorder: Pick<EventRecorder, "record">;
  logger: Logger;
  clock: Clock;
  /** Puts the Job into the intake queue in Redis; it comes back through `intake.admit`. */
  enqueue(uid: HubUid, priority: number): Promise<void>;
  /** Asks for another look at this Job. */
  again(uid: HubUid, afterMs?: number): void;
  /** How long a cluster that does not answer may hold up a deletion. */
  deletionBoundMs: number;
  hubVersion?: string | undefined;
  /** A report was not acted upon. */
  onRefused?: ((cluster: string, code: string) => void) | undefined;
}

/**
 * Brings one hub Job a step nearer to what should be, from what is stored on it and what was reported (the phases are
 * described in claim/hub-job.ts). Called again after every change of the Job, its cluster or its reports; a step that has
 * been taken before changes nothing.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly placer: Placer;
  readonly #refusals = new Refusals();
  readonly #mirroring: Mirroring;
  readonly #lossPolicy: LossPolicy;
  readonly intake: IntakeQueue;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#mirroring = new Mirroring(options);
    this.#lossPolicy = new LossPolicy(options.clusters, options.queues);
    const reasons = new WaitingReasons(options);
    this.placer = new Placer({
      clock: options.clock,
      clusters: options.clusters,
      queues: options.queues,
      assign: (uid, cluster) => this.#assign(uid, cluster),
      explain: (uid, message, never) => {
        const job = options.cache.byUid(uid);
        if (job !== undefined) reasons.say(job, message, never);
      },
    });
    this.intake = new IntakeQueue({ ...options, placer: this.placer, reasons });
  }

  async reconcile(uid: HubUid): Promise<ProcessResult> {
    const job = this.#options.cache.byUid(uid);
    if (job === undefined) return this.#forget(uid);
    const phase = phaseOf(job);
    if (phase.phase !== "waiting") this.intake.leave(uid);
    switch (phase.phase) {
      case "foreign":
        return this.#forget(uid);
      case "held":
        return this.#suspend(job);
      case "waiting":
        return this.intake.enter(job);
      case "assigned":
        return this.#tend(job, phase.assignment);
      case "finished":
        return this.#finished(job, phase.assignment);
      case "deleting":
        return this.#withdraw(job, phase.assignment);
    }
  }

  /** Counts a Job that a predecessor assigned, before anything is placed beside it. */
  recall(job: Job): void {
    const phase = phaseOf(job);
    if ((phase.phase === "assigned" || phase.phase === "deleting") && phase.assignment !== undefined)
      this.#hold(job, phase.assignment);
  }

  #hold(job: Job, { cluster, stopAfterSeconds: stopAfter }: Assignment): void {
    this.#options.clusters.holds(cluster, uidOf(job), stopAfter !== undefined);
    this.#options.queues.holds(job.metadata.labels?.[QUEUE_LABEL] ?? DEFAULT_QUEUE, uidOf(job), needsOf(job));
  }

  async #suspend(job: Job): Promise<void> {
    const status = suspendedStatus(job, this.#options.clock.now());
    if (status !== undefined) this.#options.cache.wrote(await this.#options.hub.writeStatus(job, status, undefined));
  }

  /** Runs when the placer has chosen: the assignment is stored first, the delivery follows from it. */
  async #assign(uid: HubUid, cluster: ClusterName): Promise<boolean> {
    const { cache, hub, recorder, logger, again } = this.#options;
    const job = cache.byUid(uid);
    if (job === undefined || phaseOf(job).phase !== "waiting") return false;
    const assignment: Assignment = { cluster, epoch: nextEpoch(job), ...this.#lossPolicy.stopTime(job, cluster) };
    const message = `dispatched to ${cluster}`;
    try {
      cache.wrote(await hub.assign(job, assignment, message));
    } catch (error) {
      // Somebody was faster, or nobody knows: what is stored decides, and that is looked at again.
      if (!isConflict(error) && !isNotFound(error))
        logger.warn({ error, uid, cluster }, "assignment not stored, will retry");
      this.intake.startOver(uid);
      again(uid, isConflict(error) ? 0 : isNotAccepted(error) ? NOT_ACCEPTED_MS : 1000);
      if (isNotAccepted(error)) {
        const text = `The hub does not accept the marks of dispatch on this Job: ${error.message}`;
        recorder.record(jobResource, job, "Warning", "DispatchFailed", text);
      }
      return false;
    }
    const verb = assignment.epoch === 1 ? "Dispatched" : "Redispatched";
    recorder.record(jobResource, job, "Normal", verb, `${verb} to cluster ${cluster} (epoch ${assignment.epoch})`);
    again(uid);
    return true;
  }

  async #tend(job: Job, assignment: Assignment): Promise<ProcessResult> {
    const { clusters, outbox, recorder } = this.#options;
    this.#hold(job, assignment);
    const current = await this.#mirroring.mirror(job, assignment);
    if (phaseOf(current).phase === "finished") return this.#finished(current, assignment);
    const moved = await this.#moveOn(current, assignment);
    if (moved || clusters.isRebuilt(assignment.cluster)) return;
    const desired: Desired = clusters.isDraining(assignment.cluster) ? { desired: "hand-over" } : { desired: "run" };
    try {
      await outbox.deliver(current, assignment, desired);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      // Trying again cannot help: the Job has grown too large for a message since it was assigned.
      const text = `Cluster ${assignment.cluster} cannot be told of this Job: ${error.message}`;
      recorder.record(jobResource, job, "Warning", "DispatchFailed", text);
    }
  }

  /** assigned -> waiting, for each of the reasons there are. */
  async #moveOn(job: Job, assignment: Assignment): Promise<boolean> {
    const { clusters, recorder, inbox } = this.#options;
    const { cluster } = assignment;
    const uid = uidOf(job);
    const { answer } = inbox.peek(uid);
    const isAnswer = answer !== undefined && answer.cluster === cluster && answer.epoch === assignment.epoch;
    if (isAnswer && answer.kind === "refused") {
      const text = `${answer.reason}: ${answer.message}`;
      await this.#unassign(job, assignment, `cluster ${cluster} refused the Job: ${text}`);
      const { retryAfterMs } = this.#refusals.note(uid, cluster, answer.reason);
      this.placer.refuse(uid, cluster, text, retryAfterMs);
      this.#options.again(uid, retryAfterMs);
      recorder.record(jobResource, job, "Warning", "DispatchFailed", `Cluster ${cluster} refused the Job: ${text}`);
      return true;
    }
    if (isAnswer) return this.#unassign(job, assignment, `handed over by ${cluster}`);
    if (answer !== undefined) inbox.done(uid, { answer });
    if (!clusters.has(cluster)) return this.#unassign(job, assignment, `cluster ${cluster} was removed from the fleet`);
    if (!this.#lossPolicy.mayLeave(job, assignment)) return false;
    recorder.record(
      jobResource,
      job,
      "Warning",
      "ClusterLost",
      `No contact with cluster ${cluster}; the Job is placed anew`,
    );
    return this.#unassign(job, assignment, `cluster ${cluster} is lost`);
  }

  async #unassign(job: Job, { cluster }: Assignment, message: string): Promise<boolean> {
    const uid = uidOf(job);
    this.#options.cache.wrote(await this.#options.hub.unassign(job, message));
    this.#release(uid, cluster);
    this.#options.inbox.forget(uid);
    this.#options.outbox.doubt(uid);
    this.#options.again(uid);
    return true;
  }

  async #finished(job: Job, assignment: Assignment | undefined): Promise<void> {
    const { cache, hub, inbox } = this.#options;
    const uid = uidOf(job);
    if (assignment !== undefined) this.#release(uid, assignment.cluster);
    this.#refusals.forget(uid);
    this.placer.forget(uid);
    inbox.forget(uid);
    if (isHeldByUs(job)) cache.wrote(await hub.release(job));
  }

  async #withdraw(job: Job, assignment: Assignment | undefined): Promise<ProcessResult> {
    const { cache, clusters, hub, inbox, outbox, deletionBoundMs } = this.#options;
    const uid = uidOf(job);
    if (assignment !== undefined && clusters.has(assignment.cluster)) {
      this.#hold(job, assignment);
      const current = await this.#mirroring.mirror(job, assignment);
      const { answer } = inbox.peek(uid);
      const isGone = answer?.epoch === assignment.epoch && answer.cluster === assignment.cluster;
      // Not the loss timer, which stands still when all clusters are silent: the user's deletion does not.
      const isHeard = clusters.isConnected(assignment.cluster);
      if (!isGone && (isHeard || clusters.unheardMs(assignment.cluster) < deletionBoundMs)) {
        await outbox.deliver(current, assignment, { desired: "delete", propagationPolicy: propagationOf(job) });
        return { requeueAfterMs: isHeard ? SILENT_AFTER_MS : 1_000 };
      }
      job = current;
    }
    // Gone already: somebody took our finalizer away, or our first release was applied and not answered.
    const released = await hub.release(job).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    if (assignment !== undefined) this.#release(uid, assignment.cluster);
    if (released !== undefined) cache.wrote(released);
  }

  #release(uid: HubUid, cluster: ClusterName): void {
    this.#options.clusters.letGo(cluster, uid);
    this.#options.queues.letGo(uid);
    this.placer.changed();
  }

  #forget(uid: HubUid): void {
    const { clusters, queues, inbox, outbox } = this.#options;
    this.intake.leave(uid);
    this.#refusals.forget(uid);
    this.placer.forget(uid);
    for (const name of clusters.names()) clusters.letGo(name, uid);
    queues.letGo(uid);
    inbox.forget(uid);
    outbox.doubt(uid);
    this.#options.cache.forget(uid);
  }
}
