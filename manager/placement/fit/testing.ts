import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import type { JobNeeds, NodeRules } from "./job-needs.ts";

export const Gi = 2 ** 30;

/** Three ready nodes of 8 CPUs and 32 GiB, empty unless said otherwise. */
export function aShape(over: Partial<NodeShape> = {}): NodeShape {
  const nodes = over.nodes ?? 3;
  const resources = over.resources ?? ["cpu", "memory", "pods"];
  const allocatable = over.allocatable ?? [8000, 32 * Gi, 110];
  return {
    nodes,
    labels: {},
    taints: [],
    resources,
    allocatable,
    free: nodes === 0 ? [] : [{ nodes, room: allocatable }],
    ...over,
  };
}

export const aCluster = (shapes: NodeShape[], hiddenLabels: string[] = []): NodesReport => ({
  shapes,
  hiddenLabels,
  leftOut: 0,
});

type Over = Omit<Partial<JobNeeds>, "perPod" | "rules"> & { asks?: Record<string, number> } & Partial<NodeRules>;

/** One pod of one CPU that may go anywhere, unless said otherwise. */
export function needs({ asks = { cpu: 1000 }, pods = 1, gang = false, alone = false, ...rules }: Over = {}): JobNeeds {
  return {
    perPod: new Map([["pods", 1], ...Object.entries(asks)]),
    pods,
    gang,
    alone,
    rules: { nodeName: undefined, nodeSelector: {}, affinity: undefined, tolerations: [], ...rules },
  };
}
