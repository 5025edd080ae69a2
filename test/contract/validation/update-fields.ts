/** Changes that only make sense against a stored Job. */
import type { FieldChoices } from "./choices.ts";

const POD = "spec.template.spec";

export const CHANGES: readonly FieldChoices[] = [
  ["spec.suspend", [true, false]],
  ["spec.completions", [1, 2, 3, 5]],
  ["spec.parallelism", [1, 2, 3, 5]],
  ["spec.backoffLimitPerIndex", [0, 2, undefined]],
  ["spec.managedBy", ["example.com/other", undefined]],
  ["spec.selector.matchLabels.a", ["b", "c", undefined]],
  ["spec.template.metadata.labels.extra", ["x"]],
  ["spec.template.metadata.labels.job-name", [undefined, "other"]],
  ["spec.template.metadata.annotations.extra", ["x"]],
  ["spec.template.metadata.finalizers", [["example.com/f"]]],
  [`${POD}.nodeSelector`, [{ a: "b" }]],
  [`${POD}.tolerations`, [[{ operator: "Exists" }], undefined]],
  [`${POD}.schedulingGates`, [[{ name: "x.io/g" }]]],
  [`${POD}.affinity`, [{}, { nodeAffinity: {} }, { podAffinity: {} }, undefined]],
  [`${POD}.affinity.nodeAffinity`, [{}, undefined]],
  [`${POD}.containers[0].resources`, [{ limits: { cpu: "1" } }, { limits: { memory: "1073741824" } }, {}]],
  [`${POD}.initContainers[0].resources`, [{ limits: { cpu: "1" } }]],
  [`${POD}.containers[0].name`, ["c", "other"]],
  [`${POD}.containers[1]`, [{ name: "second", image: "x" }]],
  [`${POD}.containers[0].image`, ["busybox:1", "busybox:2"]],
  [`${POD}.priorityClassName`, ["high"]],
  ["metadata.labels.extra", ["x", "bad value"]],
  ["metadata.finalizers", [["example.com/f"], ["plain"]]],
  ["metadata.resourceVersion", [undefined, ""]],
  ["metadata.generation", [0, 99]],
  ["metadata.creationTimestamp", ["2020-01-01T00:00:00Z", null]],
  ["metadata.deletionGracePeriodSeconds", [5]],
  ["metadata.namespace", [undefined]],
  ["status", [{ active: 7 }, {}]],
];
