import type { JobQueue, WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { NodeKind, Scoring } from "../engine/node-scheduler.ts";

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
