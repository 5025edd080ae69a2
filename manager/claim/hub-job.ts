import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import {
  CLUSTER,
  EPOCH,
  HUB_MANAGED_BY,
  SEQ,
  STOP_AFTER,
  WITHDRAW_FINALIZER,
} from "@jobferry/shared/protocol/marks.ts";
import {
  type ClusterName,
  clusterName,
  type Epoch,
  epoch as epochSchema,
  type HubUid,
  hubUid,
} from "@jobferry/shared/protocol/names.ts";

/**
 * Where a hub Job stands. Everything is read off the Job itself, so that a manager that has just started knows as much as
 * one that has run for a week.
 *
 * - `foreign`: not ours by `managedBy`. Never touched.
 * - `finished`: Complete or Failed. Absorbing: whatever happens elsewhere, nothing starts it again.
 * - `deleting`: marked for deletion and still held by our finalizer. The mirror goes first, then the finalizer.
 * - `assigned`: belongs to one cluster in one epoch. That cluster, and only it, may report on it.
 * - `held`: suspended before it was ever placed (or after it was handed over). Nothing is dispatched.
 * - `waiting`: wants a cluster.
 *
 * Transitions: waiting -> assigned by one optimistic-locked patch, in a higher epoch, before any message goes out;
 * assigned -> waiting when the cluster handed it over, refused it, is lost or was removed (the epoch stays on the Job);
 * held <-> waiting by `spec.suspend`; any -> deleting by the user; assigned -> finished by a report.
 */
export type Phase =
  | { readonly phase: "foreign" | "held" | "waiting" }
  | { readonly phase: "finished" | "deleting"; readonly assignment: Assignment | undefined }
  | { readonly phase: "assigned"; readonly assignment: Assignment };

export interface Assignment {
  readonly cluster: ClusterName;
  readonly epoch: Epoch;
  /** Of a StopThenRedispatch Job: what its agent was told (clusters/stop-times.ts). */
  readonly stopAfterSeconds?: number;
}

export function phaseOf(job: Job): Phase {
  if (!isOurs(job)) return { phase: "foreign" };
  const assignment = assignmentOf(job);
  if (job.metadata.deletionTimestamp !== undefined)
    return isHeldByUs(job) ? { phase: "deleting", assignment } : { phase: "foreign" };
  if (isFinished(job)) return { phase: "finished", assignment };
  if (assignment !== undefined) return { phase: "assigned", assignment };
  return { phase: job.spec.suspend === true ? "held" : "waiting" };
}

export const isOurs = (job: Job): boolean => job.spec.managedBy === HUB_MANAGED_BY;

export const isHeldByUs = (job: Job): boolean => job.metadata.finalizers?.includes(WITHDRAW_FINALIZER) ?? false;

/** Undefined when unassigned, and when someone scribbled over the annotations: it is then placed anew, in a later epoch. */
export function assignmentOf(job: Job): Assignment | undefined {
  const cluster = clusterName.safeParse(job.metadata.annotations?.[CLUSTER]);
  const epoch = lastEpoch(job);
  if (!cluster.success || epoch === undefined) return undefined;
  const stopAfter = job.metadata.annotations?.[STOP_AFTER] ?? "";
  return {
    cluster: cluster.data,
    epoch,
    ...(/^[1-9]\d{0,8}$/.test(stopAfter) ? { stopAfterSeconds: Number(stopAfter) } : {}),
  };
}

/** The newest epoch this Job had, assigned or not; undefined before the first. */
function lastEpoch(job: Job): Epoch | undefined {
  const text = job.metadata.annotations?.[EPOCH] ?? "";
  if (!/^\d{1,10}$/.test(text)) return undefined;
  const epoch = epochSchema.safeParse(Number(text));
  return epoch.success ? epoch.data : undefined;
}

export const nextEpoch = (job: Job): Epoch => epochSchema.parse((lastEpoch(job) ?? 0) + 1);

/**
 * The last report mirrored in the present epoch, `epoch:seq:origin`; 0 when none was. A cluster that was rebuilt and enrolled
 * again counts anew: numbers of another origin do not compare. Nor does one that its API server cannot have reached, `highest`: it
 * would make every later report look old.
 */
export function mirroredSeq(job: Job, origin?: string, highest = Number.POSITIVE_INFINITY): number {
  const [epoch, seq, from = ""] = (job.metadata.annotations?.[SEQ] ?? "").split(":");
  if (epoch === undefined || seq === undefined || !/^\d{1,16}$/.test(seq)) return 0;
  if (Number(seq) > highest) return 0;
  if (origin !== undefined && from !== "" && from !== origin) return 0;
  return Number(epoch) === lastEpoch(job) ? Number(seq) : 0;
}

export const formatSeq = (epoch: Epoch, seq: number, origin?: string): string =>
  origin === undefined ? `${epoch}:${seq}` : `${epoch}:${seq}:${origin}`;

/** The hub's own UIDs are well-formed; anything else is a defect worth a throw. */
export const uidOf = (job: Job): HubUid => hubUid.parse(job.metadata.uid);

/** How the user deleted the Job, read off the finalizers the API server put there (OR-7). */
export function propagationOf(job: Job): "Orphan" | "Foreground" {
  return job.metadata.finalizers?.includes("orphan") ? "Orphan" : "Foreground";
}
