/**
 * How many pods of a waiting Job surely have room once some Jobs have left their cluster. Which nodes their pods are on is not
 * reported, so only what holds for each of the nodes where they may be is counted on: nobody is displaced without need or use.
 */
import type { Amounts } from "@jobferry/shared/job/requests.ts";
import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import { podsWithRoom } from "../fit/fits.ts";
import type { JobNeeds } from "../fit/job-needs.ts";
import { blockingTaints, matchesLabels, UNKNOWN } from "../fit/node-match.ts";

/** With all of these gone. At most as many as the Job has. */
export function roomAfter(needs: JobNeeds, nodes: NodesReport, leaving: readonly JobNeeds[]): number {
  const onlyNode = theOnlyNode(nodes);
  if (onlyNode !== undefined) return podsWithRoom(needs, emptied(nodes, onlyNode, leaving));
  const now = podsWithRoom(needs, nodes);
  let pods = now;
  for (const left of leaving) pods += left.pods * podsInPlaceOf(needs, left, nodes);
  if (pods === 0 && leaving.some((left) => left.pods > 0 && makesRoomAnywhere(needs, left, nodes))) pods = 1;
  return Math.min(needs.pods, pods);
}

/** How much of the way to enough room this Job's leaving is, of all alike. */
export const podsInPlaceOf = (needs: JobNeeds, left: JobNeeds, nodes: NodesReport): number =>
  mayShare(needs, left, nodes) ? podsIn(left.perPod, needs.perPod) : 0;

/** Wherever a pod of this Job may be, one of the waiting Job may be, too. */
function mayShare(needs: JobNeeds, left: JobNeeds, nodes: NodesReport): boolean {
  if (needs.alone) return false;
  const places = nodes.shapes.filter((shape) => admits(shape, left, nodes));
  return places.length > 0 && places.every((shape) => admits(shape, needs, nodes));
}

/** On whichever node one of its pods is: with what is free there already, its leaving makes room for one pod. */
function makesRoomAnywhere(needs: JobNeeds, left: JobNeeds, nodes: NodesReport): boolean {
  if (!mayShare(needs, left, nodes)) return false;
  const places = nodes.shapes.filter((shape) => admits(shape, left, nodes));
  return places.every((shape) =>
    shape.free.every(({ room }) => {
      const after = plus(room, shape, left.perPod, 1);
      return !isWithin(after, shape.allocatable) || podsOn(after, shape, needs.perPod) > 0;
    }),
  );
}

const admits = (shape: NodeShape, { rules, perPod }: JobNeeds, { hiddenLabels }: NodesReport): boolean =>
  podsOn(shape.allocatable, shape, perPod) > 0 &&
  blockingTaints(rules, shape).length === 0 &&
  matchesLabels(rules, shape, hiddenLabels, UNKNOWN);

function theOnlyNode({ shapes }: NodesReport): NodeShape | undefined {
  const [shape] = shapes;
  return shapes.length === 1 && shape?.nodes === 1 && shape.free.length === 1 ? shape : undefined;
}

function emptied(nodes: NodesReport, shape: NodeShape, leaving: readonly JobNeeds[]): NodesReport {
  const room = leaving.reduce(
    (sum: readonly number[], { perPod, pods }) => plus(sum, shape, perPod, pods),
    shape.free[0]?.room ?? [],
  );
  const most = room.map((amount, i) => Math.min(amount, shape.allocatable[i] ?? 0));
  return { ...nodes, shapes: [{ ...shape, free: shape.free.map((row) => ({ ...row, room: most })) }] };
}

const plus = (room: readonly number[], { resources }: NodeShape, amounts: Amounts, times: number): number[] =>
  room.map((amount, i) => amount + times * (amounts.get(resources[i] ?? "") ?? 0));

const isWithin = (room: readonly number[], most: readonly number[]): boolean =>
  room.every((amount, i) => amount <= (most[i] ?? 0));

function podsOn(figures: readonly number[], { resources }: NodeShape, perPod: Amounts): number {
  const amounts = new Map(resources.map((resource, i) => [resource, figures[i] ?? 0]));
  return podsIn(amounts, perPod);
}

function podsIn(room: Amounts, perPod: Amounts): number {
  let pods = Number.POSITIVE_INFINITY;
  for (const [resource, amount] of perPod) pods = Math.min(pods, Math.floor((room.get(resource) ?? 0) / amount));
  return Number.isFinite(pods) ? pods : 0;
}
