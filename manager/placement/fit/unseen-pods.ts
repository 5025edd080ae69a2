/**
 * Pods that were placed since the last report are somewhere on the cluster's nodes, and only its scheduler knows where. What is
 * taken off the nodes for them (take-off.ts) is a guess; a Job that relies on a wrong one gets a cluster that has no room. So it
 * must have room wherever those pods went: each may have gone where it is most in the way.
 */
import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import type { JobNeeds } from "./job-needs.ts";
import { blockingTaints, matchesLabels, namedNodes, UNKNOWN } from "./node-match.ts";

export class UnseenPods {
  /** The nodes as they were last reported. */
  #report: NodesReport | undefined;
  /** How many pods with these needs were placed since. */
  readonly #pods = new Map<JobNeeds, number>();
  readonly #shapes = new Map<JobNeeds, readonly NodeShape[]>();
  readonly #sums = new Map<NodeShape, ReadonlyMap<string, number>>();

  reported(report: NodesReport | undefined): void {
    this.#report = report;
    this.#shapes.clear();
    this.#sums.clear();
  }

  count(needs: JobNeeds, sign: 1 | -1): void {
    const pods = (this.#pods.get(needs) ?? 0) + sign * needs.pods;
    if (pods > 0) this.#pods.set(needs, pods);
    else this.#pods.delete(needs);
    this.#sums.clear();
  }

  /** Whether there is room for the Job wherever they went. Nodes that are chosen by name are not looked at: the guess has to do. */
  leaveRoomFor(needs: JobNeeds): boolean {
    if (this.#report === undefined || this.#pods.size === 0 || namedNodes(needs.rules) !== undefined) return true;
    const wanted = needs.gang ? needs.pods : 1;
    let [safe, atRisk, taken] = [0, 0, 0];
    for (const [other, pods] of this.#pods) if (this.#meet(needs, other)) taken += pods * atMostTaken(needs, other);
    for (const shape of this.#shapesFor(needs)) {
      const all = this.#sumOn(shape);
      for (const { room, nodes } of shape.free) {
        const each = podsOn(room, shape, needs);
        const slots = nodes * (needs.alone ? Math.min(1, each) : each);
        if (slots > 0 && isBeside(all, room, shape, needs, each)) safe += slots;
        else atRisk += slots;
        if (safe + Math.max(0, atRisk - taken) >= wanted) return true;
      }
    }
    return false;
  }

  /** Whether some nodes are open to both. */
  #meet(one: JobNeeds, other: JobNeeds): boolean {
    const theirs = this.#shapesFor(other);
    return this.#shapesFor(one).some((shape) => theirs.includes(shape));
  }

  /** What all of them together ask for that may be on nodes of this shape. */
  #sumOn(shape: NodeShape): ReadonlyMap<string, number> {
    const known = this.#sums.get(shape);
    if (known !== undefined) return known;
    const sums = new Map<string, number>();
    for (const [needs, pods] of this.#pods) {
      if (!this.#shapesFor(needs).includes(shape)) continue;
      for (const [resource, amount] of needs.perPod) sums.set(resource, (sums.get(resource) ?? 0) + pods * amount);
    }
    this.#sums.set(shape, sums);
    return sums;
  }

  #shapesFor(needs: JobNeeds): readonly NodeShape[] {
    const known = this.#shapes.get(needs);
    if (known !== undefined) return known;
    const { shapes = [], hiddenLabels = [] } = this.#report ?? {};
    const found = shapes.filter((shape) => mayGo(needs, shape, hiddenLabels));
    this.#shapes.set(needs, found);
    return found;
  }
}

const mayGo = ({ rules }: JobNeeds, shape: NodeShape, hidden: readonly string[]): boolean =>
  blockingTaints(rules, shape).length === 0 && matchesLabels(rules, shape, hidden, UNKNOWN);

function podsOn(room: readonly number[], { resources }: NodeShape, { perPod }: JobNeeds): number {
  let pods = Number.POSITIVE_INFINITY;
  for (const [resource, amount] of perPod)
    pods = Math.min(pods, Math.floor((room[resources.indexOf(resource)] ?? 0) / amount));
  return pods;
}

/** Whether a node with this room holds that many pods of the Job, and all of the others, too. */
function isBeside(
  others: ReadonlyMap<string, number>,
  room: readonly number[],
  { resources }: NodeShape,
  { perPod }: JobNeeds,
  pods: number,
): boolean {
  for (const [resource, amount] of others)
    if (perPod.has(resource) && amount + pods * (perPod.get(resource) ?? 0) > (room[resources.indexOf(resource)] ?? 0))
      return false;
  return true;
}

/** For how many pods of the one a pod of the other may take the room. Several on one node never take more than these together. */
function atMostTaken({ perPod }: JobNeeds, other: JobNeeds): number {
  let most = 0;
  for (const [resource, amount] of perPod) most = Math.max(most, Math.ceil((other.perPod.get(resource) ?? 0) / amount));
  return most;
}
