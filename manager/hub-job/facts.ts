import type { Job } from "@jobferry/shared/job/types.ts";
import type { OnClusterLost } from "@jobferry/shared/protocol/delivery.ts";
import type { ClusterName, Epoch } from "@jobferry/shared/protocol/names.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { Clusters } from "../clusters/clusters.ts";
import { type Leaving, leavingOf } from "../hub/leaving.ts";
import { type Assignment, type Phase, type Phases, uidOf } from "../hub/phase.ts";
import { sizeProblem } from "../hub/size.ts";
import { readWishes } from "../hub/wishes.ts";
import { classNameOf } from "../placement/order/priority.ts";
import type { Decision, Placement } from "../placement/placement.ts";
import type { Queues } from "../placement/queues.ts";
import type { Inbox, Pending } from "../reports/inbox.ts";
import { type Admission, judgeAdmission } from "./admission.ts";

/** The cluster that holds the Job, at the moment of the decision. */
export interface ClusterFacts {
  readonly isConnected: boolean;
  readonly isDraining: boolean;
  readonly isRebuilt: boolean;
  readonly isLost: boolean;
  readonly silentMs: number;
  /** How long nothing was heard, whoever is at fault for it. */
  readonly unheardMs: number;
}

/** Everything beside the Job itself that decides what becomes of it. */
export interface Facts {
  readonly phase: Phase;
  /** What the cluster that holds it reported and nobody acted upon yet. */
  readonly pending: Pending;
  /** The one that the Job's marks name, forged or not. Undefined: it has none, or that one is not in the fleet. */
  readonly cluster: ClusterFacts | undefined;
  /** What becomes of it when its cluster is lost: its own wish, or else its queue's. */
  readonly policy: OnClusterLost;
  /** Undefined when the numbers are used up. */
  readonly nextEpoch: Epoch | undefined;
  readonly storedSeq: number;
  /** Its assignment has to be granted again, because keys are being changed. */
  readonly needsGrant: boolean;
  /** Of a Job that waits. */
  readonly placement?: PlacementFact;
  /** Of a Job that has a cluster. */
  readonly admission?: Admission;
  /** Of a Job that waits and asks for more than its queue lets anybody have: what its priority counts as. */
  readonly priorityNote?: string;
  /** Of a Job that has a cluster: deletion may leave its pods running. */
  readonly allowsOrphans?: boolean;
  /** Of a Job whose cluster is lost, or finds no node for its pods: another one could take it now. */
  readonly fitsElsewhere?: boolean;
  /** It was asked back from its cluster, and has still to leave it. */
  readonly leaving?: Leaving | undefined;
  /** Another Job is to have its room. */
  readonly displaced?: string | undefined;
  /** Its pods have found no node for longer than it or its queue wants to wait. */
  readonly isStuck?: boolean;
}

/** `lostAfterMs`: of the cluster that was chosen. */
type PlacementFact = Decision & { readonly lostAfterMs?: number };

export interface FactSources {
  readonly clusters: Clusters;
  readonly queues: Queues;
  readonly placement: Placement;
  readonly phases: Phases;
  readonly inbox: Inbox;
  /** The value of a PriorityClass of the hub. */
  priorityClass?(name: string): number | undefined;
}

/** Gathers the facts about one Job. */
export function gatherFacts(job: Job, sources: FactSources): Facts {
  const { clusters, phases, inbox } = sources;
  const phase = phases.of(job);
  const assignment = "assignment" in phase ? phase.assignment : undefined;
  const name = "forged" in phase ? phase.forged?.cluster : assignment?.cluster;
  const cluster = name === undefined ? undefined : clusters.get(name);
  const common = {
    phase,
    pending: inbox.peek(uidOf(job)),
    cluster: cluster === undefined ? undefined : clusterFacts(cluster),
    policy: policyOf(job, assignment, sources.queues),
    nextEpoch: phases.nextEpoch(job),
    storedSeq: phases.storedSeq(job, cluster?.clusterID, cluster?.highestSeq),
    needsGrant: phases.needsGrant(job),
  };
  if (phase.phase === "waiting" && phase.forged === undefined)
    return { ...common, placement: placementOf(job, sources), ...priorityNote(job, sources) };
  if (phase.phase === "deleting")
    return { ...common, allowsOrphans: sources.queues.allowsOrphans(assignment?.queue ?? "") };
  if (phase.phase !== "assigned") return common;
  const { assignment: held } = phase;
  const admission = judgeAdmission(job, held, sources.placement.growth(job, held));
  const leaving = leavingOf(job, held);
  const displaced = sources.placement.displaced(uidOf(job));
  const isStuck = leaving === undefined && (common.pending.stuck?.ms ?? -1) >= patienceMs(job, held, sources.queues);
  if (!isStuck && cluster?.silence.isLost !== true) return { ...common, admission, leaving, displaced };
  return { ...common, admission, leaving, displaced, isStuck, fitsElsewhere: fitsElsewhere(job, held, sources) };
}

const clusterFacts = (cluster: Cluster): ClusterFacts => ({
  isConnected: cluster.isConnected,
  isDraining: cluster.isDraining,
  isRebuilt: cluster.isRebuilt,
  isLost: cluster.silence.isLost,
  silentMs: cluster.silence.silentMs,
  unheardMs: cluster.unheardMs,
});

function policyOf(job: Job, assignment: Assignment | undefined, queues: Queues): OnClusterLost {
  const read = readWishes(job);
  const wished = "wishes" in read ? read.wishes.onClusterLost : undefined;
  const queue = assignment?.queue ?? ("wishes" in read ? read.wishes.queue : "");
  return wished ?? queues.onClusterLost(queue);
}

function priorityNote(job: Job, { queues, priorityClass }: FactSources): { priorityNote?: string } {
  const read = readWishes(job);
  if ("problems" in read) return {};
  const { queue } = read.wishes;
  const priority = read.wishes.priority ?? priorityClass?.(classNameOf(job)) ?? 0;
  const most = queues.maxPriority(queue);
  if (most === undefined || priority <= most) return {};
  return { priorityNote: `its priority ${priority} counts as ${most}, the maxPriority of queue ${queue}` };
}

/** How long its pods may find no node: its own wish, or else its queue's. */
function patienceMs(job: Job, { queue }: Assignment, queues: Queues): number {
  const read = readWishes(job);
  const wished = "wishes" in read ? read.wishes.unschedulableAfterMs : undefined;
  return wished ?? queues.unschedulableAfterMs(queue);
}

function placementOf(job: Job, { placement, clusters }: FactSources): PlacementFact {
  const read = readWishes(job);
  const problems = [...("problems" in read ? read.problems : []), sizeProblem(job) ?? []].flat();
  if ("problems" in read || problems.length > 0) {
    placement.leave(uidOf(job));
    return { reason: `waiting: ${problems.join("; ")}`, never: true };
  }
  const decision = placement.consider(job, read.wishes);
  if (!("cluster" in decision)) return decision;
  const lostAfterMs = clusters.get(decision.cluster)?.silence.lostAfterMs;
  return lostAfterMs === undefined ? decision : { ...decision, lostAfterMs };
}

function fitsElsewhere(job: Job, { cluster }: { cluster: ClusterName }, { placement }: FactSources): boolean {
  const read = readWishes(job);
  return "wishes" in read && placement.fitsElsewhere(job, read.wishes, cluster);
}
