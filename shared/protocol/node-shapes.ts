import { z } from "zod";
import { counter } from "./job-status.ts";
import {
  MAX_FREE_ROWS,
  MAX_HIDDEN_LABELS,
  MAX_NODE_LABELS,
  MAX_NODE_SHAPES,
  MAX_RESOURCES,
  MAX_TAINTS,
} from "./limits.ts";

export const resourceName = z.string().regex(/^[A-Za-z0-9]([-A-Za-z0-9_./]{0,314}[A-Za-z0-9])?$/);
/** In the units of shared/job/requests.ts: thousandths of a CPU, bytes, pieces. */
const units = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const amounts = z.array(units).max(MAX_RESOURCES);

const labelKey = z.string().min(1).max(317);
const labelValue = z.string().max(63);
const nodeName = z.string().min(1).max(253);

/** A taint that keeps pods away; one that only puts them off says nothing about room. */
const taint = z.object({ key: labelKey, value: labelValue.optional(), effect: z.enum(["NoSchedule", "NoExecute"]) });

/** Nodes with at least this much room each. */
const freeRow = z.object({
  nodes: counter.min(1),
  room: amounts,
  /** Which ones; left out where there are many nodes. */
  names: z.array(nodeName).min(1).optional(),
});

/** Nodes that are alike: what each of them has when it is empty, and how much of it is free on how many. */
const nodeShape = z
  .object({
    nodes: counter.min(1),
    labels: z
      .record(labelKey, labelValue)
      .refine((labels) => Object.keys(labels).length <= MAX_NODE_LABELS, `more than ${MAX_NODE_LABELS} labels`),
    taints: z.array(taint).max(MAX_TAINTS),
    /** What the figures are about, in their order; of any other resource these nodes have none. */
    resources: z.array(resourceName).max(MAX_RESOURCES),
    allocatable: amounts,
    /** Nodes that are missing here are not ready: they have no room now. */
    free: z.array(freeRow).max(MAX_FREE_ROWS),
    /** Nodes that are not alike: with the least of their room, the labels common to all and the taints of each. */
    merged: z.literal(true).optional(),
  })
  .refine(
    ({ resources, allocatable, free }) =>
      [allocatable, ...free.map(({ room }) => room)].every(({ length }) => length === resources.length),
    "a row does not have one figure for each resource",
  )
  .refine(
    ({ nodes, free }) => free.reduce((sum, row) => sum + row.nodes, 0) <= nodes,
    "more nodes have room than there are",
  )
  .refine(
    ({ free }) => free.every(({ nodes, names }) => (names?.length ?? nodes) === nodes),
    "not one name for each node",
  );
export type NodeShape = z.infer<typeof nodeShape>;

/** Part of an agent's health. Left out of a heartbeat: as last said; left out of a hello: the agent is older. */
export const nodesReport = z.object({
  shapes: z.array(nodeShape).max(MAX_NODE_SHAPES),
  /** Keys of labels that nodes have and `shapes` does not show. */
  hiddenLabels: z.array(labelKey).max(MAX_HIDDEN_LABELS),
  /** Nodes for which there was no place in `shapes`. */
  leftOut: counter,
});
export type NodesReport = z.infer<typeof nodesReport>;
