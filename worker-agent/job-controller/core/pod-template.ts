/** Section 7: the pods that a Job creates. */
import { COMPLETION_INDEX, COMPLETION_INDEX_ENV, TRACKING_FINALIZER } from "@jobferry/shared/job/keys.ts";
import type { Container, EnvVar, Job, Pod, PodSpec } from "@jobferry/shared/job/types.ts";
import { ownerReference } from "./claim.ts";
import { hasPerIndexLimit, isIndexed } from "./job-spec.ts";
import { failureCountAnnotations } from "./per-index.ts";
import type { PodFacts } from "./types.ts";

/** K-36: what the API server keeps of generateName before its five random characters. */
const MAX_NAME_PREFIX = 58;
const MAX_POD_NAME = 253;

/** PC-8: the label, because annotations of a running pod may change. */
const INDEX_ENV: EnvVar = {
  name: COMPLETION_INDEX_ENV,
  valueFrom: { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } },
};

/** PC-1 to PC-4, PC-10: what all pods of the Job have in common. */
export function podFor(job: Job): Pod {
  const { metadata, spec } = job.spec.template;
  if (Object.keys(metadata?.labels ?? {}).length === 0)
    throw new Error("unable to create pods, no labels: add labels to spec.template.metadata");
  const finalizers = metadata?.finalizers ?? [];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: namePrefix(job.metadata.name ?? ""),
      ...(job.metadata.namespace !== undefined && { namespace: job.metadata.namespace }),
      labels: metadata?.labels ?? {},
      ...(metadata?.annotations && { annotations: metadata.annotations }),
      finalizers: finalizers.includes(TRACKING_FINALIZER) ? finalizers : [...finalizers, TRACKING_FINALIZER],
      ownerReferences: [ownerReference(job)],
    },
    spec: isIndexed(job) ? withIndexEnv(spec) : spec,
  };
}

/** PC-5 to PC-9: `base` (from `podFor`) for one index; `delayed` is the pod that it replaces. */
export function podForIndex(job: Job, base: Pod, index: number, delayed: PodFacts | undefined): Pod {
  const number = String(index);
  return {
    ...base,
    metadata: {
      ...base.metadata,
      generateName: indexedNamePrefix(job.metadata.name ?? "", index),
      labels: { ...base.metadata.labels, [COMPLETION_INDEX]: number },
      annotations: {
        ...base.metadata.annotations,
        [COMPLETION_INDEX]: number,
        ...(hasPerIndexLimit(job) && failureCountAnnotations(job, delayed)),
      },
    },
    spec: { ...base.spec, hostname: `${job.metadata.name}-${number}` },
  };
}

/** PC-4: a Job whose selector is written by hand may have a name as long as a pod's. */
const namePrefix = (name: string): string => (name.length < MAX_POD_NAME ? `${name}-` : name);

/** PC-5: the index survives the truncation, the Job's name gives way. */
export function indexedNamePrefix(name: string, index: number): string {
  const suffix = `-${index}-`;
  return name.slice(0, Math.max(0, MAX_NAME_PREFIX - suffix.length)) + suffix;
}

function withIndexEnv(spec: PodSpec): PodSpec {
  return {
    ...spec,
    containers: spec.containers.map(addIndexEnv),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(addIndexEnv) }),
  };
}

function addIndexEnv(container: Container): Container {
  const env = container.env ?? [];
  return env.some(({ name }) => name === COMPLETION_INDEX_ENV) ? container : { ...container, env: [...env, INDEX_ENV] };
}
