import type { Job } from "@jobferry/shared/job/types.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { jobs as jobResource } from "@jobferry/shared/kube/resources.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
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
 * one that has run elsewhere and would rather wait is taken back, as if the cluster had refused it.
 */
export class ChangedUnderWay {
  readonly #options: ChangedUnderWayOptions;

  constructor(options: ChangedUnderWayOptions) {
    this.#options = options;
  }

  take(job: Job, { cluster, epoch, queue }: Assignment, { kind, name }: ListedReference): void {
    const { inbox, phases, recorder, queues, enqueue } = this.#options;
    const uid = uidOf(job);
    // One that has begun there keeps what it has: the agent only asks because somebody took a copy away.
    const hasBegun = phases.storedSeq(job) > 0 || inbox.peek(uid).status?.epoch === epoch;
    const hasMoved = epoch > 1 && mayHaveRun(job) && !hasBegun;
    const waits = hasMoved && onChangeOf(job, queue, queues) === "Wait";
    if (waits) {
      const message = `${kind} ${job.metadata.namespace}/${name} changed on the hub before this cluster had it`;
      inbox.answer(uid, { kind: "refused", uid, epoch, cluster, reason: "Other", message });
    } else if (hasMoved)
      recorder.record(jobResource, job, "Normal", "ReferencesChanged", usedSentence([`${kind} ${name}`], job));
    enqueue(uid, !waits);
  }
}
