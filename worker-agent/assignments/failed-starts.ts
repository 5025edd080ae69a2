import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";
import { podRefusalOf, type Refusal } from "./refusal.ts";

/** Tries in a row without a single pod; with the Job controller's back-off they take about seven seconds. */
const MAX_TRIES = 4;
const REMEMBERED = 4096;

/**
 * A cluster can have the mirror and still not have its pods: a quota, an admission policy, a service account that is missing
 * there. Counts how often that was tried without success, so that the Job goes to another cluster in the end.
 */
export class FailedStarts {
  readonly #tries = new LruMap<string, number>(REMEMBERED);

  /** Its Job controller could not create a pod, `times` since the last call. The refusal that is due now, if one is. */
  note(mirror: Job, message: string, times: number): Refusal | undefined {
    const { uid = "" } = mirror.metadata;
    const { active = 0, terminating = 0 } = mirror.status ?? {};
    if (active > 0 || terminating > 0 || isFinished(mirror)) {
      this.#tries.set(uid, 0);
      return undefined;
    }
    const tries = (this.#tries.get(uid) ?? 0) + times;
    this.#tries.set(uid, tries);
    return tries < MAX_TRIES ? undefined : podRefusalOf(message);
  }
}
