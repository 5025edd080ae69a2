/**
 * The nodes of a cluster that are kept for one Job. The worker's scheduler chooses among all nodes that a pod may go to, and likes
 * the emptiest best: so a pod that may go to one of these nodes is kept from the whole cluster, or it could take what became free.
 */
import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import type { JobNeeds, NodeRules } from "./job-needs.ts";
import { blockingTaints, matchesLabels, UNKNOWN } from "./node-match.ts";

/** Where the Job's pods could be, if these nodes were empty. */
export const keptShapes = ({ rules, perPod }: JobNeeds, { shapes, hiddenLabels }: NodesReport): NodeShape[] =>
  shapes.filter((shape) => partOf(perPod, shape, shape.allocatable) >= 1 && mayGoTo(rules, [shape], hiddenLabels));

/** Whether pods with these rules may go to one of the shapes. */
export const mayGoTo = (rules: NodeRules, shapes: readonly NodeShape[], hiddenLabels: readonly string[]): boolean =>
  shapes.some(
    (shape) => matchesLabels(rules, shape, hiddenLabels, UNKNOWN) && blockingTaints(rules, shape).length === 0,
  );

/** What is free on these shapes, in pods of the Job: a node with half of what one asks for counts as half a pod. */
export function freeInPods({ perPod }: JobNeeds, shapes: readonly NodeShape[]): number {
  let sum = 0;
  for (const shape of shapes) for (const { nodes, room } of shape.free) sum += nodes * partOf(perPod, shape, room);
  return sum;
}

function partOf(perPod: JobNeeds["perPod"], { resources }: NodeShape, figures: readonly number[]): number {
  let part = Number.POSITIVE_INFINITY;
  for (const [resource, amount] of perPod) part = Math.min(part, (figures[resources.indexOf(resource)] ?? 0) / amount);
  return part;
}
