/**
 * How many pods of a waiting Job surely have room once some Jobs have left their cluster. Which nodes their pods are on is not
 * reported, so only what holds for each of the nodes where they may be is counted on: nobody is displaced without need or use.
 */
import type { Amounts } from "@jobferry/shared/job/requests.ts";
import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import { podsWithRoom } from "../fit/fits.ts";
import type { JobNeeds } from "../fit/job-needs.ts";
import { blockingTaints, matchesLabels, UNKNOWN } from "../fit/node-match.ts";

/** Of one waiting Job, on one cluster. What is true of one Job that leaves is true of all alike, and found out once. */
export class RoomAfter {
  readonly #needs: JobNeeds;
  readonly #nodes: NodesReport;
  readonly #onlyNode: NodeShape | undefined;
  readonly #now: number;
  readonly #known = new Map<string, { inPlace: number; anywhere: boolean }>();

  constructor(needs: JobNeeds, nodes: NodesReport) {
    this.#needs = needs;
    this.#nodes = nodes;
    this.#onlyNode = theOnlyNode(nodes);
    this.#now = podsWithRoom(needs, nodes);
  }

  /** With all of these gone. At most as many as the Job has. */
  of(leaving: readonly JobNeeds[]): number {
    const [needs, nodes, onlyNode] = [this.#needs, this.#nodes, this.#onlyNode];
    if (onlyNode !== undefined) return podsWithRoom(needs, emptied(nodes, onlyNode, leaving));
    let pods = this.#now;
    for (const left of leaving) pods += left.pods * this.inPlaceOf(left);
    if (pods === 0 && leaving.some((left) => left.pods > 0 && this.#whereItLeft(left).anywhere)) pods = 1;
    return Math.min(needs.pods, pods);
  }

  /** How many pods have room where one of this Job was. */
  inPlaceOf(left: JobNeeds): number {
    return this.#whereItLeft(left).inPlace;
  }

  #whereItLeft(left: JobNeeds): { inPlace: number; anywhere: boolean } {
    const kind = kindOf(left);
    const known = this.#known.get(kind);
    if (known !== undefined) return known;
    const places = this.#sharedPlaces(left);
    const found = {
      inPlace: places.length === 0 ? 0 : podsIn(left.perPod, this.#needs.perPod),
      anywhere: places.length > 0 && places.every((shape) => makesRoomOn(shape, this.#needs, left)),
    };
    this.#known.set(kind, found);
    return found;
  }

  /** Where pods of this Job may be; none, if one of the waiting Job may not be there, too. */
  #sharedPlaces(left: JobNeeds): readonly NodeShape[] {
    if (this.#needs.alone) return [];
    const places = this.#nodes.shapes.filter((shape) => admits(shape, left, this.#nodes));
    return places.every((shape) => admits(shape, this.#needs, this.#nodes)) ? places : [];
  }
}

const kinds = new WeakMap<JobNeeds, string>();

/** Jobs of one kind ask for the same and may go to the same nodes. */
function kindOf(needs: JobNeeds): string {
  const known = kinds.get(needs);
  if (known !== undefined) return known;
  const kind = JSON.stringify([[...needs.perPod], needs.rules]);
  kinds.set(needs, kind);
  return kind;
}

/** On whichever node one of its pods is: with what is free there already, its leaving makes room for one pod. */
const makesRoomOn = (shape: NodeShape, needs: JobNeeds, left: JobNeeds): boolean =>
  shape.free.every(({ room }) => {
    const after = plus(room, shape, left.perPod, 1);
    return !isWithin(after, shape.allocatable) || podsOn(after, shape, needs.perPod) > 0;
  });

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
