import { MAX_FREE_ROWS, MAX_TAINTS } from "@jobferry/shared/protocol/limits.ts";
import type { NodeShape } from "@jobferry/shared/protocol/node-shapes.ts";
import { freeRows } from "./free-rows.ts";

const COMMON = new Set(["cpu", "memory", "ephemeral-storage", "pods"]);

/** Not one of the four that every node has: GPUs, huge pages, what device plugins offer. */
export const isPiece = (resource: string): boolean => !COMMON.has(resource);

/** What separates nodes that no Job can mistake for each other. */
const KEPT_APART = ["kubernetes.io/arch", "kubernetes.io/os"];

export interface Bounded {
  readonly shapes: NodeShape[];
  /** Nodes that are in no shape. */
  readonly leftOut: number;
}

/**
 * At most `limit` shapes. The rarest are merged, nodes of one architecture and with the same taints where possible. Shapes with
 * GPUs and the like are not: a merged shape would have none. What still has no place is left out.
 */
export function boundedShapes(shapes: readonly NodeShape[], limit: number): Bounded {
  if (shapes.length <= limit) return { shapes: [...shapes], leftOut: 0 };
  const byNodes = [...shapes].sort((one, other) => other.nodes - one.nodes);
  const special = byNodes.filter(({ resources }) => resources.some(isPiece));
  const plain = byNodes.filter(({ resources }) => !resources.some(isPiece));
  const kept = special.slice(0, plain.length === 0 ? limit : limit - 1);
  const rest = merged(plain, limit - kept.length);
  const tooTainted = rest.filter(({ taints }) => taints.length > MAX_TAINTS);
  return {
    shapes: [...kept, ...rest.filter((shape) => !tooTainted.includes(shape))],
    leftOut: nodesOf(special.slice(kept.length)) + nodesOf(tooTainted),
  };
}

const nodesOf = (rows: readonly { nodes: number }[]): number => rows.reduce((sum, { nodes }) => sum + nodes, 0);

function merged(plain: readonly NodeShape[], places: number): NodeShape[] {
  if (plain.length <= places) return [...plain];
  const kinds = new Set(plain.map(kindOf)).size;
  const whole = kinds <= places ? places - kinds : places - 1;
  const groups = new Map<string, NodeShape[]>();
  for (const shape of plain.slice(whole)) {
    const kind = kinds <= places ? kindOf(shape) : "any";
    const group = groups.get(kind);
    if (group === undefined) groups.set(kind, [shape]);
    else group.push(shape);
  }
  return [...plain.slice(0, whole), ...[...groups.values()].map(mergeAll)];
}

const kindOf = ({ labels, taints }: NodeShape): string =>
  JSON.stringify([KEPT_APART.map((key) => labels[key]), taints]);

function mergeAll(shapes: readonly NodeShape[]): NodeShape {
  const [first, ...others] = shapes;
  if (first === undefined) throw new Error("there is nothing to merge");
  if (others.length === 0) return first;
  const resources = first.resources.filter((name) => others.every((other) => other.resources.includes(name)));
  const ofCommon = (shape: NodeShape, figures: readonly number[]): number[] =>
    resources.map((name) => figures[shape.resources.indexOf(name)] ?? 0);
  const empty = shapes.map((shape) => ofCommon(shape, shape.allocatable));
  const allocatable = resources.map((_, i) => Math.min(...empty.map((figures) => figures[i] ?? 0)));
  const rows = shapes.flatMap((shape) => shape.free.map(({ nodes, room }) => ({ nodes, room: ofCommon(shape, room) })));
  const pieces = resources.map(isPiece);
  const labels = Object.entries(first.labels).filter(([key, value]) => others.every((o) => o.labels[key] === value));
  const taints = new Map(shapes.flatMap((shape) => shape.taints).map((taint) => [JSON.stringify(taint), taint]));
  return {
    nodes: nodesOf(shapes),
    labels: Object.fromEntries(labels),
    taints: [...taints.values()],
    resources,
    allocatable,
    free: freeRows(rows, allocatable, pieces, MAX_FREE_ROWS).map(({ nodes, room }) => ({ nodes, room: [...room] })),
    merged: true,
  };
}
