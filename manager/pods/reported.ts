import type { AssignmentRef } from "@jobferry/shared/protocol/delivery.ts";
import type { ClusterName, Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { ReportedPod } from "@jobferry/shared/protocol/pod-report.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";

/** The pods of one Job, as its cluster last told. */
export interface ReportedPods {
  readonly cluster: ClusterName;
  readonly epoch: Epoch;
  readonly seq: number;
  readonly pods: readonly ReportedPod[];
  /** There are others. */
  readonly more: boolean;
  /** The mirror is gone. */
  readonly gone: boolean;
}

/** The newest report of each Job's pods. Only the cluster that holds a Job gets anything in here. */
export class Reported {
  readonly #byJob = new Map<HubUid, ReportedPods>();

  get(uid: HubUid): ReportedPods | undefined {
    return this.#byJob.get(uid);
  }

  /** Whether it is news. */
  take(uid: HubUid, report: ReportedPods): boolean {
    const known = this.#byJob.get(uid);
    const isOld =
      known !== undefined && (known.epoch > report.epoch || (known.epoch === report.epoch && known.seq >= report.seq));
    if (isOld) return false;
    this.#byJob.set(uid, report);
    return true;
  }

  forget(uid: HubUid): void {
    this.#byJob.delete(uid);
  }

  /** Of all that a cluster says it has told: what is not known here. */
  missing(told: readonly (AssignmentRef & { seq: number })[]): AssignmentRef[] {
    return told.flatMap(({ uid, epoch, seq }) => {
      const known = this.#byJob.get(uid);
      return known !== undefined && known.epoch === epoch && known.seq >= seq ? [] : [{ uid, epoch }];
    });
  }

  /** Jobs whose pods this cluster told of once and no longer lists: their mirrors are gone. */
  markGone(cluster: ClusterName, told: ReadonlySet<HubUid>): HubUid[] {
    const gone: HubUid[] = [];
    for (const [uid, report] of this.#byJob) {
      if (report.cluster !== cluster || report.gone || told.has(uid)) continue;
      this.#byJob.set(uid, { ...report, pods: [], more: false, gone: true });
      gone.push(uid);
    }
    return gone;
  }
}

/** What was told of a pod, with its times moved by `ms`: from the clock of a worker to the hub's. */
export function shiftPodTimes(pod: ReportedPod, ms: number): ReportedPod {
  return ms === 0 ? pod : (shifted(pod, ms) as ReportedPod);
}

const TIMES = new Set(["startTime", "lastTransitionTime", "startedAt", "finishedAt", "at"]);

function shifted(value: unknown, ms: number): unknown {
  if (Array.isArray(value)) return value.map((part) => shifted(part, ms));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      const at = TIMES.has(key) && typeof part === "string" ? Date.parse(part) : Number.NaN;
      return [key, Number.isNaN(at) ? shifted(part, ms) : timestamp(at + ms)];
    }),
  );
}
