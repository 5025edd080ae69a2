import { isConditionTrue } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { GENERATION } from "@jobferry/shared/protocol/marks.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";

export interface DepartureOptions {
  api: KubeApi;
  clock: Clock;
  /** A finished mirror stays this long after the hub has taken note, for those who read its pods' logs. */
  retentionMs: number;
}

/** How mirrors leave this cluster. */
export class Departure {
  readonly #options: DepartureOptions;

  constructor(options: DepartureOptions) {
    this.#options = options;
  }

  /**
   * Suspends the mirror; true once nothing of it runs and everything is counted. It counts as out of date from then on: should
   * we forget why it was stopped, the manager delivers it anew.
   */
  async isStopped(mirror: Job): Promise<boolean> {
    if (mirror.spec.suspend === true) return isAtRest(mirror);
    const { uid } = mirror.metadata;
    const body = { spec: { suspend: true }, metadata: { uid, annotations: { [GENERATION]: null } } };
    await this.#options.api.patch(jobs, keyOf(mirror), { type: "merge", body });
    return false;
  }

  async delete(mirror: Job, propagationPolicy: "Foreground" | "Orphan"): Promise<void> {
    if (mirror.metadata.deletionTimestamp !== undefined) return;
    const { uid } = mirror.metadata;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    try {
      await this.#options.api.delete(jobs, keyOf(mirror), { propagationPolicy, ...preconditions });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** From the time the mirror finished, by this cluster's own clock. */
  retentionLeftMs(mirror: Job): number {
    const finished = mirror.status?.conditions?.find(
      ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
    );
    const since = Date.parse(finished?.lastTransitionTime ?? "") || 0;
    return since + this.#options.retentionMs - this.#options.clock.now();
  }
}

/** Suspended, and everything that ran is stopped and counted. */
function isAtRest({ status = {} }: Job): boolean {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  return (
    isConditionTrue(status.conditions ?? [], "Suspended") &&
    (status.active ?? 0) === 0 &&
    (status.terminating ?? 0) === 0 &&
    succeeded.length + failed.length === 0
  );
}

export const keyOf = (job: Job): Required<ObjectKey> => ({
  namespace: job.metadata.namespace ?? "",
  name: job.metadata.name ?? "",
});
