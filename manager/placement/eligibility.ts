import type { Amounts } from "@jobferry/shared/job/requests.ts";
import type { LabelMatcher } from "@jobferry/shared/job/selector.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import { fits } from "./fit/fits.ts";
import type { JobNeeds } from "./fit/job-needs.ts";
import { type QueueQuota, quotaObstacle } from "./order/quota.ts";

/** A worker cluster as placement sees it. */
export interface ClusterView {
  readonly name: ClusterName;
  readonly labels: Readonly<Record<string, string>>;
  readonly connected: boolean;
  /** Why nothing can be placed, connected or not (say, a rebuilt cluster that must be enrolled again). */
  readonly notReady: string | undefined;
  readonly cordoned: boolean;
  readonly maxJobs: number | undefined;
  /** Hub namespaces it accepts; undefined means all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  /** Unfinished Jobs assigned to it. */
  readonly running: number;
  /** Free over all nodes, less what was placed there since the agent reported it. Undefined: not reported yet, not limited. */
  readonly free: Amounts | undefined;
  /** Free on the node with the most room: a pod that asks for more fits nowhere today. */
  readonly largestFreeNode: Amounts | undefined;
  /** The largest node when empty: a pod that asks for more never fits. */
  readonly largestNode: Amounts | undefined;
  /** Its nodes, less what was placed there since. They decide where they are known; the three figures above, where they are not. */
  readonly nodes: NodesReport | undefined;
  /** Whether there is room wherever the pods went that were placed since the last report. */
  readonly leavesRoomFor?: (needs: JobNeeds) => boolean;
  /** Whether nodes that its pods may go to are kept for a Job that would starve. */
  readonly isKeptFrom?: (needs: JobNeeds) => boolean;
}

/** A queue as placement sees it. */
export interface QueueView {
  readonly name: string;
  readonly paused: boolean;
  /** What of its quota cannot be read: nothing is let in before somebody mends it. */
  readonly unreadable?: string | undefined;
  readonly placement: "Spread" | "Pack" | "Ordered";
  /** Of a cluster with these labels among those that the queue prefers: the lower comes first. */
  readonly rankOf?: (labels: Readonly<Record<string, string>>) => number;
  readonly maxPriority?: number | undefined;
  readonly acceptsNamespace: (namespace: string) => boolean;
  readonly matchesCluster: LabelMatcher;
  readonly maxJobs: number | undefined;
  readonly running: number;
  /** What its Jobs may hold together; a resource that is not named is not limited. */
  readonly quota: Amounts;
  /** What they hold now. */
  readonly used: Amounts;
  /** Why its budget lets no further Job start; undefined: there is something left. */
  readonly spent?: string | undefined;
  /** In a cohort, the quota is what is guaranteed, and more may be borrowed. */
  readonly borrowing?: QueueQuota | undefined;
}

/** A waiting Job as placement sees it. */
export interface Candidate extends JobNeeds {
  readonly namespace: string;
  /** As written; Jobs with the same text select the same clusters. */
  readonly clusterSelector: string;
  readonly matchesCluster: LabelMatcher;
  /** Jobs with the same text may go to the same nodes. */
  readonly where: string;
  /** Room for one pod, on whichever node, is all it needs. */
  readonly simple: boolean;
  /** Clusters that are not asked now because they refused this Job or found no node for it, with what they said. */
  readonly refusedBy: ReadonlyMap<ClusterName, string>;
}

/** `never`: only an edit of the Job, the queue or the cluster can help, waiting cannot. */
export interface Obstacle {
  readonly reason: string;
  readonly never: boolean;
}

/** Why the queue as a whole holds the Job back, before any cluster is looked at. */
export function queueObstacle(
  candidate: Pick<Candidate, "namespace" | "perPod" | "pods">,
  queue: QueueView,
): Obstacle | undefined {
  if (!queue.acceptsNamespace(candidate.namespace))
    return { reason: `queue ${queue.name} does not accept namespace ${candidate.namespace}`, never: true };
  if (queue.unreadable !== undefined) return { reason: `queue ${queue.name}: ${queue.unreadable}`, never: true };
  if (queue.paused) return { reason: `queue ${queue.name} is paused`, never: false };
  if (queue.spent !== undefined) return { reason: `budget of queue ${queue.name}: ${queue.spent}`, never: false };
  if (queue.borrowing !== undefined) {
    const found = quotaObstacle(askedBy(candidate), queue.borrowing);
    return found === undefined ? undefined : { reason: found.reason, never: found.never };
  }
  if (queue.maxJobs !== undefined && queue.running >= queue.maxJobs)
    return { reason: `queue ${queue.name} runs its quota of ${queue.maxJobs} Jobs`, never: false };
  for (const [resource, limit] of queue.quota) {
    const asked = (candidate.perPod.get(resource) ?? 0) * candidate.pods;
    const used = queue.used.get(resource) ?? 0;
    // What is not asked for cannot be counted: its pods would run beside every limit.
    if (asked === 0) return { reason: `queue ${queue.name} limits ${resource}: the Job must request it`, never: true };
    if (used + asked <= limit) continue;
    const text = `asks ${format(resource, asked)} of ${format(resource, limit)}, ${format(resource, used)} in use`;
    return { reason: `quota of queue ${queue.name} (${resource}: ${text})`, never: asked > limit };
  }
  return undefined;
}

