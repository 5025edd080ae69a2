import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import {
  ADMITTED,
  ASSIGNED_QUEUE,
  CLUSTER,
  EPOCH,
  GRANT,
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
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";
import type { Grants } from "./grants.ts";
import { resourcesText } from "./resources-text.ts";

/**
 * Where a hub Job stands. Everything is read off the Job itself, so that a manager that has just started knows as much as
 * one that has run for a week.
 *
 * - `foreign`: not ours by `managedBy`. Never touched.
 * - `finished`: Complete or Failed. Absorbing: whatever happens elsewhere, nothing starts it again.
 * - `deleting`: marked for deletion and still held by our finalizer. The mirror goes first, then the finalizer.
 * - `assigned`: belongs to one cluster in one epoch. That cluster, and only it, may report on it.
 * - `suspended`: suspended before it was ever placed (or after it was handed over). Nothing is dispatched.
 * - `waiting`: wants a cluster.
 *
 * Transitions: waiting -> assigned by one optimistic-locked patch, in a higher epoch, before any message goes out;
 * assigned -> waiting when the cluster handed it over, refused it, is lost or was removed (the epoch stays on the Job);
 * suspended <-> waiting by `spec.suspend`; any -> deleting by the user; assigned -> finished by a report.
 *
 * An assignment, or an epoch, that does not carry the manager's grant was written by somebody else: it does not count.
 */
export type Phase =
  | { readonly phase: "foreign" }
  | { readonly phase: "suspended" | "waiting"; readonly forged?: Forged }
  | { readonly phase: "finished" | "deleting"; readonly assignment: Assignment | undefined }
  | { readonly phase: "assigned"; readonly assignment: Assignment };

/** Marks of an assignment without the manager's grant: somebody made them up, or a manager with another key wrote them. */
interface Forged {
  readonly cluster: ClusterName | undefined;
}

export interface Assignment {
  readonly cluster: ClusterName;
  readonly epoch: Epoch;
  /** The queue it was placed by. A later label changes nothing. */
  readonly queue: string;
  /** Of a StopThenRedispatch Job: what its agent was told (hub-job/stop-times.ts). */
  readonly stopAfterSeconds?: number;
  /**
   * The `parallelism` that its quota was asked for. `changed`: its pods request something else than they did then. Undefined: an
   * earlier release assigned it, which did not write this down.
   */
  readonly admitted?: number | "changed";
}

const PLAUSIBLE_EPOCH = 1_000_000;
/** An agent may be this many epochs ahead of a hub that was restored. More is a lie that would use the numbers up. */
export const MAX_EPOCHS_AHEAD = 10_000;

/** What stands in the annotations, if the manager wrote it. */
interface Marks {
  readonly epoch: Epoch;
  readonly assignment: Assignment | undefined;
  readonly isOld: boolean;
}

export class Phases {
  readonly #grants: Grants;
  /** A Job as it came from the API server never changes; its MAC is checked once. */
  readonly #marks = new WeakMap<Job, Marks | null>();
  /** Of this many Jobs at most: an agent can make them up. */
  readonly #seen = new LruMap<HubUid, Epoch>(10_000);

  constructor(grants: Grants) {
    this.#grants = grants;
  }

  of(job: Job): Phase {
    if (!isOurs(job)) return { phase: "foreign" };
    const assignment = this.assignmentOf(job);
    if (job.metadata.deletionTimestamp !== undefined)
      return hasOurFinalizer(job) ? { phase: "deleting", assignment } : { phase: "foreign" };
    if (isFinished(job)) return { phase: "finished", assignment };
    if (assignment !== undefined) return { phase: "assigned", assignment };
    const phase = job.spec.suspend === true ? "suspended" : "waiting";
    const claimed = job.metadata.annotations?.[CLUSTER];
    return claimed === undefined ? { phase } : { phase, forged: { cluster: clusterName.safeParse(claimed).data } };
  }

  /** Undefined when unassigned, and when somebody else wrote the annotations: it is then placed anew, in a later epoch. */
  assignmentOf(job: Job): Assignment | undefined {
    return this.#marksOf(job)?.assignment;
  }

  /** The assignment's grant was made with a key that is on its way out: it has to be made again before that key is gone. */
  needsGrant(job: Job): boolean {
    return this.#marksOf(job)?.isOld === true;
  }

  /** Whose the Job is by what the hub stores, until it is finished. */
  holderOf(job: Job): Assignment | undefined {
    const phase = this.of(job);
    return phase.phase === "assigned" || phase.phase === "deleting" ? phase.assignment : undefined;
  }

  /**
   * Higher than any that the Job shows, or that a worker was heard to have of it; also where somebody scribbled over the manager's marks: its agent may know that one. A
   * number that no Job reaches was made up, and does not count. Undefined when the numbers are used up.
   */
  nextEpoch(job: Job): Epoch | undefined {
    const floor = Math.max(this.#shownEpoch(job), this.#seen.get(uidOf(job)) ?? 0);
    const next = epochSchema.safeParse(floor + 1);
    return next.success ? next.data : undefined;
  }

  /** A worker has a mirror of this epoch. One that the hub does not know of was lost with what a backup does not have. */
  saw(job: Job, epoch: Epoch): void {
    const uid = uidOf(job);
    const shown = this.#shownEpoch(job);
    if (epoch > shown && epoch - shown <= MAX_EPOCHS_AHEAD && epoch > (this.#seen.get(uid) ?? 0))
      this.#seen.set(uid, epoch);
  }

  #shownEpoch(job: Job): number {
    const shown = Number(job.metadata.annotations?.[EPOCH] ?? 0);
    return this.#marksOf(job)?.epoch ?? (shown >= 0 && shown <= PLAUSIBLE_EPOCH ? Math.floor(shown) : 0);
  }

  /**
   * The last report stored in the present epoch, `epoch:seq:clusterID`; 0 when none was. A cluster that was rebuilt and
   * enrolled again counts anew: numbers of another cluster do not compare. Nor does one that its API server cannot have
   * reached, `highest`: it would make every later report look old.
   */
  storedSeq(job: Job, clusterID?: string, highest = Number.POSITIVE_INFINITY): number {
    const [epoch, seq, from = ""] = (job.metadata.annotations?.[SEQ] ?? "").split(":");
    if (epoch === undefined || seq === undefined || !/^\d{1,16}$/.test(seq)) return 0;
    if (Number(seq) > highest) return 0;
    if (clusterID !== undefined && from !== "" && from !== clusterID) return 0;
    return Number(epoch) === this.#marksOf(job)?.epoch ? Number(seq) : 0;
  }

  /** The annotations of an assignment, or of a Job that waits again and only keeps its epoch. */
  annotationsOf(job: Job, { cluster, epoch, queue, stopAfterSeconds, admitted }: Assignment, waits: boolean) {
    const uid = uidOf(job);
    const granted = waits ? { cluster: "", epoch, queue: "" } : { cluster, epoch, queue, stopAfterSeconds };
    return {
      [CLUSTER]: waits ? null : cluster,
      [EPOCH]: String(epoch),
      [ASSIGNED_QUEUE]: waits ? null : queue,
      [STOP_AFTER]: waits || stopAfterSeconds === undefined ? null : String(stopAfterSeconds),
      [GRANT]: this.#grants.make(uid, granted),
      [ADMITTED]: waits || typeof admitted !== "number" ? null : this.#letIn(job, epoch, admitted),
    };
  }

  #letIn(job: Job, epoch: Epoch, parallelism: number): string {
    const resources = resourcesText(job.spec.template.spec);
    return `${parallelism}:${this.#grants.makeLetIn(uidOf(job), { epoch, parallelism, resources })}`;
  }

  #admitted(job: Job, uid: HubUid, epoch: Epoch): Assignment["admitted"] {
    const text = job.metadata.annotations?.[ADMITTED];
    if (text === undefined) return undefined;
    const [, digits, given] = /^(\d{1,10}):([\w-]{43})$/.exec(text) ?? [];
    if (digits === undefined || given === undefined) return "changed";
    const parallelism = Number(digits);
    const resources = resourcesText(job.spec.template.spec);
    return this.#grants.checkLetIn(uid, { epoch, parallelism, resources }, given) ? parallelism : "changed";
  }

  #marksOf(job: Job): Marks | undefined {
    let marks = this.#marks.get(job);
    if (marks === undefined) {
      marks = this.#read(job) ?? null;
      this.#marks.set(job, marks);
    }
    return marks ?? undefined;
  }

  #read(job: Job): Marks | undefined {
    const { annotations = {} } = job.metadata;
    const text = annotations[EPOCH] ?? "";
    const epoch = epochSchema.safeParse(/^\d{1,10}$/.test(text) ? Number(text) : undefined);
    const uid = hubUid.safeParse(job.metadata.uid);
    const grant = annotations[GRANT];
    if (!epoch.success || !uid.success || grant === undefined) return undefined;
    if (annotations[CLUSTER] === undefined) {
      const waiting = { cluster: "", epoch: epoch.data, queue: "" };
      const found = this.#grants.check(uid.data, waiting, grant);
      return found === undefined ? undefined : { epoch: epoch.data, assignment: undefined, isOld: found === "old" };
    }
    const cluster = clusterName.safeParse(annotations[CLUSTER]);
    if (!cluster.success) return undefined;
    const stopAfter = annotations[STOP_AFTER] ?? "";
    const assignment: Assignment = {
      cluster: cluster.data,
      epoch: epoch.data,
      queue: annotations[ASSIGNED_QUEUE] ?? "",
      ...(/^[1-9]\d{0,8}$/.test(stopAfter) ? { stopAfterSeconds: Number(stopAfter) } : {}),
    };
    const found = this.#grants.check(uid.data, assignment, grant);
    if (found === undefined) return undefined;
    const admitted = this.#admitted(job, uid.data, epoch.data);
    const whole = admitted === undefined ? assignment : { ...assignment, admitted };
    return { epoch: epoch.data, assignment: whole, isOld: found === "old" };
  }
}

export const isOurs = (job: Job): boolean => job.spec.managedBy === HUB_MANAGED_BY;

export const hasOurFinalizer = (job: Job): boolean => job.metadata.finalizers?.includes(WITHDRAW_FINALIZER) ?? false;

export const formatSeq = (epoch: Epoch, seq: number, clusterID?: string): string =>
  clusterID === undefined ? `${epoch}:${seq}` : `${epoch}:${seq}:${clusterID}`;

/** The hub's own UIDs are well-formed; anything else is a defect worth a throw. */
export const uidOf = (job: Job): HubUid => hubUid.parse(job.metadata.uid);

/** How the user deleted the Job, read off the finalizers the API server put there (OR-7). */
export function propagationOf(job: Job): "Orphan" | "Foreground" {
  return job.metadata.finalizers?.includes("orphan") ? "Orphan" : "Foreground";
}
