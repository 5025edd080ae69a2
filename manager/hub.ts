import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, EPOCH, MESSAGE, SEQ, STOP_AFTER, WITHDRAW_FINALIZER } from "@jobferry/shared/protocol/marks.ts";
import type { Epoch } from "@jobferry/shared/protocol/names.ts";
import { type Assignment, formatSeq } from "./claim/hub-job.ts";

const MAX_MESSAGE_CHARS = 1024;

/**
 * Every write the manager makes on a hub Job. Each is locked to the resourceVersion it was decided on: when somebody was
 * faster it fails with a conflict, and the decision is taken anew on what is there then.
 */
export class Hub {
  readonly #api: KubeApi;

  constructor(api: KubeApi) {
    this.#api = api;
  }

  /** waiting -> assigned. Must be stored before any message about it goes out. */
  assign(job: Job, { cluster, epoch, stopAfterSeconds }: Assignment, message: string): Promise<Job> {
    const finalizers = [
      ...(job.metadata.finalizers ?? []).filter((name) => name !== WITHDRAW_FINALIZER),
      WITHDRAW_FINALIZER,
    ];
    return this.#patch(job, {
      annotations: {
        [CLUSTER]: cluster,
        [EPOCH]: String(epoch),
        [STOP_AFTER]: stopAfterSeconds === undefined ? null : String(stopAfterSeconds),
        [MESSAGE]: cut(message),
      },
      finalizers,
    });
  }

  /** assigned -> waiting. The epoch stays, so that the next one is higher. */
  unassign(job: Job, message: string): Promise<Job> {
    return this.#patch(job, {
      annotations: { [CLUSTER]: null, [MESSAGE]: cut(message) },
      finalizers: withoutOurs(job),
    });
  }

  /** Lets a deleted Job go. */
  release(job: Job): Promise<Job> {
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
  writeStatus(
    job: Job,
    status: JobStatus,
    mirrored: { epoch: Epoch; seq: number; origin?: string | undefined; finished: boolean } | undefined,
  ): Promise<Job> {
    const metadata = { ...job.metadata };
    delete metadata.managedFields;
    if (mirrored !== undefined) {
      metadata.annotations = {
        ...metadata.annotations,
        [SEQ]: formatSeq(mirrored.epoch, mirrored.seq, mirrored.origin),
      };
      if (mirrored.finished) metadata.finalizers = withoutOurs(job);
    }
    return this.#api.replace(jobs, keyOf(job), { ...job, metadata, status }, { subresource: "status" });
  }

  #patch(job: Job, metadata: { annotations?: Record<string, string | null>; finalizers?: string[] }): Promise<Job> {
    const { resourceVersion, uid } = job.metadata;
    return this.#api.patch(jobs, keyOf(job), {
      type: "merge",
      body: { metadata: { ...metadata, resourceVersion, uid } },
    });
  }
}

const withoutOurs = (job: Job): string[] =>
  (job.metadata.finalizers ?? []).filter((finalizer) => finalizer !== WITHDRAW_FINALIZER);

const keyOf = (job: Job): ObjectKey => ({
  namespace: job.metadata.namespace ?? "",
  name: job.metadata.name ?? "",
});

const cut = (message: string): string =>
  message.length <= MAX_MESSAGE_CHARS ? message : `${message.slice(0, MAX_MESSAGE_CHARS - 3)}...`;
