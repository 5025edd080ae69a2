import type { Job } from "@jobferry/shared/job/types.ts";
import type { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { isNewerVersion } from "@jobferry/shared/kube/resource-version.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";

/** Index of the Jobs reflector that `HubCache` looks things up by. */
export const UID_INDEX = "uid";

/**
 * Hub Jobs as we last saw or wrote them, whichever is newer. Without its own writes a manager would decide a second time on
 * what it has just changed, and only learn from a conflict.
 */
export class HubCache {
  readonly #jobs: Pick<Reflector<Job>, "byIndex">;
  readonly #written = new Map<HubUid, Job>();

  constructor(jobs: Pick<Reflector<Job>, "byIndex">) {
    this.#jobs = jobs;
  }

  byUid(uid: HubUid): Job | undefined {
    const [seen] = this.#jobs.byIndex(UID_INDEX, uid);
    const written = this.#written.get(uid);
    if (written === undefined) return seen;
    // The watch has caught up with our write, or the Job is gone.
    if (seen === undefined || !isNewer(written, seen)) {
      this.#written.delete(uid);
      return seen;
    }
    return written;
  }

  wrote(job: Job): void {
    const uid = job.metadata.uid as HubUid | undefined;
    if (uid !== undefined) this.#written.set(uid, job);
  }

  forget(uid: HubUid): void {
    this.#written.delete(uid);
  }
}

const isNewer = ({ metadata: one }: Job, { metadata: other }: Job): boolean =>
  isNewerVersion(one.resourceVersion ?? "", other.resourceVersion ?? "");
