import type { Job } from "@jobferry/shared/job/types.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { leavingOf } from "../hub/leaving.ts";
import type { Phases } from "../hub/phase.ts";
import { protectedUntil } from "../hub/preempted.ts";
import type { Booking } from "./ledger.ts";
import type { Holder } from "./preempt/victims.ts";

export interface HoldersOptions {
  readonly clock: Partial<Pick<Clock, "now">>;
  readonly phases: Phases;
  jobOf?(uid: HubUid): Job | undefined;
  priorityOf(job: Job): number;
}

/** What stands on a Job and does not change with time. */
interface Known {
  readonly priority: number;
  readonly startedAt: number;
  readonly protectedUntil: number;
  readonly isLeaving: boolean;
}

/** The Jobs that have a cluster, as those see them that would like their room. */
export class Holders {
  readonly #options: HoldersOptions;
  /** A Job as it came from the API server never changes. */
  readonly #known = new WeakMap<Job, Known>();

  constructor(options: HoldersOptions) {
    this.#options = options;
  }

  of(uid: HubUid, { queue, needs }: Booking, isDisplaced: boolean): Holder | undefined {
    const job = this.#options.jobOf?.(uid);
    if (job === undefined || job.metadata.deletionTimestamp !== undefined) return undefined;
    const known = this.#knownOf(job);
    const now = this.#options.clock.now?.() ?? 0;
    const ranMs = Math.max(0, now - known.startedAt);
    return {
      ...{ uid, queue, needs, priority: known.priority },
      running: Math.min(needs.pods, job.status?.ready ?? 0),
      loss: needs.pods * ranMs,
      leaving: isDisplaced || known.isLeaving,
      spared: now < known.protectedUntil,
    };
  }

  nameOf(uid: HubUid): string {
    const { namespace, name } = this.#options.jobOf?.(uid)?.metadata ?? {};
    return name === undefined ? uid : `${namespace}/${name}`;
  }

  #knownOf(job: Job): Known {
    const before = this.#known.get(job);
    if (before !== undefined) return before;
    const { phases, priorityOf, clock } = this.#options;
    const holder = phases.holderOf(job);
    const known = {
      priority: priorityOf(job),
      startedAt: Date.parse(job.status?.startTime ?? "") || (clock.now?.() ?? 0),
      protectedUntil: protectedUntil(job),
      isLeaving: holder !== undefined && leavingOf(job, holder) !== undefined,
    };
    this.#known.set(job, known);
    return known;
  }
}
