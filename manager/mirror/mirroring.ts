import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { jobs as jobResource } from "@jobferry/shared/kube/resources.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Assignment, uidOf } from "../claim/hub-job.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { Hub } from "../hub.ts";
import type { HubCache } from "../hub-cache.ts";
import { isTerminal, judgeStatus, type StatusReport } from "./accept.ts";
import type { Inbox } from "./inbox.ts";
import { forgottenBy, rejectionOf } from "./rejected.ts";

export interface MirroringOptions {
  hub: Hub;
  cache: HubCache;
  inbox: Inbox;
  outbox: Outbox;
  recorder: Pick<EventRecorder, "record">;
  logger: Logger;
  clock: Pick<Clock, "now">;
  /** For messages, such as `v1.36.3`. */
  hubVersion?: string | undefined;
  /** A report was not acted upon. */
  onRefused?: ((cluster: string, code: string) => void) | undefined;
}

/** An API server may name the next field only when the first is gone. */
const MAX_ROUNDS = 4;

/** Brings what workers report into the status of hub Jobs. */
export class Mirroring {
  readonly #options: MirroringOptions;

  constructor(options: MirroringOptions) {
    this.#options = options;
  }

  /** Writes what was reported to the hub, if it may be written; the Job as it then is. */
  async mirror(job: Job, assignment: Assignment): Promise<Job> {
    const { inbox, cache, recorder, logger, clock, onRefused } = this.#options;
    const uid = uidOf(job);
    const { status: report } = inbox.peek(uid);
    if (report === undefined) return job;
    const verdict = judgeStatus(job, report, clock.now());
    let written = job;
    switch (verdict.verdict) {
      case "write": {
        written = await this.#write(job, verdict.status, report);
        cache.wrote(written);
        if (isFinished(written)) await this.#options.outbox.release(uid, assignment).catch(() => {});
        break;
      }
      case "invalid":
        onRefused?.(report.cluster, "report/invalid");
        logger.warn({ uid, cluster: report.cluster, problems: verdict.problems }, "status refused");
        recorder.record(
          jobResource,
          job,
          "Warning",
          "StatusRejected",
          `Cluster ${report.cluster} reported an impossible status: ${verdict.problems.join("; ")}`,
        );
        break;
      case "stale":
        onRefused?.(report.cluster, "report/stale");
        logger.debug({ uid, why: verdict.why }, "report dropped");
        break;
      case "known":
        break;
    }
    inbox.done(uid, { status: report });
    return written;
  }

  /** A hub that does not take what our rules allow gets the rest; the Job shows which fields it lacks. */
  async #write(job: Job, wanted: JobStatus, report: StatusReport): Promise<Job> {
    const { hub } = this.#options;
    let status = wanted;
    for (let round = 1; ; round++) {
      try {
        const written = await hub.writeStatus(job, status, { ...report, finished: isTerminal(job, status) });
        const forgotten = forgottenBy(written.status, status);
        if (forgotten.length > 0) this.#complain(job, report, `does not know ${forgotten.join(", ")}: stored without`);
        return written;
      } catch (error) {
        const rejection = rejectionOf(error, status, job.status ?? {});
        if (rejection === undefined) throw error;
        const { fields, reduced } = rejection;
        const canGoOn = reduced !== undefined && round < MAX_ROUNDS;
        const outcome = canGoOn ? "the rest is written" : "nothing was written";
        const what = `rejects ${fields.join(", ") || "the status"}, ${outcome}: ${(error as Error).message}`;
        this.#complain(job, report, what);
        if (!canGoOn) return job;
        status = reduced;
      }
    }
  }

  #complain(job: Job, { cluster }: StatusReport, what: string): void {
    const { recorder, logger, hubVersion } = this.#options;
    const hub = hubVersion === undefined ? "The hub" : `The hub (Kubernetes ${hubVersion})`;
    const text = `Status reported by cluster ${cluster}: ${hub} ${what}`;
    recorder.record(jobResource, job, "Warning", "StatusRejected", text);
    logger.warn({ uid: uidOf(job), cluster, hubVersion }, text);
  }
}
