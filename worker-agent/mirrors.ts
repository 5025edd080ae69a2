import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { JOB_STATUS_FIELDS } from "@jobferry/shared/protocol/job-status.ts";
import { MAX_REPORTED_PODS } from "@jobferry/shared/protocol/limits.ts";
import {
  AWAITS,
  CARRY,
  EPOCH,
  GENERATION,
  HUB_MANAGED_BY,
  HUB_UID_LABEL,
  OVER,
  PROOF,
  REVISION,
  SHADOW_PODS,
  STOP_AFTER,
} from "@jobferry/shared/protocol/marks.ts";
import { type Epoch, epoch, type HubUid, hubUid } from "@jobferry/shared/protocol/names.ts";
import { type CopiedKind, copiesIn } from "@jobferry/shared/references/contents.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import type { Proofs } from "./proofs.ts";

/** Whose mirror a Job on this cluster is; undefined for everybody else's Jobs, which are never touched. */
export interface Identity {
  readonly uid: HubUid;
  readonly epoch: Epoch;
  readonly revision: number;
}

/** Objects are immutable, and this is asked at every event. */
const identities = new WeakMap<Job, Identity | null>();

export function identityOf(job: Job): Identity | undefined {
  const known = identities.get(job);
  if (known !== undefined) return known ?? undefined;
  const identity = readIdentity(job);
  identities.set(job, identity ?? null);
  return identity;
}

function readIdentity(job: Job): Identity | undefined {
  // Where the hub is its own worker, a hub Job with our label on it is still not a mirror.
  if (job.spec.managedBy === HUB_MANAGED_BY) return undefined;
  const uid = hubUid.safeParse(job.metadata.labels?.[HUB_UID_LABEL]);
  const text = job.metadata.annotations?.[EPOCH] ?? "";
  const parsed = epoch.safeParse(/^\d{1,10}$/.test(text) ? Number(text) : undefined);
  if (!uid.success || !parsed.success) return undefined;
  const revision = Number(job.metadata.annotations?.[REVISION] ?? 0);
  return { uid: uid.data, epoch: parsed.data, revision: Number.isSafeInteger(revision) ? revision : 0 };
}

/** Its pods must not start before the copies of what they refer to are here. */
export const awaitsCopies = (mirror: Job): boolean => mirror.metadata.annotations?.[AWAITS] !== undefined;

/** The Job controller keeps its hands off a mirror whose status has still to be seeded, or whose copies are awaited. */
export const isSeeded = (mirror: Job): boolean =>
  mirror.metadata.annotations?.[CARRY] === undefined && !awaitsCopies(mirror);

/** Its epoch has ended here. */
export const isOver = (mirror: Job): boolean => mirror.metadata.annotations?.[OVER] !== undefined;

export const isLeaving = (mirror: Job): boolean => mirror.metadata.deletionTimestamp !== undefined;

/** Its Job controller may create pods, if it is let. */
export const wantsPods = (mirror: Job): boolean =>
  mirror.spec.suspend !== true && !isLeaving(mirror) && !isFinished(mirror);

/** How many of its pods the hub shows at most. */
export function shownPodsOf(mirror: Job): number {
  const wanted = Number(mirror.metadata.annotations?.[SHADOW_PODS]);
  return wanted > 0 ? Math.min(Math.floor(wanted), MAX_REPORTED_PODS) : 0;
}

/** Grows with every change of the mirror, also across restarts of the agent. */
export const seqOf = (mirror: Job): number => Number(mirror.metadata.resourceVersion);

/** Without fields of a newer Kubernetes, which the hub's side could not check. */
export const statusOf = ({ status = {} }: Job): JobStatus =>
  Object.fromEntries(JOB_STATUS_FIELDS.filter((field) => field in status).map((field) => [field, status[field]]));

/** Of the hub Job that the mirror was last brought up to; 0 while it is not yet, or no longer, what was delivered. */
export const generationOf = (mirror: Job): number =>
  isSeeded(mirror) ? Number(mirror.metadata.annotations?.[GENERATION]) || 0 : 0;

/** Undefined for a mirror that runs on when contact is lost. */
export function stopAfterOf(mirror: Job): number | undefined {
  const seconds = Number(mirror.metadata.annotations?.[STOP_AFTER]);
  return seconds > 0 ? seconds : undefined;
}

export const keyOf = (job: Job): Required<ObjectKey> => ({
  namespace: job.metadata.namespace ?? "",
  name: job.metadata.name ?? "",
});

/** Kind, namespace and name of a copy. */
export type CopyKey = `${CopiedKind}/${string}/${string}`;

/** The copies that a mirror refers to, and perhaps others that only look like some by their names. */
export const copyKeysOf = ({ metadata, spec }: Job): CopyKey[] =>
  copiesIn(spec.template).map(({ kind, name }): CopyKey => `${kind}/${metadata.namespace ?? ""}/${name}`);

const BY_UID = "hub-uid";
const BY_COPY = "copy";

interface MirrorsOptions {
  api: KubeApi;
  clock: Clock;
  random: Random;
  logger: Logger;
  proofs: Proofs;
}

/** The mirrors on this cluster, found by the hub Job they stand for. What lacks our proof shows no marks here. */
export class Mirrors {
  readonly reflector: Reflector<Job>;
  readonly #api: KubeApi;
  readonly #proofs: Proofs;

  constructor(options: MirrorsOptions) {
    this.#api = options.api;
    this.#proofs = options.proofs;
    this.reflector = new Reflector({
      ...options,
      resource: jobs,
      labelSelector: HUB_UID_LABEL,
      transform: (job) => options.proofs.withoutForeignMarks(job),
      indexers: {
        [BY_UID]: (job) => [job.metadata.labels?.[HUB_UID_LABEL] ?? ""],
        [BY_COPY]: copyKeysOf,
      },
    });
  }

  /** More than one only for a moment, while an older epoch is on its way out. */
  of(uid: HubUid): Job[] {
    return this.reflector.byIndex(BY_UID, uid).filter((job) => identityOf(job) !== undefined);
  }

  /** The same as the API server has them at this moment, past every write of ours: the cache may be behind. */
  async read(uid: HubUid): Promise<Job[]> {
    const { items } = await this.#api.list(jobs, { labelSelector: `${HUB_UID_LABEL}=${uid}` });
    return items.filter((job) => !this.#proofs.isForeign(job) && identityOf(job) !== undefined);
  }

  /** While keys are changed: proves what was proven by the key that goes, so that it can go. */
  async renewProofs(): Promise<void> {
    for (const { mirror, identity } of [...this.all()]) {
      if (this.#proofs.isCurrent(mirror)) continue;
      const { namespace, name } = keyOf(mirror);
      const annotations = { [PROOF]: this.#proofs.make(identity.uid, namespace, name) };
      const body = { metadata: { uid: mirror.metadata.uid, annotations } };
      await this.#api.patch(jobs, { namespace, name }, { type: "merge", body });
    }
  }

  /** Some mirror refers to this copy. */
  use(copy: CopyKey): boolean {
    return this.reflector.byIndex(BY_COPY, copy).length > 0;
  }

  /** Those that refer to this copy. */
  usersOf(copy: CopyKey): { mirror: Job; identity: Identity }[] {
    return this.reflector.byIndex(BY_COPY, copy).flatMap((mirror) => {
      const identity = identityOf(mirror);
      return identity === undefined ? [] : [{ mirror, identity }];
    });
  }

  *all(): Generator<{ mirror: Job; identity: Identity }> {
    for (const mirror of this.reflector.list()) {
      const identity = identityOf(mirror);
      if (identity !== undefined) yield { mirror, identity };
    }
  }
}
