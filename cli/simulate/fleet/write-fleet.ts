import { stringify } from "yaml";
import type { Fleet } from "./fleet.ts";

/** As `readFleet` reads it. */
export function fleetText({ clusters, queues }: Fleet): string {
  const apiVersion = "jobferry.dev/v1alpha1";
  const documents = [
    ...queues.map(({ metadata, spec = {} }) => ({ apiVersion, kind: "JobQueue", metadata, spec })),
    ...clusters.map(({ name, object, nodes, scoring }) => ({
      apiVersion,
      kind: "WorkerCluster",
      metadata: { name, labels: object.metadata.labels ?? {} },
      ...(scoring === "LeastAllocated" ? {} : { scoring }),
      nodes: nodes.map(({ count, labels, taints, allocatable }) => ({
        count,
        ...(Object.keys(labels).length === 0 ? {} : { labels }),
        ...(taints.length === 0 ? {} : { taints }),
        allocatable: Object.fromEntries(
          [...allocatable].map(([resource, units]) => [resource, quantity(resource, units)]),
        ),
      })),
    })),
  ];
  return documents.map((each) => stringify(each, { lineWidth: 120 })).join("---\n");
}

function quantity(resource: string, units: number): string | number {
  if (resource === "cpu") return units % 1000 === 0 ? units / 1000 : `${units}m`;
  return resource === "memory" && units % 2 ** 20 === 0 ? `${units / 2 ** 20}Mi` : units;
}
