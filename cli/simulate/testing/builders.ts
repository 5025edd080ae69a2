import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Fleet, NodeKind } from "../fleet/fleet.ts";
import type { JobShape, TraceJob } from "../trace/trace-job.ts";

/** One pod of one CPU that runs for a minute. */
export function aTraceJob(
  name: string,
  { arrival = 0, run = 60, asks = { cpu: 1000 }, ...shape }: Over = {},
): TraceJob {
  return {
    name,
    arrivalMs: 1000 * arrival,
    runMs: 1000 * run,
    shape: {
      namespace: "team",
      queue: "default",
      priority: 0,
      pods: 1,
      gang: false,
      perPod: new Map(Object.entries(asks)),
      nodeLabels: [],
      tolerations: [],
      clusterSelector: "",
      ...shape,
    },
  };
}
type Over = Partial<Omit<JobShape, "perPod">> & { arrival?: number; run?: number; asks?: Record<string, number> };

export const nodes = (
  count: number,
  has: Record<string, number>,
  over: Partial<Pick<NodeKind, "labels" | "taints">> = {},
): NodeKind => ({
  count,
  labels: {},
  taints: [],
  allocatable: new Map([["pods", 110], ...Object.entries(has)]),
  ...over,
});

export const aFleet = (clusters: Record<string, NodeKind[]>, queues: Record<string, JobQueue["spec"]> = {}): Fleet => ({
  clusters: Object.entries(clusters).map(([name, kinds]) => ({
    name: parseClusterName(name),
    object: { metadata: { name, uid: name, labels: { name } }, spec: { publicKey: "" } },
    nodes: kinds,
    scoring: "LeastAllocated",
  })),
  queues: Object.entries(queues).map(([name, spec = {}]) => ({ metadata: { name }, spec })),
  namespaces: new Map(),
});
