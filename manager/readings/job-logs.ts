import type { Job } from "@jobferry/shared/job/types.ts";
import { MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { type Phases, uidOf } from "../hub/phase.ts";
import { LogError, type LogTarget } from "../pods/log-reader.ts";

export interface JobLogsOptions {
  /** Undefined unless it is dispatched by us. */
  jobNamed(namespace: string, name: string): Job | undefined;
  readonly phases: Pick<Phases, "assignmentOf">;
}

/** A Job on its cluster. */
export type JobTarget = Pick<LogTarget, "cluster" | "uid" | "epoch">;

/** Logs of Jobs, whether or not the hub shows their pods. Which pods are a Job's is for its agent to say. */
export class JobLogs {
  readonly #options: JobLogsOptions;

  constructor(options: JobLogsOptions) {
    this.#options = options;
  }

  /** Throws LogError. Whoever asks was found to be allowed to. */
  find(namespace: string, name: string): JobTarget {
    const job = this.#options.jobNamed(namespace, name);
    if (job === undefined)
      throw new LogError({ code: 404, message: `Job ${name} of namespace ${namespace} is not one that Jobferry runs` });
    const assignment = this.#options.phases.assignmentOf(job);
    if (assignment === undefined) {
      const why = job.metadata.annotations?.[MESSAGE] ?? "it has not been placed";
      throw new LogError({ code: 409, message: `Job ${name} has no cluster yet, and so no pods: ${why}` });
    }
    return { cluster: assignment.cluster, epoch: assignment.epoch, uid: uidOf(job) };
  }
}
