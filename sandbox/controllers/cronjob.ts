import { isComplete, isFinished } from "@jobferry/shared/job/conditions.ts";
import { CRONJOB_SCHEDULED_TIMESTAMP } from "@jobferry/shared/job/keys.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject } from "@jobferry/shared/kube/api.ts";
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import { type Clock, timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { EventSink } from "../nodes/events.ts";
import { parseSchedule, type Schedule, ScheduleError, zonedTimestamp } from "./cron-schedule.ts";
import { beyondHistory, reviewActive } from "./cronjob-history.ts";
import { type CronJob, cronJobs, type ObjectReference } from "./resources.ts";

export interface CronJobControllerOptions {
  api: KubeApi;
  clock: Clock;
  /** Shared with other controllers; indexed by controlling owner under `OWNER_INDEX`. */
  jobs: Reflector<Job>;
  events: EventSink<KubeObject>;
  random?: () => number;
  logger?: Logger;
}

export const OWNER_INDEX = "owner";
/** The UID of the object that controls this one. */
export const ownerIndexer = (object: KubeObject): string[] =>
  object.metadata.ownerReferences?.flatMap(({ controller, uid }) => (controller ? [uid] : [])) ?? [];

/** Wakes a little after the scheduled moment, so that clocks which disagree by a hair do not miss it. */
const WAKE_DELTA_MS = 100;
/** More missed runs than this earn a warning. */
const MANY_MISSED = 100;

/** Creates Jobs on schedule (CJ-1..5). */
export class CronJobController {
  readonly #options: CronJobControllerOptions;
  readonly #cronJobs: Reflector<CronJob>;
  readonly #queue: WorkQueue;

  constructor(options: CronJobControllerOptions) {
    this.#options = options;
    const { api, clock, random, logger } = options;
    this.#cronJobs = new Reflector({
      api,
      clock,
      resource: cronJobs,
      ...(random === undefined ? {} : { random }),
      ...(logger === undefined ? {} : { logger }),
    });
    this.#queue = new WorkQueue({
      name: "cronjob",
      clock,
      concurrency: 5,
      backoff: { baseMs: 1000, maxMs: 60_000 },
      process: (key) => this.#sync(key),
      ...(logger === undefined ? {} : { logger }),
    });
  }

  /** Resolves when stopped. */
  async run(signal: AbortSignal): Promise<void> {
    const enqueue = ({ metadata: { namespace, name } }: KubeObject): void => this.#queue.add(`${namespace}/${name}`);
    this.#cronJobs.addHandler({ added: enqueue, updated: (_, cronJob) => enqueue(cronJob) });
    const owner = (job: Job): void => {
      const reference = job.metadata.ownerReferences?.find(({ controller }) => controller);
      if (reference?.kind === "CronJob") this.#queue.add(`${job.metadata.namespace}/${reference.name}`);
    };
    this.#options.jobs.addHandler({ added: owner, updated: (_, job) => owner(job), deleted: owner });
    const reflecting = this.#cronJobs.start(signal);
    const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await Promise.race([Promise.all([this.#cronJobs.whenSynced(), this.#options.jobs.whenSynced()]), stopped]);
    if (!signal.aborted) this.#queue.start();
    await Promise.all([reflecting, stopped]);
    await this.#queue.stop();
  }

  async #sync(key: string): Promise<{ requeueAfterMs: number } | undefined> {
    const [namespace = "", name = ""] = key.split("/");
    const cronJob = this.#cronJobs.get(namespace, name);
    if (cronJob === undefined) return undefined;
    const children = this.#options.jobs.byIndex(OWNER_INDEX, cronJob.metadata.uid ?? "");
    const status = await this.#review(cronJob, children);
    await this.#trimHistory(cronJob, children);
    const wakeAt = await this.#runIfDue(cronJob, status);
    await this.#writeStatus(cronJob, status);
    return wakeAt === undefined
      ? undefined
      : { requeueAfterMs: Math.max(0, wakeAt - this.#options.clock.now()) + WAKE_DELTA_MS };
  }

  /** The status as the Jobs show it now. */
  async #review(cronJob: CronJob, children: readonly Job[]): Promise<NonNullable<CronJob["status"]>> {
    const { events } = this.#options;
    const review = reviewActive(cronJob, children);
    for (const job of review.unexpected)
      events(
        cronJob,
        "Warning",
        "UnexpectedJob",
        `Saw a job that the controller did not create or forgot: ${job.metadata.name}`,
      );
    for (const job of review.finished) {
      const condition = isComplete(job) ? "Complete" : "Failed";
      events(cronJob, "Normal", "SawCompletedJob", `Saw completed job: ${job.metadata.name}, condition: ${condition}`);
    }
    let { active } = review;
    for (const reference of review.missing) {
      if (await this.#exists(cronJob, reference)) continue;
      events(cronJob, "Normal", "MissingJob", `Active job went missing: ${reference.name}`);
      active = active.filter(({ uid }) => uid !== reference.uid);
    }
    const { lastSuccessfulTime } = review;
    return { ...cronJob.status, active, ...(lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }) };
  }

  /** The cache may not have seen a Job we created a moment ago. */
  async #exists(cronJob: CronJob, { name = "", uid }: ObjectReference): Promise<boolean> {
    try {
      const job = await this.#options.api.get(jobs, { namespace: cronJob.metadata.namespace ?? "", name });
      return job.metadata.uid === uid;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async #trimHistory(cronJob: CronJob, children: readonly Job[]): Promise<void> {
    for (const job of beyondHistory(cronJob, children))
      if (job.metadata.deletionTimestamp === undefined) await this.#deleteJob(cronJob, job.metadata);
  }

  async #deleteJob(cronJob: CronJob, { name = "", uid = "" }: ObjectReference): Promise<void> {
    const { api, events } = this.#options;
    const namespace = cronJob.metadata.namespace ?? "";
    try {
      await api.delete(jobs, { namespace, name }, { propagationPolicy: "Background", preconditions: { uid } });
      events(cronJob, "Normal", "SuccessfulDelete", `Deleted job ${name}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Starts the newest run that is due, if any; says when to look again. Changes `status` accordingly. */
  async #runIfDue(cronJob: CronJob, status: NonNullable<CronJob["status"]>): Promise<number | undefined> {
    const { clock, events } = this.#options;
    if (cronJob.metadata.deletionTimestamp !== undefined || cronJob.spec.suspend) return undefined;
    const schedule = this.#scheduleOf(cronJob);
    if (schedule === undefined) return undefined;
    const now = clock.now();
    const due = this.#dueTime(cronJob, schedule, now);
    const wakeAt = schedule.next(now);
    if (due === undefined) return wakeAt;
    const { startingDeadlineSeconds: deadline, concurrencyPolicy } = cronJob.spec;
    if (deadline !== undefined && due + deadline * 1000 < now) {
      const missed = new Date(due).toUTCString();
      events(cronJob, "Warning", "MissSchedule", `Missed scheduled time to start a job: ${missed}`);
      return wakeAt;
    }
    if (concurrencyPolicy === "Forbid" && (status.active?.length ?? 0) > 0) {
      const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
      events(cronJob, "Normal", "JobAlreadyActive", message);
      return wakeAt;
    }
    if (concurrencyPolicy === "Replace") {
      for (const reference of status.active ?? []) await this.#deleteJob(cronJob, reference);
      status.active = [];
    }
    await this.#createJob(cronJob, due, status);
    return wakeAt;
  }

  #scheduleOf(cronJob: CronJob): Schedule | undefined {
    const { schedule, timeZone } = cronJob.spec;
    try {
      return parseSchedule(schedule, timeZone);
    } catch (error) {
      if (!(error instanceof ScheduleError)) throw error;
      this.#options.events(
        cronJob,
        "Warning",
        "UnparseableSchedule",
        `unparseable schedule: ${JSON.stringify(schedule)} : ${error.message}`,
      );
      return undefined;
    }
  }

  #dueTime(cronJob: CronJob, schedule: Schedule, now: number): number | undefined {
    const { status, metadata, spec } = cronJob;
    let after = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? "");
    if (spec.startingDeadlineSeconds !== undefined) after = Math.max(after, now - spec.startingDeadlineSeconds * 1000);
    const due = schedule.latest(after, now);
    if (due === undefined) return undefined;
    let missed = 0;
    for (let run = schedule.next(after); run !== undefined && run < due && missed <= MANY_MISSED; missed++)
      run = schedule.next(run);
    if (missed > MANY_MISSED)
      this.#options.events(
        cronJob,
        "Warning",
        "TooManyMissedTimes",
        `too many missed start times: more than ${MANY_MISSED}. Set or decrease .spec.startingDeadlineSeconds or check clock skew`,
      );
    return due;
  }

  async #createJob(cronJob: CronJob, due: number, status: NonNullable<CronJob["status"]>): Promise<void> {
    const { api, events } = this.#options;
    const draft = jobFor(cronJob, due);
    const namespace = cronJob.metadata.namespace ?? "";
    let job: Job;
    try {
      job = await api.create(jobs, namespace, draft);
      events(cronJob, "Normal", "SuccessfulCreate", `Created job ${job.metadata.name}`);
    } catch (error) {
      if (isNamespaceTerminating(error)) return;
      if (!isAlreadyExists(error)) {
        events(
          cronJob,
          "Warning",
          "FailedCreate",
          `Error creating job: ${error instanceof Error ? error.message : error}`,
        );
        throw error;
      }
      job = await api.get(jobs, { namespace, name: draft.metadata.name ?? "" });
    }
    status.lastScheduleTime = timestamp(due);
    // Created by us before a crash, and perhaps finished since; someone else's Job of that name is left alone.
    if (isFinished(job) || !ownerIndexer(job).includes(cronJob.metadata.uid ?? "")) return;
    if (!status.active?.some(({ uid }) => uid === job.metadata.uid))
      status.active = [...(status.active ?? []), referenceTo(job)];
  }

  async #writeStatus(cronJob: CronJob, status: NonNullable<CronJob["status"]>): Promise<void> {
    if (JSON.stringify(normal(cronJob.status)) === JSON.stringify(normal(status))) return;
    const { namespace = "", name = "", uid, resourceVersion } = cronJob.metadata;
    const active = (status.active?.length ?? 0) === 0 ? null : status.active;
    const body = { metadata: { uid, resourceVersion }, status: { ...status, active } };
    try {
      await this.#options.api.patch(cronJobs, { namespace, name }, { type: "merge", body }, { subresource: "status" });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

const normal = (status: CronJob["status"]): unknown[] => [
  (status?.active ?? []).map(({ uid }) => uid),
  status?.lastScheduleTime,
  status?.lastSuccessfulTime,
];

/** CJ-1 */
function jobFor(cronJob: CronJob, due: number): Job {
  const { jobTemplate, timeZone } = cronJob.spec;
  const { name = "", namespace, uid = "" } = cronJob.metadata;
  const { labels, annotations } = jobTemplate.metadata ?? {};
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: `${name}-${Math.floor(due / 60_000)}`,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      annotations: { ...annotations, [CRONJOB_SCHEDULED_TIMESTAMP]: zonedTimestamp(due, timeZone) },
      ownerReferences: [
        { apiVersion: "batch/v1", kind: "CronJob", name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: structuredClone(jobTemplate.spec),
  };
}

function referenceTo(job: Job): ObjectReference {
  const { namespace = "", name = "", uid = "", resourceVersion = "" } = job.metadata;
  return { kind: "Job", namespace, name, uid, apiVersion: "batch/v1", resourceVersion };
}
