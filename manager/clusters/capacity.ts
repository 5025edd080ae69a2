import type { Amounts } from "@jobferry/shared/job/requests.ts";
import { resourceUnits } from "@jobferry/shared/job/requests.ts";
import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import type { JobNeeds, NodeRules } from "../placement/fit/job-needs.ts";
import { keptShapes, mayGoTo } from "../placement/fit/kept-nodes.ts";
import { takeOff } from "../placement/fit/take-off.ts";
import { UnseenPods } from "../placement/fit/unseen-pods.ts";

type Quantities = Readonly<Record<string, string>>;

export interface Figures {
  readonly kind: "hello" | "heartbeat";
  readonly capacity?: Quantities;
  readonly free: Quantities;
  readonly largestFreeNode: Quantities;
  readonly largestNode: Quantities;
  readonly nodes?: NodesReport | undefined;
}

interface Reservation {
  readonly needs: JobNeeds;
  readonly amounts: Amounts;
  /** The report before it. */
  readonly round: number;
}

/** The first report after a placement may have been on its way before the Job arrived. */
const COVERED_AFTER = 2;

/**
 * How much room a cluster has, between two reports of its agent. What is placed there in the meantime is taken off at once,
 * or a burst would go to the first cluster whole; the agent's next figures replace the guess as far as they cover it. The nodes
 * are not part of every report: until they are, what was placed is taken off the ones that were last told.
 */
export class Capacity {
  #whole: Amounts = new Map();
  #free: Amounts | undefined;
  #largestFreeNode: Amounts | undefined;
  #largestNode: Amounts | undefined;
  #nodes: NodesReport | undefined;
  /** The nodes less what is reserved; undefined: to be counted anew. */
  #nodesLeft: NodesReport | undefined;
  /** Placed since the last report: what each Job will ask for. */
  readonly #reserved = new Map<string, Reservation>();
  /** The same until a report has the nodes. */
  readonly #onNodes = new Map<string, Reservation>();
  /** Room that is kept for whoever it was promised to, whatever is reported; by the name of the promise. */
  readonly #held = new Map<string, JobNeeds>();
  /** Whole nodes that are kept, with all that becomes free there. */
  readonly #kept = new Map<string, JobNeeds>();
  /** The same as the nodes were last reported; undefined: to be found anew. */
  #keptShapes: readonly NodeShape[] | undefined;
  readonly #unseen = new UnseenPods();
  /** Sum of all reservations. */
  readonly #taken = new Map<string, number>();
  #round = 0;
  #nodesRound = 0;
  #version = 0;

