import { CORDONED } from "@jobferry/shared/job/node-rules.ts";
import { type Amounts, resourceUnits } from "@jobferry/shared/job/requests.ts";
import type { KubeObject } from "@jobferry/shared/kube/api.ts";
import {
  MAX_FREE_ROWS,
  MAX_HIDDEN_LABELS,
  MAX_NODE_SHAPES,
  MAX_NODES_CHARS,
  MAX_RESOURCES,
  MAX_TAINTS,
} from "@jobferry/shared/protocol/limits.ts";
import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import { boundedShapes, isPiece } from "./bounded-shapes.ts";
import { type FreeRow, freeRows } from "./free-rows.ts";
import { type LabelFilter, splitLabels } from "./node-labels.ts";

export interface Node extends KubeObject {
  spec?: { unschedulable?: boolean; taints?: { key: string; value?: string; effect: string }[] };
  status?: { allocatable?: Record<string, string>; conditions?: { type: string; status: string }[] };
}

type Taint = NodeShape["taints"][number];

/** A node as it counts here. */
interface Member {
  readonly name: string;
  /** Its kubelet answers. */
  readonly ready: boolean;
  readonly cordoned: boolean;
  /** What it has, by the resources of its group. */
  readonly whole: readonly number[];
  readonly group: Group;
  readonly hidden: readonly string[];
  readonly named: boolean;
}

interface Group {
  readonly key: string;
  readonly labels: Record<string, string>;
  readonly taints: Taint[];
  readonly resources: string[];
  readonly members: Set<Member>;
  /** Undefined: something changed since it was last described. */
  shape: NodeShape | undefined;
  room: GroupRoom | undefined;
}

/** What nodes of one kind that take pods have in all, and the largest of them alone, by the resources. */
export interface GroupRoom {
  readonly resources: readonly string[];
  readonly capacity: readonly number[];
  readonly free: readonly number[];
  readonly largestFreeNode: readonly number[];
  readonly largestNode: readonly number[];
}

const HOSTNAME = "kubernetes.io/hostname";
/** Up to this many nodes are named, for Jobs that choose a node by its name. */
const NAMED_NODES = 64;
/** Machines of one type differ by some pages of memory. Figures within this part of each other are alike; the least counts. */
const ALIKE = 128;

/**
 * Describes the nodes of this cluster by kind. A pod that comes or goes costs a few additions, and marks the shape of its node
 * to be described anew; that costs the nodes of this shape when the next report is due, never the pods.
 */
export class NodeShapes {
  readonly #shows: LabelFilter;
  readonly #nodes = new Map<string, Member>();
  readonly #groups = new Map<string, Group>();
  /** Requested by the pods of each node, known or not. */
  readonly #taken = new Map<string, Map<string, number>>();
  /** What is free on each node, as long as no pod comes or goes there. */
  readonly #free = new WeakMap<Member, readonly number[]>();
  /** On how many nodes each label is that is not shown. */
  readonly #hidden = new Map<string, number>();
  #report: NodesReport | undefined;

  constructor(shows: LabelFilter) {
    this.#shows = shows;
  }

