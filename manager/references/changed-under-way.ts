import type { Job } from "@jobferry/shared/job/types.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { jobs as jobResource } from "@jobferry/shared/kube/resources.ts";
import type { Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { ListedReference } from "@jobferry/shared/protocol/references.ts";
import { type Assignment, type Phases, uidOf } from "../hub/phase.ts";
import type { Queues } from "../placement/queues.ts";
import type { Inbox } from "../reports/inbox.ts";
import { mayHaveRun, onChangeOf, usedSentence } from "./changes.ts";

export interface ChangedUnderWayOptions {
  readonly inbox: Pick<Inbox, "answer" | "peek">;
  readonly phases: Pick<Phases, "storedSeq">;
  readonly recorder: Pick<EventRecorder, "record">;
  readonly queues: Pick<Queues, "onReferenceChange">;
  enqueue(uid: HubUid, resend: boolean): void;
}

/**
 * Contents that changed after the Job was assigned and before its cluster had them. The Job is delivered anew, with the new ones;
 * one that has run elsewhere and would rather wait is taken back, as if the cluster had refused it, and so is one whose contents
 * went. A cluster that asks has not begun: it would not need them.
 */
export class ChangedUnderWay {
  readonly #options: ChangedUnderWayOptions;

  constructor(options: ChangedUnderWayOptions) {
    this.#options = options;
  }

  take(job: Job, { cluster, epoch, queue }: Assignment, { kind, name }: ListedReference): void {
    const { recorder, queues, enqueue } = this.#options;
    const hasMoved = epoch > 1 && mayHaveRun(job) && !this.#hasBegun(job, epoch);
    const waits = hasMoved && onChangeOf(job, queue, queues) === "Wait";
    if (waits) {
      const message = `${kind} ${job.metadata.namespace}/${name} changed on the hub before this cluster had it`;
      this.#takeBack(job, { cluster, epoch }, message);
      return;
    }
    if (hasMoved)
      recorder.record(jobResource, job, "Normal", "ReferencesChanged", usedSentence([`${kind} ${name}`], job));
    enqueue(uidOf(job), true);
  }

  gone(job: Job, { cluster, epoch }: Assignment, problem: string): void {
    if (!this.#hasBegun(job, epoch)) this.#takeBack(job, { cluster, epoch }, problem);
  }

  /** It keeps what it has: the agent only asks because somebody took a copy away. */
  #hasBegun(job: Job, epoch: Epoch): boolean {
    const { phases, inbox } = this.#options;
    return phases.storedSeq(job) > 0 || inbox.peek(uidOf(job)).status?.epoch === epoch;
  }

  #takeBack(job: Job, { cluster, epoch }: Pick<Assignment, "cluster" | "epoch">, message: string): void {
    const uid = uidOf(job);
    this.#options.inbox.answer(uid, { kind: "refused", uid, epoch, cluster, reason: "Other", message });
    this.#options.enqueue(uid, false);
  }
}
