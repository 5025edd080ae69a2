import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { GENERATION, OVER } from "@jobferry/shared/protocol/marks.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { keyOf } from "../mirrors.ts";

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

  /** Suspends the mirror for good: its epoch is over, and a successor of this process must know that, too. */
  async stop(mirror: Job): Promise<void> {
    const annotations = { [GENERATION]: null, [OVER]: "true" };
    const body = { metadata: { uid: mirror.metadata.uid, annotations }, spec: { suspend: true } };
    await this.#options.api.patch(jobs, keyOf(mirror), { type: "merge", body });
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
