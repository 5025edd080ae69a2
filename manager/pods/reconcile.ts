import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { isPodTerminal } from "@jobferry/shared/job/pods.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { ApiError, isAlreadyExists, isConflict, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { jobs as jobResource } from "@jobferry/shared/kube/resources.ts";
import { type MeasureQueue, type ProcessResult, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { TokenBucket } from "@jobferry/shared/runtime/token-bucket.ts";
import type { Clusters } from "../clusters/clusters.ts";
import type { HubJobs } from "../hub/jobs.ts";
import type { Phases } from "../hub/phase.ts";
import { decideShadows, isTerminalStatus, LATE_REPORT_MS, type ShadowFacts, type ShadowWrite } from "./decide.ts";
import { workerPodUid } from "./projection.ts";
import type { Reported, ReportedPods } from "./reported.ts";
import type { PodSettings } from "./settings.ts";
import { ShadowEvents } from "./shadow-events.ts";
import type { Shadows } from "./shadows.ts";
import { ShownEnds } from "./shown-ends.ts";

export interface ShadowReconcilerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly jobs: Pick<HubJobs, "byUid">;
  readonly phases: Phases;
  readonly clusters: Clusters;
  readonly shadows: Shadows;
  readonly reported: Reported;
  readonly transport: Pick<ManagerTransport, "sendDelivery">;
  readonly recorder: Pick<EventRecorder, "record">;
  readonly settings: PodSettings;
  readonly queueMetrics?: MeasureQueue | undefined;
  /** How many pods of this Job are shown at most. */
  shadowPodsOf(job: Job): number;
  /** All pods of a Job are shown to have ended. */
  onEndShown(uid: HubUid): void;
}

/** In a flood of Jobs a shadow is written when its pod exists: writes before that would take the room of dispatch itself. */
const EARLY = { perSecond: 50, burst: 100 };
/** A Job that was left out then and still waits gets its shadow later; never in the place of one that is new. */
const EARLY_AGAIN = { perSecond: 10, burst: 20 };
const EARLY_AGAIN_MS = 3_000;
/** Writes at a time. Where the API server is slow, dispatch has more of it than shadows do. */
const CONCURRENCY = 4;
/** Clients look for pods as soon as they have created a Job, and read their logs as soon as it ends: neither waits for others. */
const NEW_JOBS = { reserved: 4, forMs: 1_000 };
/** What the hub refuses once it goes on refusing: quota, admission, a name. */
const REFUSED_MS = 10 * 60_000;
const CONFLICT_MS = 500;
const MAX_ROUNDS = 6;
const CREATES_AT_ONCE = 8;
const TAKEN_TRIES = 5;

/** Brings the shadow pods of one Job to where they should be. The only code that writes them, and never twice at a time for one Job. */
export class ShadowReconciler {
  readonly #options: ShadowReconcilerOptions;
  readonly #early: TokenBucket;
  readonly #earlyAgain: TokenBucket;
  readonly queue: WorkQueue;
  /** Until when a Job's shadows are left alone, because the hub will not have them. */
  readonly #refused = new Map<HubUid, number>();
  /** Jobs that may have shadows before their pods, and those that have to wait. */
  readonly #mayBeEarly = new Map<HubUid, boolean>();
  readonly #limited = new Set<HubUid>();
  readonly #events: ShadowEvents;
  readonly #ends: ShownEnds;
  readonly #since: number;

  constructor(options: ShadowReconcilerOptions) {
    this.#options = options;
    const { clock, logger, queueMetrics } = options;
    this.#since = clock.now();
    this.#early = new TokenBucket(clock, EARLY);
    this.#events = new ShadowEvents(options.recorder, clock);
    this.#ends = new ShownEnds(clock, (uid) => options.onEndShown(uid));
    this.#earlyAgain = new TokenBucket(clock, EARLY_AGAIN);
    this.queue = new WorkQueue({
      ...{ name: "shadow-pods", clock, logger, concurrency: CONCURRENCY, urgent: NEW_JOBS },
      backoff: { baseMs: 250, maxMs: 30_000 },
      process: (uid) => this.#reconcile(uid as HubUid),
      metrics: queueMetrics,
    });
  }

