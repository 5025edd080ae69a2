import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { EPOCH, HUB_MANAGED_BY, HUB_UID_LABEL, REVISION } from "@jobferry/shared/protocol/marks.ts";
import { type Epoch, epoch, type HubUid, hubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";

import type { Random } from "@jobferry/shared/runtime/random.ts";

/** Whose mirror a Job on this cluster is; undefined for everybody else's Jobs, which are never touched. */
export interface Identity {
  readonly uid: HubUid;
  readonly epoch: Epoch;
  readonly revision: number;
}

export function identityOf(job: Job): Identity | undefined {
  // Where the hub is its own worker, a hub Job with our label on it is still no mirror.
  if (job.spec.managedBy === HUB_MANAGED_BY) return undefined;
  const uid = hubUid.safeParse(job.metadata.labels?.[HUB_UID_LABEL]);
  const text = job.metadata.annotations?.[EPOCH] ?? "";
  const parsed = epoch.safeParse(/^\d{1,10}$/.test(text) ? Number(text) : undefined);
  if (!uid.success || !parsed.success) return undefined;
  return { uid: uid.data, epoch: parsed.data, revision: Number(job.metadata.annotations?.[REVISION] ?? 0) || 0 };
}

const BY_UID = "hub-uid";

/** The mirrors on this cluster, found by the hub Job they stand for. */
export class Mirrors {
  readonly reflector: Reflector<Job>;

  constructor(options: { api: KubeApi; clock: Clock; random: Random; logger: Logger }) {
    this.reflector = new Reflector({
      ...options,
      resource: jobs,
      labelSelector: HUB_UID_LABEL,
      indexers: { [BY_UID]: (job) => [job.metadata.labels?.[HUB_UID_LABEL] ?? ""] },
    });
  }

  /** More than one only for a moment, while an older epoch is on its way out under another name. */
  of(uid: HubUid): Job[] {
    return this.reflector.byIndex(BY_UID, uid);
  }

  *all(): Generator<{ mirror: Job; identity: Identity }> {
    for (const mirror of this.reflector.list()) {
      const identity = identityOf(mirror);
      if (identity !== undefined) yield { mirror, identity };
    }
  }
}
