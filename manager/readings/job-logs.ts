import type { Job } from "@jobferry/shared/job/types.ts";
import type { LogOptions } from "@jobferry/shared/kube/pod-logs.ts";
import { MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { type Assignment, type Phases, uidOf } from "../hub/phase.ts";
import { LogError, type LogReader, type LogTarget } from "../pods/log-reader.ts";

export interface JobLogsOptions {
  /** Undefined unless it is dispatched by us. */
  jobNamed(namespace: string, name: string): Job | undefined;
  readonly phases: Pick<Phases, "assignmentOf">;
  readonly reader: Pick<LogReader, "list" | "read">;
}

/** Logs of Jobs, whether or not the hub shows their pods. Whoever asks was found to be allowed to. All reject with LogError. */
export class JobLogs {
  readonly #options: JobLogsOptions;

  constructor(options: JobLogsOptions) {
    this.#options = options;
  }

  /** A line of JSON for each of its pods on its cluster. */
  async pods(namespace: string, job: string, signal?: AbortSignal): Promise<AsyncGenerator<Buffer>> {
    return await this.#options.reader.list(this.#assigned(namespace, job), signal);
  }

  /** Which pods are the Job's is for the agent to say. */
  async read(
    { namespace, job, pod, container }: Pick<LogTarget, "pod" | "container"> & { namespace: string; job: string },
    options: LogOptions,
    signal?: AbortSignal,
  ): Promise<AsyncGenerator<Buffer>> {
    return await this.#options.reader.read({ ...this.#assigned(namespace, job), pod, container }, options, signal);
  }

  #assigned(namespace: string, name: string): Pick<LogTarget, "cluster" | "uid" | "epoch"> {
    const job = this.#options.jobNamed(namespace, name);
    if (job === undefined)
      throw new LogError({ code: 404, message: `Job ${name} of namespace ${namespace} is not one that Jobferry runs` });
    const assignment: Assignment | undefined = this.#options.phases.assignmentOf(job);
    if (assignment === undefined) {
      const why = job.metadata.annotations?.[MESSAGE] ?? "it has not been placed";
      throw new LogError({ code: 409, message: `Job ${name} has no cluster yet, and so no pods: ${why}` });
    }
    return { cluster: assignment.cluster, epoch: assignment.epoch, uid: uidOf(job) };
  }
}