  /** Of all nodes together, kind by kind. */
  *rooms(): Generator<GroupRoom> {
    for (const group of this.#groups.values()) yield this.#roomOf(group);
  }

  taken(node: string): Amounts | undefined {
    return this.#taken.get(node);
  }

  put(node: Node): void {
    const name = node.metadata.name ?? "";
    this.remove(name);
    const { shown, hidden } = splitLabels(node.metadata.labels ?? {}, this.#shows);
    const hostname = node.metadata.labels?.[HOSTNAME];
    const allocatable = allocatableOf(node);
    const group = this.#groupOf(shown, taintsOf(node), allocatable);
    const member: Member = {
      name,
      ready: isReady(node),
      cordoned: node.spec?.unschedulable === true,
      whole: group.resources.map((resource) => allocatable.get(resource) ?? 0),
      group,
      hidden: hidden.filter((key) => key !== HOSTNAME),
      named: (hostname ?? name) === name,
    };
    member.group.members.add(member);
    this.#nodes.set(name, member);
    for (const key of member.hidden) this.#hidden.set(key, (this.#hidden.get(key) ?? 0) + 1);
    // Names are told of all nodes or of none.
    if (this.#nodes.size === NAMED_NODES + 1) this.#touchAll();
    else this.#touch(member.group);
  }

  remove(name: string): void {
    const member = this.#nodes.get(name);
    if (member === undefined) return;
    this.#nodes.delete(name);
    member.group.members.delete(member);
    if (member.group.members.size === 0) this.#groups.delete(member.group.key);
    for (const key of member.hidden) {
      const left = (this.#hidden.get(key) ?? 0) - 1;
      if (left > 0) this.#hidden.set(key, left);
      else this.#hidden.delete(key);
    }
    if (this.#nodes.size === NAMED_NODES) this.#touchAll();
    else this.#touch(member.group);
  }

  /** A pod takes this from a node, or gives it back. */
  take(node: string, requests: Amounts, sign: 1 | -1): void {
    const taken = this.#taken.get(node) ?? new Map<string, number>();
    for (const [resource, amount] of requests) taken.set(resource, (taken.get(resource) ?? 0) + sign * amount);
    // Every pod takes one of `pods`.
    if (taken.get("pods") === 0) this.#taken.delete(node);
    else this.#taken.set(node, taken);
    const member = this.#nodes.get(node);
    if (member === undefined) return;
    this.#free.delete(member);
    this.#touch(member.group);
  }

  /** The same object as long as nothing changed. */
  report(): NodesReport {
    if (this.#report !== undefined) return this.#report;
    const shapes = [...this.#groups.values()].map((group) => this.#shapeOf(group));
    const describable = shapes.filter(({ taints }) => taints.length <= MAX_TAINTS);
    const tooTainted = shapes.reduce((sum, shape) => sum + (describable.includes(shape) ? 0 : shape.nodes), 0);
    const hiddenLabels = [...this.#hidden.keys()].sort().slice(0, MAX_HIDDEN_LABELS);
    for (let limit = MAX_NODE_SHAPES; ; limit = Math.floor(limit / 2)) {
      const bounded = boundedShapes(describable, limit);
      const report = { shapes: bounded.shapes, hiddenLabels, leftOut: bounded.leftOut + tooTainted };
      if (limit > 1 && JSON.stringify(report).length > MAX_NODES_CHARS) continue;
      this.#report = report;
      return report;
    }
  }

  #touch(group: Group): void {
    group.shape = undefined;
    group.room = undefined;
    this.#report = undefined;
  }

  #touchAll(): void {
    for (const group of this.#groups.values()) this.#touch(group);
    this.#report = undefined;
  }

  #groupOf(shown: readonly [string, string][], taints: Taint[], allocatable: Amounts): Group {
    const figures = [...allocatable].sort(([one], [other]) => byKind(one, other)).slice(0, MAX_RESOURCES);
    const key = JSON.stringify([shown, taints, figures.map(([name, units]) => [name, alike(name, units)])]);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const resources = figures.map(([name]) => name);
    const labels = Object.fromEntries(shown);
    const group: Group = { key, labels, taints, resources, members: new Set(), shape: undefined, room: undefined };
    this.#groups.set(key, group);
    return group;
  }

  #shapeOf(group: Group): NodeShape {
    if (group.shape !== undefined) return group.shape;
    const { labels, taints, resources, members } = group;
    const named = this.#nodes.size <= NAMED_NODES;
    const allocatable = resources.map(() => Number.POSITIVE_INFINITY);
    const rows: FreeRow[] = [];
    for (const member of members) {
      for (const [i, whole] of member.whole.entries()) allocatable[i] = Math.min(allocatable[i] ?? 0, whole);
      const room = this.#freeOn(member);
      if (member.ready) rows.push({ nodes: 1, room, ...(named && member.named ? { names: [member.name] } : {}) });
    }
    const free = freeRows(rows, allocatable, resources.map(isPiece), MAX_FREE_ROWS).map(({ nodes, room, names }) => ({
      nodes,
      room: [...room],
      ...(names === undefined ? {} : { names: [...names].sort() }),
    }));
    group.shape = { nodes: members.size, labels, taints, resources, allocatable, free };
    return group.shape;
  }

  #roomOf(group: Group): GroupRoom {
    if (group.room !== undefined) return group.room;
    const { resources, members } = group;
    const [capacity, free, largestFreeNode, largestNode] = [0, 0, 0, 0].map((zero) => resources.map(() => zero)) as [
      number[],
      number[],
      number[],
      number[],
    ];
    for (const member of members) {
      if (!member.ready || member.cordoned) continue;
      const left = this.#freeOn(member);
      for (let i = 0; i < resources.length; i++) {
        const [whole, room] = [member.whole[i] ?? 0, left[i] ?? 0];
        capacity[i] = (capacity[i] ?? 0) + whole;
        free[i] = (free[i] ?? 0) + room;
        largestNode[i] = Math.max(largestNode[i] ?? 0, whole);
        largestFreeNode[i] = Math.max(largestFreeNode[i] ?? 0, room);
      }
    }
    const isOpen = [...members].some(({ ready, cordoned }) => ready && !cordoned);
    group.room = { resources: isOpen ? resources : [], capacity, free, largestFreeNode, largestNode };
    return group.room;
  }

  #freeOn(member: Member): readonly number[] {
    const known = this.#free.get(member);
    if (known !== undefined) return known;
    const free = this.#countFree(member);
    this.#free.set(member, free);
    return free;
  }

  #countFree({ name, whole, group: { resources } }: Member): readonly number[] {
    const taken = this.#taken.get(name);
    if (taken === undefined) return whole;
    const free: number[] = [];
    for (let i = 0; i < whole.length; i++)
      free.push(Math.max(0, (whole[i] ?? 0) - (taken.get(resources[i] ?? "") ?? 0)));
    return free;
  }
}

/** GPUs and the like first: see `freeRows`. */
const byKind = (one: string, other: string): number =>
  Number(isPiece(other)) - Number(isPiece(one)) || (one < other ? -1 : 1);

function alike(resource: string, units: number): number {
  if (resource !== "memory" && resource !== "ephemeral-storage") return units;
  const step = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, units))) - Math.log2(ALIKE));
  return Math.floor(units / step) * step;
}

const allocatableOf = (node: Node): Amounts =>
  new Map(
    Object.entries(node.status?.allocatable ?? {}).map(([resource, quantity]) => [
      resource,
      resourceUnits(resource, quantity),
    ]),
  );

/** A node that says nothing about it counts as ready, as it does for the scheduler. */
const isReady = (node: Node): boolean =>
  (node.status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "True") === "True";

/** Those that keep pods away, in one order. */
function taintsOf({ spec: { taints = [], unschedulable } = {} }: Node): Taint[] {
  const all = new Map<string, Taint>();
  for (const { key, value, effect } of unschedulable === true ? [...taints, CORDONED] : taints) {
    if (effect !== "NoSchedule" && effect !== "NoExecute") continue;
    const taint: Taint = { key, ...(value === undefined || value === "" ? {} : { value }), effect };
    all.set(JSON.stringify(taint), taint);
  }
  return [...all].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, taint]) => taint);
}