  /** The Job, its cluster or one of its shadows changed. */
  changed(uid: HubUid): void {
    if (this.#mayBeEarly.has(uid) && !this.#ends.isHeld(uid)) this.queue.add(uid);
    else this.queue.addUrgent(uid);
  }

  /** How long the end of this Job is kept back for its shadows, which go before those of others from now on. */
  endHeldMs(uid: HubUid): number {
    const isNew = !this.#ends.isHeld(uid);
    const heldMs = this.#ends.heldMs(uid);
    if (isNew && heldMs > 0) this.queue.addUrgent(uid);
    return heldMs;
  }

  async #reconcile(uid: HubUid): Promise<ProcessResult> {
    const { jobs, clock } = this.#options;
    const leftMs = (this.#refused.get(uid) ?? 0) - clock.monotonic();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const job = jobs.byUid(uid);
      const writes = job === undefined ? this.#ofNobody(uid) : decideShadows(job, this.#facts(uid, job));
      const due = leftMs > 0 ? writes.filter(({ write }) => write === "remove") : writes;
      if (due.length === 0) {
        if (job === undefined) this.#forget(uid);
        else return this.#settled(uid, job, leftMs);
        return;
      }
      for (const group of groupsOf(due)) {
        const results = await Promise.all(group.map((write) => this.#perform(uid, job, write)));
        const result = results.find((each) => each !== undefined);
        if (result !== undefined) return result;
      }
      // Told once; it goes when its pod has.
      if (due.every(({ write }) => write === "delete-on-worker")) return;
    }
    return { requeueAfterMs: CONFLICT_MS };
  }

  #settled(uid: HubUid, job: Job, leftMs: number): ProcessResult {
    const report = this.#options.reported.get(uid);
    if (report !== undefined) this.#tellEvents(uid, report);
    this.#ends.settled(uid, leftMs > 0 || report?.pods.every(({ status }) => isTerminalStatus(status)) === true);
    if (report?.more === true && !this.#limited.has(uid)) {
      this.#limited.add(uid);
      const text = `The hub shows ${report.pods.length} of its pods, those that failed first; the others are on cluster ${report.cluster}`;
      this.#options.recorder.record(jobResource, job, "Normal", "ShadowPodsLimited", text);
    }
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    if (
      report === undefined &&
      isFinished(job) &&
      this.#options.shadows.of(uid).some((shadow) => !workerPodUid(shadow) || !isPodTerminal(shadow))
    )
      return { requeueAfterMs: LATE_REPORT_MS };
    if (this.#mayBeEarly.get(uid) === false && report === undefined && !isFinished(job))
      return { requeueAfterMs: EARLY_AGAIN_MS };
  }

  #tellEvents(uid: HubUid, { cluster, pods }: ReportedPods): void {
    if (!pods.some(({ events }) => events !== undefined)) return;
    const byPod = new Map(this.#options.shadows.of(uid).map((shadow) => [workerPodUid(shadow), shadow]));
    for (const pod of pods) {
      const shadow = byPod.get(pod.uid);
      if (shadow !== undefined) this.#events.tell(shadow, cluster, pod);
    }
  }

  /** The Job is gone: what the garbage collector marked is ended, since nobody else does. */
  #ofNobody(uid: HubUid): ShadowWrite[] {
    return this.#options.shadows
      .of(uid)
      .filter(
        ({ metadata }) => metadata.deletionTimestamp !== undefined || (metadata.ownerReferences ?? []).length === 0,
      )
      .map((shadow) => ({ write: "remove", shadow }));
  }

  #facts(uid: HubUid, job: Job): ShadowFacts {
    const { phases, clusters, shadows, reported, shadowPodsOf } = this.#options;
    const phase = phases.of(job);
    const assignment = "assignment" in phase ? phase.assignment : undefined;
    const cluster = assignment === undefined ? undefined : clusters.get(assignment.cluster);
    const own = shadows.of(uid);
    return {
      phase,
      cap: shadowPodsOf(job),
      shadows: own,
      report: reported.get(uid),
      now: this.#options.clock.now(),
      since: this.#since,
      isLost: cluster?.silence.isLost === true && phase.phase === "assigned",
      mayBeEarly: this.#isEarly(uid, phase.phase, own.length),
      sawDeletion: (shadow) => shadows.sawDeletion(shadow),
      wasRemoved: (podUid) => shadows.wasRemoved(podUid),
    };
  }