  report({ kind, capacity = {}, free, largestFreeNode, largestNode, nodes }: Figures): void {
    this.#whole = amountsOf(capacity);
    this.#free = amountsOf(free);
    this.#largestFreeNode = amountsOf(largestFreeNode);
    this.#largestNode = amountsOf(largestNode);
    this.#round++;
    this.#version++;
    // Only an older agent introduces itself without its nodes.
    if (nodes !== undefined || kind === "hello") {
      this.#nodes = nodes;
      this.#keptShapes = undefined;
      this.#unseen.reported(nodes);
      this.#nodesLeft = undefined;
      this.#nodesRound = this.#round;
    }
    for (const [uid, { round }] of this.#reserved) if (this.#isCovered(round)) this.#cancelSums(uid);
    for (const [uid, { round }] of this.#onNodes)
      if (this.#isCovered(round) && this.#nodesRound > round) this.#cancelNodes(uid);
  }

  reserve(uid: string, needs: JobNeeds): void {
    this.cancel(uid);
    this.#version++;
    const amounts = new Map([...needs.perPod].map(([resource, amount]) => [resource, amount * needs.pods]));
    const reservation = { needs, amounts, round: this.#round };
    this.#reserved.set(uid, reservation);
    this.#take(amounts, 1);
    if (this.#nodes === undefined) return;
    this.#onNodes.set(uid, reservation);
    this.#unseen.count(needs, 1);
    // What was promised is taken off last.
    if (this.#held.size > 0) this.#nodesLeft = undefined;
    else if (this.#nodesLeft !== undefined) this.#nodesLeft = takeOff(this.#nodesLeft, needs);
  }

  cancel(uid: string): void {
    this.#version++;
    this.#cancelSums(uid);
    this.#cancelNodes(uid);
  }

  /** Keeps what is free, and becomes free, for these pods, as far as they have room. For clusters that report their nodes. */
  hold(name: string, needs: JobNeeds): void {
    this.#held.set(name, needs);
    this.#version++;
    this.#nodesLeft = undefined;
  }

  /** Keeps all nodes on which these pods could be, until one of them has room. */
  keep(name: string, needs: JobNeeds): void {
    this.#kept.set(name, needs);
    this.#keptShapes = undefined;
    this.#version++;
  }

  release(name: string): void {
    const [wasHeld, wasKept] = [this.#held.delete(name), this.#kept.delete(name)];
    if (!wasHeld && !wasKept) return;
    this.#version++;
    this.#nodesLeft = undefined;
    this.#keptShapes = undefined;
  }

  /** Whether nodes that pods with these rules may go to are kept for somebody else. */
  isKeptFrom(rules: NodeRules, name: string | undefined): boolean {
    if (this.#kept.size === 0 || this.#nodes === undefined || (name !== undefined && this.#isPromised(name)))
      return false;
    const nodes = this.#nodes;
    this.#keptShapes ??= [...this.#kept.values()].flatMap((needs) => keptShapes(needs, nodes));
    return mayGoTo(rules, this.#keptShapes, nodes.hiddenLabels);
  }

  #isPromised(name: string): boolean {
    return this.#held.has(name) || this.#kept.has(name);
  }

  /** The nodes as they are for the one to whom something was promised; undefined: nothing was. */
  nodesFor(name: string): NodesReport | undefined {
    if (!this.#isPromised(name) || this.#nodes === undefined) return undefined;
    return this.#left(this.#nodes, name);
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }

  /** The agent has spoken. */
  get isKnown(): boolean {
    return this.#free !== undefined;
  }

  /** What its ready nodes have when they are empty. */
  get whole(): Amounts {
    return this.#whole;
  }

  get free(): Amounts | undefined {
    if (this.#free === undefined || this.#reserved.size === 0) return this.#free;
    return new Map(
      [...this.#free].map(([resource, amount]) => [resource, Math.max(0, amount - (this.#taken.get(resource) ?? 0))]),
    );
  }

  get largestFreeNode(): Amounts | undefined {
    return this.#largestFreeNode;
  }

  get largestNode(): Amounts | undefined {
    return this.#largestNode;
  }

  /** The same object as long as nothing changed. Undefined: an agent that does not report its nodes, or none yet. */
  get nodes(): NodesReport | undefined {
    if (this.#nodes === undefined) return undefined;
    this.#nodesLeft ??= this.#left(this.#nodes);
    return this.#nodesLeft;
  }

  #left(nodes: NodesReport, mine?: string): NodesReport {
    let left = nodes;
    for (const { needs } of this.#onNodes.values()) left = takeOff(left, needs);
    for (const [name, needs] of this.#held) if (name !== mine) left = takeOff(left, needs);
    return left;
  }

  /** Whether the Job has room wherever the pods went that were placed since the nodes were last reported. */
  unseenLeaveRoomFor(needs: JobNeeds): boolean {
    return this.#unseen.leaveRoomFor(needs);
  }

  #isCovered(round: number): boolean {
    return this.#round - round >= COVERED_AFTER;
  }

  #cancelSums(uid: string): void {
    const reservation = this.#reserved.get(uid);
    if (reservation === undefined) return;
    this.#reserved.delete(uid);
    this.#take(reservation.amounts, -1);
  }

  #cancelNodes(uid: string): void {
    const reservation = this.#onNodes.get(uid);
    if (reservation === undefined) return;
    this.#onNodes.delete(uid);
    this.#nodesLeft = undefined;
    this.#unseen.count(reservation.needs, -1);
  }

  #take(amounts: Amounts, sign: 1 | -1): void {
    for (const [resource, amount] of amounts)
      this.#taken.set(resource, (this.#taken.get(resource) ?? 0) + sign * amount);
  }
}

const amountsOf = (list: Quantities): Amounts =>
  new Map(Object.entries(list).map(([resource, quantity]) => [resource, resourceUnits(resource, quantity)]));
