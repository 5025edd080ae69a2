import type { Job } from "@jobferry/shared/job/types.ts";
import { CLUSTER_SELECTOR, GANG, HUB_MANAGED_BY, PRIORITY, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { JobShape, TraceJob } from "../trace/trace-job.ts";

const specs = new WeakMap<JobShape, Job["spec"]>();

/** The Job as its submitter would have written it. Jobs of one shape share their spec. */
export function hubJobOf(uid: HubUid, { name, shape }: TraceJob, createdMs: number, resourceVersion: number): Job {
  const { namespace, queue, priority, gang, clusterSelector } = shape;
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: String(resourceVersion),
      creationTimestamp: timestamp(createdMs),
      labels: { [QUEUE_LABEL]: queue },
      annotations: {
        ...(priority === 0 ? {} : { [PRIORITY]: String(priority) }),
        ...(gang ? { [GANG]: "true" } : {}),
        ...(clusterSelector === "" ? {} : { [CLUSTER_SELECTOR]: clusterSelector }),
      },
    },
    spec: specOf(shape),
  };
}

function specOf(shape: JobShape): Job["spec"] {
  const known = specs.get(shape);
  if (known !== undefined) return known;
  const { pods, perPod, nodeLabels, tolerations } = shape;
  const requests = Object.fromEntries(
    [...perPod].map(([resource, units]) => [resource, resource === "cpu" ? `${units}m` : String(units)]),
  );
  const expressions = nodeLabels.map(({ key, values }) => ({ key, operator: "In", values: [...values] }));
  const required = { nodeSelectorTerms: [{ matchExpressions: expressions }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  const podSpec = {
    restartPolicy: "Never" as const,
    containers: [{ name: "main", image: "none", resources: { requests } }],
    ...(expressions.length === 0 ? {} : { affinity }),
    tolerations: tolerations.map(({ key, value }) =>
      value === undefined ? { key, operator: "Exists" } : { key, operator: "Equal", value },
    ),
  };
  const spec: Job["spec"] = {
    managedBy: HUB_MANAGED_BY,
    parallelism: pods,
    completions: pods,
    completionMode: "Indexed",
    backoffLimit: 6,
    template: { spec: podSpec },
  };
  specs.set(shape, spec);
  return spec;
}