/** All that the Job would hold; it counts as one of `jobs`. */
export const askedBy = ({ perPod, pods }: Pick<Candidate, "perPod" | "pods">): Amounts =>
  new Map([["jobs", 1], ...[...perPod].map(([resource, amount]): [string, number] => [resource, amount * pods])]);

/** Why this Job cannot go to this cluster now; undefined when it can. */
export function clusterObstacle(candidate: Candidate, queue: QueueView, cluster: ClusterView): Obstacle | undefined {
  if (!queue.matchesCluster(cluster.labels)) return { reason: `queue ${queue.name} does not select it`, never: true };
  if (!candidate.matchesCluster(cluster.labels))
    return { reason: "the Job's cluster selector does not match", never: true };
  if (cluster.namespaces !== undefined && !cluster.namespaces.has(candidate.namespace))
    return { reason: `does not accept namespace ${candidate.namespace}`, never: true };
  const refusal = candidate.refusedBy.get(cluster.name);
  if (refusal !== undefined) return { reason: refusal, never: false };
  const noRoom = roomObstacle(candidate, cluster);
  if (noRoom?.never === true) return noRoom;
  if (cluster.notReady !== undefined) return { reason: cluster.notReady, never: false };
  if (!cluster.connected) return { reason: "not connected", never: false };
  if (cluster.cordoned) return { reason: "cordoned", never: false };
  if (cluster.maxJobs !== undefined && cluster.running >= cluster.maxJobs)
    return { reason: `runs its maximum of ${cluster.maxJobs} Jobs`, never: false };
  if (noRoom === undefined && cluster.isKeptFrom?.(candidate) === true)
    return { reason: "what becomes free is kept for a Job that has waited for long", never: false };
  return noRoom;
}

/** Whether nothing but room can keep this Job away from the cluster now. */
export const isOpen = (candidate: Candidate, queue: QueueView, cluster: ClusterView): boolean =>
  (cluster.maxJobs === undefined || cluster.running < cluster.maxJobs) && isInReach(candidate, queue, cluster);

/** The same, once some of the Jobs there have ended. */
export function isInReach(candidate: Candidate, queue: QueueView, cluster: ClusterView): boolean {
  const { namespaces, labels } = cluster;
  return (
    !cluster.cordoned &&
    !candidate.refusedBy.has(cluster.name) &&
    (namespaces === undefined || namespaces.has(candidate.namespace)) &&
    queue.matchesCluster(labels) &&
    candidate.matchesCluster(labels) &&
    cluster.notReady === undefined &&
    cluster.connected
  );
}

/** The nodes decide. An agent that does not report them is judged by what is free in all and on its emptiest node. */
function roomObstacle(candidate: Candidate, { nodes, ...figures }: ClusterView): Obstacle | undefined {
  const { perPod, pods, gang } = candidate;
  if (nodes !== undefined) {
    const { ever, obstacle } = fits(candidate, nodes);
    if (obstacle !== undefined) return { reason: obstacle, never: ever < (gang ? pods : 1) };
    const isFree = figures.leavesRoomFor?.(candidate) ?? true;
    return isFree ? undefined : { reason: "what is free may be taken by Jobs that were just placed", never: false };
  }
  const tooBig = exceeding(perPod, figures.largestNode);
  if (tooBig !== undefined) return { reason: `no node is large enough for one pod (${tooBig})`, never: true };
  const noRoom = exceeding(perPod, figures.largestFreeNode) ?? exceeding(perPod, figures.free);
  return noRoom === undefined ? undefined : { reason: `no room for one pod (${noRoom})`, never: false };
}

/** The first resource of which more is asked than there is. Of one that a report does not name there is nothing. */
function exceeding(asked: Amounts, available: Amounts | undefined): string | undefined {
  if (available === undefined) return undefined;
  for (const [resource, amount] of asked) {
    const limit = available.get(resource) ?? 0;
    if (amount > limit) return `${resource}: asks ${format(resource, amount)}, has ${format(resource, limit)}`;
  }
  return undefined;
}

function format(resource: string, units: number): string {
  if (resource === "cpu") return units % 1000 === 0 ? String(units / 1000) : `${units}m`;
  if (resource !== "memory" && resource !== "ephemeral-storage") return String(units);
  return units >= 2 ** 20 ? `${Math.floor(units / 2 ** 20)}Mi` : String(units);
}
