import { INT32_MAX } from "@jobferry/shared/job/go-int.ts";
import type { Job, JobSpec, PodFailurePolicy } from "@jobferry/shared/job/types.ts";
import { defaultPodSpec } from "./pod.ts";

/** AP-1: what the API server fills in whenever it decodes a Job, on create and on update. */
export function defaultJob(job: Job): Job {
  const templateLabels = job.spec.template.metadata?.labels;
  const inheritsLabels = templateLabels !== undefined && Object.keys(job.metadata.labels ?? {}).length === 0;
  return {
    ...job,
    metadata: inheritsLabels ? { ...job.metadata, labels: templateLabels } : job.metadata,
    spec: defaultJobSpec(job.spec),
  };
}

function defaultJobSpec(spec: JobSpec): JobSpec {
  const { podFailurePolicy } = spec;
  return {
    // Only when both are missing is the Job a single pod; without completions alone it is a work queue.
    ...(spec.parallelism === undefined && spec.completions === undefined ? { completions: 1 } : {}),
    parallelism: 1,
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : INT32_MAX,
    completionMode: "NonIndexed",
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed",
    ...spec,
    ...(podFailurePolicy && { podFailurePolicy: defaultFailurePolicy(podFailurePolicy) }),
    template: { ...spec.template, spec: defaultPodSpec(spec.template.spec) },
  };
}

function defaultFailurePolicy(policy: PodFailurePolicy): PodFailurePolicy {
  return {
    ...policy,
    rules: policy.rules.map((rule) =>
      rule.onPodConditions === undefined
        ? rule
        : {
            ...rule,
            onPodConditions: rule.onPodConditions.map((pattern) =>
              (pattern.status as string) === "" ? { ...pattern, status: "True" } : pattern,
            ),
          },
    ),
  };
}
