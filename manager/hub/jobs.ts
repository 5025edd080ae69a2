import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import type { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { isNewerVersion } from "@jobferry/shared/kube/resource-version.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { LEAVING, MESSAGE, SEQ, WITHDRAW_FINALIZER } from "@jobferry/shared/protocol/marks.ts";
import type { ClusterName, Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import { type Leaving, leavingMark } from "./leaving.ts";
import { type Assignment, formatSeq, isOurs, type Phases, uidOf } from "./phase.ts";

const MAX_MESSAGE_CHARS = 1024;

/** Indexes of the Jobs reflector. */
export const UID_INDEX = "uid";
export const CLUSTER_INDEX = "cluster";

export interface HubJobsOptions {
  readonly api: Pick<KubeApi, "patch" | "replace">;
  readonly watched: Pick<Reflector<Job>, "byIndex" | "list" | "resourceVersion" | "hasSynced" | "addHandler">;
  readonly phases: Phases;
}

/**
 * The hub's Jobs: what we last saw or wrote of each, whichever is newer, and every write the manager makes on them. Reads see
 * our own writes, so nothing is decided twice. Each write is locked to the resourceVersion it was decided on: when somebody
 * was faster it fails with a conflict, and the decision is taken anew on what is there then.
 */
export class HubJobs {
  readonly #options: HubJobsOptions;
  /** Our writes that the watch has not shown yet. */
  readonly #written = new Map<HubUid, Job>();
  readonly #listeners: ((uid: HubUid, job: Job | undefined) => void)[] = [];

  constructor(options: HubJobsOptions) {
    this.#options = options;
    const seen = (job: Job): void => {
      if (isOurs(job)) this.#changed(uidOf(job));
    };
    options.watched.addHandler({ added: seen, updated: (_, job) => seen(job), deleted: seen });
  }

  /** Hears of every Job of ours that was seen, written or deleted, before anything else is decided about it. */
  onChange(listener: (uid: HubUid, job: Job | undefined) => void): void {
    this.#listeners.push(listener);
  }

  byUid(uid: HubUid): Job | undefined {
    const [seen] = this.#options.watched.byIndex(UID_INDEX, uid);
    const written = this.#written.get(uid);
    if (written === undefined) return seen;
    // The watch has caught up with our write, or the Job is gone.
    if (seen === undefined || !isNewer(written, seen)) {
      this.#written.delete(uid);
      return seen;
    }
    return written;
  }

  *all(): Generator<Job> {
    for (const job of this.#options.watched.list()) if (isOurs(job)) yield this.byUid(uidOf(job)) ?? job;
  }

  /** The unfinished Jobs that are this cluster's. */
  onCluster(cluster: ClusterName): Job[] {
    const { watched, phases } = this.#options;
    const found = new Map<HubUid, Job>();
    for (const job of watched.byIndex(CLUSTER_INDEX, cluster)) found.set(uidOf(job), job);
    for (const uid of this.#written.keys()) {
      const job = this.byUid(uid);
      if (job !== undefined) found.set(uid, job);
    }
    return [...found.values()]
      .map((job) => this.byUid(uidOf(job)) ?? job)
      .filter((job) => phases.holderOf(job)?.cluster === cluster);
  }

  /** Up to where the hub is known; undefined while a list is under way, when nothing can be said of what is absent. */
  get revision(): number | undefined {
    const { hasSynced, resourceVersion } = this.#options.watched;
    return hasSynced && resourceVersion !== "" ? Number(resourceVersion) : undefined;
  }

  /** waiting -> assigned. Must be stored before any message about it goes out. */
  assign(job: Job, assignment: Assignment, message: string, more: Record<string, string> = {}): Promise<Job> {
    const finalizers = [...withoutOurs(job), WITHDRAW_FINALIZER];
    const marks = this.#options.phases.annotationsOf(job, assignment, false);
    return this.#patch(job, { annotations: { ...marks, ...more, [MESSAGE]: cut(message) }, finalizers });
  }

  /** What it took along is not what was noted when it was assigned. */
  note(job: Job, annotations: Record<string, string>): Promise<Job> {
    return this.#patch(job, { annotations });
  }

  /** assigned -> assigned, with more or fewer pods at a time than before. */
  admit(job: Job, assignment: Assignment, message: string): Promise<Job> {
    const marks = this.#options.phases.annotationsOf(job, assignment, false);
    return this.#patch(job, { annotations: { ...marks, [MESSAGE]: cut(message) } });
  }

  /** In a later epoch that its agent has (the hub was restored from a backup), or under a new key of the manager. */
  adopt(job: Job, assignment: Assignment): Promise<Job> {
    return this.#patch(job, { annotations: this.#options.phases.annotationsOf(job, assignment, false) });
  }

  /** assigned -> waiting. The epoch stays, so that the next one is higher. */
  unassign(job: Job, assignment: Assignment, message: string, more: Record<string, string | null> = {}): Promise<Job> {
    const marks = this.#options.phases.annotationsOf(job, assignment, true);
    const annotations = { ...marks, ...more, [LEAVING]: null, [MESSAGE]: cut(message) };
    return this.#patch(job, { annotations, finalizers: withoutOurs(job) });
  }

  /** Stored before its agent is told to hand it over. */
  askBack(job: Job, assignment: Assignment, leaving: Leaving, message: string): Promise<Job> {
    const mark = cut(leavingMark(assignment, leaving));
    return this.#patch(job, { annotations: { [LEAVING]: mark, [MESSAGE]: cut(message) } });
  }

  /** Takes away marks that somebody else wrote. */
  disown(job: Job, marks: Record<string, null>, message: string): Promise<Job> {
    return this.#patch(job, { annotations: { ...marks, [MESSAGE]: cut(message) }, finalizers: withoutOurs(job) });
  }

  /** Lets a deleted or finished Job go. */
  dropFinalizer(job: Job): Promise<Job> {
    return this.#patch(job, { finalizers: withoutOurs(job) });
  }

  /** The current reason, for `kubectl describe`. */
  say(job: Job, message: string): Promise<Job> {
    return this.#patch(job, { annotations: { [MESSAGE]: cut(message) } });
  }

  /**
   * The API server stores metadata that comes with a status write (SW-6): the sequence number, and with the terminal status
   * the removal of our finalizer, cost no write of their own.
   */
  async writeStatus(
    job: Job,
    status: JobStatus,
    reported?: { epoch: Epoch; seq: number; clusterID?: string | undefined; finished: boolean; message?: string },
  ): Promise<Job> {
    const metadata = { ...job.metadata };
    delete metadata.managedFields;
    if (reported !== undefined) {
      metadata.annotations = {
        ...metadata.annotations,
        [SEQ]: formatSeq(reported.epoch, reported.seq, reported.clusterID),
        ...(reported.message === undefined ? {} : { [MESSAGE]: cut(reported.message) }),
      };
      if (reported.finished) {
        metadata.finalizers = withoutOurs(job);
        delete metadata.annotations[LEAVING];
      }
    }
    const body = { ...job, metadata, status };
    return this.#wrote(await this.#options.api.replace(jobs, keyOf(job), body, { subresource: "status" }));
  }

  async #patch(job: Job, metadata: { annotations?: Record<string, string | null>; finalizers?: string[] }) {
    const { resourceVersion, uid } = job.metadata;
    const body = { metadata: { ...metadata, resourceVersion, uid } };
    return this.#wrote(await this.#options.api.patch(jobs, keyOf(job), { type: "merge", body }));
  }

  #wrote(job: Job): Job {
    const uid = uidOf(job);
    this.#written.set(uid, job);
    this.#changed(uid);
    return job;
  }

  #changed(uid: HubUid): void {
    const job = this.byUid(uid);
    for (const listener of this.#listeners) listener(uid, job);
  }
}

const withoutOurs = (job: Job): string[] =>
  (job.metadata.finalizers ?? []).filter((finalizer) => finalizer !== WITHDRAW_FINALIZER);

const keyOf = (job: Job): ObjectKey => ({
  namespace: job.metadata.namespace ?? "",
  name: job.metadata.name ?? "",
});

const isNewer = ({ metadata: one }: Job, { metadata: other }: Job): boolean =>
  isNewerVersion(one.resourceVersion ?? "", other.resourceVersion ?? "");

/** What the Job shows of a message. */
export const cut = (message: string): string =>
  message.length <= MAX_MESSAGE_CHARS ? message : `${message.slice(0, MAX_MESSAGE_CHARS - 3)}...`;
