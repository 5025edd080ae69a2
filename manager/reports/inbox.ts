import type { ClusterName, Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import type { StatusReport } from "./accept.ts";

/** What a cluster says instead of running the Job. */
export type Answer = Extract<Report, { kind: "refused" | "withdrawn" | "newer" }> & { readonly cluster: ClusterName };

/** For this long no pod of the Job has found a node; `text`: what the scheduler says. */
export interface Stuck {
  readonly cluster: ClusterName;
  readonly epoch: Epoch;
  readonly ms: number;
  readonly text: string;
}

/** What was reported on a Job and not yet acted upon. */
export interface Pending {
  status?: StatusReport;
  answer?: Answer;
  stuck?: Stuck;
}

/**
 * Holds, per Job, only the newest of what was reported: the hub needs the state, not its history, so a slow hub makes us
 * skip states, never lag behind. Only the cluster that holds a Job gets anything in here, so it is bounded by the Jobs that are assigned.
 */
export class Inbox {
  readonly #pending = new Map<HubUid, Pending>();

  status(uid: HubUid, report: StatusReport): void {
    const pending = this.#of(uid);
    const known = pending.status;
    if (
      known !== undefined &&
      (known.epoch > report.epoch || (known.epoch === report.epoch && known.seq >= report.seq))
    )
      return;
    pending.status = report;
  }

  answer(uid: HubUid, answer: Answer): void {
    this.#of(uid).answer = answer;
  }

  stuck(uid: HubUid, stuck: Stuck): void {
    this.#of(uid).stuck = stuck;
  }

  peek(uid: HubUid): Pending {
    return this.#pending.get(uid) ?? {};
  }

  /** Dealt with; what arrived in the meantime stays. */
  done(uid: HubUid, dealtWith: Pending): void {
    const pending = this.#pending.get(uid);
    if (pending === undefined) return;
    if (pending.status !== undefined && pending.status === dealtWith.status) delete pending.status;
    if (pending.answer !== undefined && pending.answer === dealtWith.answer) delete pending.answer;
    if (pending.stuck !== undefined && pending.stuck === dealtWith.stuck) delete pending.stuck;
    if (Object.keys(pending).length === 0) this.#pending.delete(uid);
  }

  forget(uid: HubUid): void {
    this.#pending.delete(uid);
  }

  #of(uid: HubUid): Pending {
    let pending = this.#pending.get(uid);
    if (pending === undefined) {
      pending = {};
      this.#pending.set(uid, pending);
    }
    return pending;
  }
}