  /** Asked once per Job and again while it waits; the answer holds, so that a Job of many pods takes one turn. */
  #isEarly(uid: HubUid, phase: string, has: number): boolean {
    if (this.#mayBeEarly.get(uid) === true) return true;
    if (phase !== "waiting" && phase !== "assigned") return false;
    if (has > 0) return true;
    const { shadows, settings } = this.#options;
    const bucket = this.#mayBeEarly.has(uid) ? this.#earlyAgain : this.#early;
    const may = shadows.early < settings.maxEarlyShadows && bucket.tryTake();
    this.#mayBeEarly.set(uid, may);
    return may;
  }

  async #perform(uid: HubUid, job: Job | undefined, write: ShadowWrite): Promise<ProcessResult> {
    const { shadows } = this.#options;
    try {
      switch (write.write) {
        case "create":
          await shadows.create(uid, write.pod);
          return;
        case "status":
          await shadows.writeStatus(uid, write.shadow, write);
          return;
        case "remove":
          await shadows.remove(uid, write.shadow);
          return;
        case "delete-on-worker":
          await this.#deleteOnWorker(uid, job, write);
          return;
      }
    } catch (error) {
      return this.#failed(uid, job, write, error);
    }
  }

  async #deleteOnWorker(
    uid: HubUid,
    job: Job | undefined,
    { shadow, pod }: Extract<ShadowWrite, { write: "delete-on-worker" }>,
  ): Promise<void> {
    const { phases, transport } = this.#options;
    const assignment = job === undefined ? undefined : phases.assignmentOf(job);
    if (assignment === undefined) return;
    const { cluster, epoch } = assignment;
    const gracePeriodSeconds = Math.max(1, shadow.metadata.deletionGracePeriodSeconds ?? 1);
    const { name, uid: podUid } = pod;
    await transport.sendDelivery(cluster, {
      kind: "delete-pod",
      uid,
      epoch,
      pod: { name, uid: podUid },
      gracePeriodSeconds,
    });
  }

  /** Whatever becomes of a shadow, the Job goes on. */
  #failed(uid: HubUid, job: Job | undefined, { write }: ShadowWrite, error: unknown): ProcessResult {
    if (isConflict(error) || isNotFound(error)) return { requeueAfterMs: CONFLICT_MS };
    if (!(error instanceof ApiError) || error.code === 0 || error.code === 429 || error.code >= 500) throw error;
    const isTaken = isAlreadyExists(error);
    // It may be ours, created by a request that was not answered: the watch will show it.
    if (isTaken && this.queue.failures(uid) < TAKEN_TRIES) throw error;
    const why = isTaken ? "another pod has the name" : error.message;
    const { recorder, logger, clock } = this.#options;
    logger.warn({ uid, write, error: error.message }, "the hub refused a shadow pod");
    if (job !== undefined) {
      const text = `The hub does not take the shadow of a pod of this Job, which runs all the same: ${why}`;
      recorder.record(jobResource, job, "Warning", "ShadowPodRefused", text);
    }
    this.#refused.set(uid, clock.monotonic() + REFUSED_MS);
    return { requeueAfterMs: REFUSED_MS };
  }

  #forget(uid: HubUid): void {
    this.#options.reported.forget(uid);
    this.#options.shadows.forget(uid);
    this.#refused.delete(uid);
    this.#mayBeEarly.delete(uid);
    this.#limited.delete(uid);
    this.#ends.forget(uid);
  }
}

/** In their order, one by one; but shadows that are made are made at once, some at a time. */
function groupsOf(writes: readonly ShadowWrite[]): ShadowWrite[][] {
  const groups: ShadowWrite[][] = [];
  for (const write of writes) {
    const last = groups.at(-1);
    const joins = write.write === "create" && last?.[0]?.write === "create" && last.length < CREATES_AT_ONCE;
    if (joins) last.push(write);
    else groups.push([write]);
  }
  return groups;
}
