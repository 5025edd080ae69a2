import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import { type Candidate, type ClusterView, clusterObstacle, type Obstacle, type QueueView } from "./eligibility.ts";

export type Choice =
  | { readonly cluster: ClusterName }
  | { readonly obstacles: ReadonlyMap<ClusterName, Obstacle>; readonly never: boolean };

/** Picks the cluster for one Job, or says what stands in the way on each. */
export function choose(candidate: Candidate, queue: QueueView, clusters: Iterable<ClusterView>): Choice {
  const obstacles = new Map<ClusterName, Obstacle>();
  const fitting: ClusterView[] = [];
  for (const cluster of clusters) {
    const obstacle = clusterObstacle(candidate, queue, cluster);
    if (obstacle === undefined) fitting.push(cluster);
    else obstacles.set(cluster.name, obstacle);
  }
  const best = preferred(candidate, queue, fitting);
  if (best !== undefined) return { cluster: best.name };
  return { obstacles, never: obstacles.size > 0 && [...obstacles.values()].every((obstacle) => obstacle.never) };
}

/**
 * Of clusters that can all take the Job. Spread takes the one that stays emptiest, Pack the one that gets fullest, Ordered the
 * one that the queue prefers, and of several the one that stays emptiest; equal ones are told apart by fewer Jobs, then by name, so that the same situation always gives the same answer.
 */
export function preferred<T extends ClusterView>(
  candidate: Candidate,
  { placement, rankOf = () => 0 }: Pick<QueueView, "placement" | "rankOf">,
  fitting: Iterable<T>,
): T | undefined {
  let best: (Scored & { cluster: T }) | undefined;
  for (const cluster of fitting) {
    const scored = { cluster, left: shareLeft(candidate, cluster), rank: rankOf(cluster.labels) };
    if (best === undefined || isBetter(placement, scored, best)) best = scored;
  }
  return best?.cluster;
}

type Scored = { cluster: ClusterView; left: number; rank: number };

function isBetter(placement: QueueView["placement"], one: Scored, other: Scored): boolean {
  const packs = placement === "Pack";
  if (one.rank !== other.rank) return one.rank < other.rank;
  if (one.left !== other.left) return packs ? one.left < other.left : one.left > other.left;
  if (one.cluster.running !== other.cluster.running) return one.cluster.running < other.cluster.running !== packs;
  return one.cluster.name < other.cluster.name;
}

/**
 * How much of the scarcest resource would be left, between 0 and 1. A Job that asks for nothing is weighed as one unit
 * of its pods, so that a thousand of them still spread.
 */
function shareLeft(candidate: Candidate, cluster: ClusterView): number {
  let share = 1;
  for (const [resource, perPod] of candidate.perPod) {
    const free = cluster.free?.get(resource);
    if (free === undefined || free <= 0 || perPod <= 0) continue;
    share = Math.min(share, Math.max(0, 1 - (perPod * candidate.pods) / free));
  }
  return share;
}

const byName = new Intl.Collator("en", { numeric: true }).compare;

/** How the message of a Job starts that waits for an edit. */
export const NEVER = "cannot run anywhere until something is changed";

/** One line for the hub Job: what keeps it waiting, per cluster, bounded in length. */
export function explain(obstacles: ReadonlyMap<ClusterName, Obstacle>, never: boolean, unnamed = 0): string {
  if (obstacles.size === 0) return "waiting: there is no worker cluster yet (add one with `jobferry cluster add`)";
  const byReason = new Map<string, string[]>();
  const sorted = [...obstacles].sort(([one], [other]) => byName(one, other));
  for (const [cluster, { reason }] of sorted) byReason.set(reason, [...(byReason.get(reason) ?? []), cluster]);
  const parts = [...byReason].map(([reason, names]) => `${list(names)}: ${reason}`);
  const shown = parts.slice(0, 8).join("; ");
  const more = parts.length > 8 ? `; and ${parts.length - 8} more reasons` : "";
  const others = unnamed > 0 ? `; and ${unnamed} more clusters` : "";
  return `${never ? NEVER : "waiting"}: ${shown}${more}`.slice(0, 1000 - others.length) + others;
}

const list = (names: readonly string[]): string =>
  names.length <= 4 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
