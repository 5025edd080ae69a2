import type { Job } from "@jobferry/shared/job/types.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { uidOf } from "../claim/hub-job.ts";
import type { Hub } from "../hub.ts";
import type { HubCache } from "../hub-cache.ts";

export interface WaitingReasonsOptions {
  hub: Pick<Hub, "say">;
  cache: Pick<HubCache, "wrote">;
  recorder: Pick<EventRecorder, "record">;
  logger: Logger;
}

/** Shows on each waiting Job why it waits, and sends an event when the reason is a new one. */
export class WaitingReasons {
  readonly #options: WaitingReasonsOptions;
  /** Reasons on their way to the hub. */
  readonly #saying = new Map<HubUid, string>();

  constructor(options: WaitingReasonsOptions) {
    this.#options = options;
  }

  /** `never`: somebody has to change the Job, its queue or the fleet. */
  say(job: Job, message: string, never: boolean): void {
    const { recorder } = this.#options;
    if (!this.#show(job, message)) return;
    if (never) recorder.record(jobs, job, "Warning", "DispatchFailed", message);
    else recorder.record(jobs, job, "Normal", "Queued", message);
  }

  /** False when the Job shows it already, or will in a moment. */
  #show(job: Job, message: string): boolean {
    const uid = uidOf(job);
    if (job.metadata.annotations?.[MESSAGE] === message || this.#saying.get(uid) === message) return false;
    const { hub, cache, logger } = this.#options;
    this.#saying.set(uid, message);
    hub
      .say(job, message)
      .then(
        (written) => cache.wrote(written),
        (error) => logger.debug({ error, uid }, "message not written"),
      )
      .finally(() => this.#saying.delete(uid));
    return true;
  }
}
