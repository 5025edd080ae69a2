import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { jobs as jobResource } from "@jobferry/shared/kube/resources.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Assignment, uidOf } from "../claim/hub-job.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { Hub } from "../hub.ts";
import type { HubCache } from "../hub-cache.ts";
import { isTerminal, judgeStatus, type StatusReport } from "./accept.ts";
import type { Inbox } from "./inbox.ts";
import { rejectionOf } from "./rejected.ts";

export interface MirroringOptions {
  hub: Hub;
  cache: HubCache;
  inbox: Inbox;
  outbox: Outbox;
  recorder: Pick<EventRecorder, "record">;
  logger: Logger;
}

/** Brings what workers report into the status of hub Jobs. */
export class Mirroring {
  readonly #options: MirroringOptions;

  constructor(options: MirroringOptions) {
    this.#options = options;
  }

  /** Writes what was reported to the hub, if it may be written; the Job as it then is. */
  async mirror(job: Job, assignment: Assignment): Promise<Job> {
    const { inbox, cache, recorder, logger } = this.#options;
    const uid = uidOf(job);
    const { status: report } = inbox.peek(uid);
    if (report === undefined) return job;
    const verdict = judgeStatus(job, report);
    let written = job;
    switch (verdict.verdict) {
      case "write": {
        written = await this.#write(job, verdict.status, report);
        cache.wrote(written);
        if (isFinished(written)) await this.#options.outbox.acknowledgeFinished(uid, assignment).catch(() => {});
        break;
      }
      case "invalid":
        recorder.record(
          jobResource,
          job,
          "Warning",
          "StatusRejected",
          `Cluster ${report.cluster} reported an impossible status: ${verdict.problems.join("; ")}`,
        );
        break;
      case "stale":
        logger.debug({ uid, why: verdict.why }, "report dropped");
        break;
      case "known":
        break;
    }
    inbox.done(uid, { status: report });
    return written;
  }

  /** A hub that rejects what our rules allow gets the status without the field it names, once; the Job shows which one. */
  async #write(job: Job, status: JobStatus, report: StatusReport): Promise<Job> {
    const { hub, recorder } = this.#options;
    const write = (what: JobStatus) => hub.writeStatus(job, what, { ...report, finished: isTerminal(job, what) });
    try {
      return await write(status);
    } catch (error) {
      const rejection = rejectionOf(error, status);
      if (rejection === undefined) throw error;
      const text = `The hub rejects ${rejection.fields.join(", ") || "the status"} as reported by cluster ${report.cluster}: `;
      recorder.record(jobResource, job, "Warning", "StatusRejected", text + (error as Error).message);
      if (rejection.reduced === undefined) return job;
      return await write(rejection.reduced).catch((again: unknown) => {
        if (rejectionOf(again, status) === undefined) throw again;
        return job;
      });
    }
  }
}
