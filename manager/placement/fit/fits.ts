/**
 * Whether the pods of a Job have room on a cluster, by the rules of kube-scheduler: test/placement compares the two. What it
 * does not look at: other pods (affinity between pods, spreading), volumes, resource claims, and which ports of the node are taken.
 */
import type { Amounts } from "@jobferry/shared/job/requests.ts";
import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import type { JobNeeds } from "./job-needs.ts";
import { blockingTaints, isPassing, matchesLabels, namedNodes, UNKNOWN } from "./node-match.ts";
import { obstacleOf } from "./obstacle.ts";

interface Room {
  /** How many of the Job's pods have room now. */
  readonly now: number;
  /** How many would have on empty nodes, all of them ready. */
  readonly ever: number;
}

export interface Fit extends Room {
  /** Why there is not room enough now; undefined when there is. */
  readonly obstacle?: string;
}

/** Pods that must have room before the Job can go there. */
const podsNeeded = ({ gang, pods }: JobNeeds): number => (gang ? pods : 1);

export function fits(needs: JobNeeds, nodes: NodesReport): Fit {
  const room = roomFor(needs, nodes);
  return room.now >= podsNeeded(needs) ? room : { ...room, obstacle: obstacleOf(needs, nodes, room) };
}

/** The same without words. */
export const hasRoom = (needs: JobNeeds, nodes: NodesReport): boolean => roomFor(needs, nodes).now >= podsNeeded(needs);

/** How many of the Job's pods have room now. */
export const podsWithRoom = (needs: JobNeeds, nodes: NodesReport): number => roomFor(needs, nodes).now;

/** The figures alone. Counting ends at the number of pods that the Job has. */
function roomFor(needs: JobNeeds, { shapes, hiddenLabels }: NodesReport): Room {
  const { perPod, pods, alone, rules } = needs;
  const named = namedNodes(rules);
  let [now, ever] = [0, 0];
  /** Nodes whose names were not reported and that may be among the ones asked for. */
  let unnamed = named ?? Number.POSITIVE_INFINITY;
  for (const shape of shapes) {
    if (now >= pods) break;
    const taints = blockingTaints(rules, shape);
    if (taints.some((taint) => !isPassing(taint)) || !matchesLabels(rules, shape, hiddenLabels, UNKNOWN)) continue;
    const count = (figures: readonly number[]): number => Math.min(podsOn(figures, shape, perPod), alone ? 1 : pods);
    const whole = count(shape.allocatable);
    let away = shape.nodes;
    for (const row of shape.free) {
      away -= row.nodes;
      const matching = matchingNodes(needs, shape, hiddenLabels, row, named !== undefined);
      const nodes = Math.min(matching, row.names === undefined ? unnamed : matching);
      if (row.names === undefined) unnamed -= nodes;
      const free = count(row.room);
      if (taints.length === 0) now += nodes * free;
      ever += nodes * Math.max(whole, free);
    }
    const absent = Math.min(away, unnamed);
    unnamed -= absent;
    ever += absent * whole;
  }
  return { now: Math.min(pods, now), ever: Math.min(pods, Math.max(now, ever)) };
}

function matchingNodes(
  { rules }: JobNeeds,
  shape: NodeShape,
  hidden: readonly string[],
  { nodes, names }: NodeShape["free"][number],
  byName: boolean,
): number {
  if (!byName || names === undefined) return nodes;
  return names.filter((name) => matchesLabels(rules, shape, hidden, name)).length;
}

/** A resource that the shape does not name is not there. */
function podsOn(figures: readonly number[], { resources }: NodeShape, perPod: Amounts): number {
  let pods = Number.POSITIVE_INFINITY;
  for (const [resource, amount] of perPod)
    pods = Math.min(pods, Math.floor((figures[resources.indexOf(resource)] ?? 0) / amount));
  return pods;
}
