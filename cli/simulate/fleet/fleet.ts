import type { JobQueue, WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";

export interface NodeKind {
  readonly count: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly { readonly key: string; readonly value?: string | undefined; readonly effect: string }[];
  /** What one node has, in the units of a shape's requests; `pods` is among them. */
  readonly allocatable: ReadonlyMap<string, number>;
}

/** Of the nodes that have room: the emptiest, as kube-scheduler does unless told otherwise, or the fullest. */
export type Scoring = "LeastAllocated" | "MostAllocated";

export interface FleetCluster {
  readonly name: ClusterName;
  readonly object: Pick<WorkerCluster, "metadata" | "spec">;
  readonly nodes: readonly NodeKind[];
  readonly scoring: Scoring;
}

/** Clusters and queues as somebody would have them on a hub. */
export interface Fleet {
  readonly clusters: readonly FleetCluster[];
  readonly queues: readonly JobQueue[];
  /** Labels of the hub's namespaces, for queues that select by them. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** What all nodes have together. */
export function capacityOf({ clusters }: Pick<Fleet, "clusters">): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { nodes } of clusters)
    for (const { count, allocatable } of nodes)
      for (const [resource, units] of allocatable) sums.set(resource, (sums.get(resource) ?? 0) + count * units);
  return sums;
}
