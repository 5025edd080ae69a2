/** Which parts of a stored Job may change (VU-2 to VU-11). */
import { isConditionTrue } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import { fieldEqual, semanticEqual } from "../../schema/equal.ts";
import type { FullContainer, FullPodSpec } from "../../schema/pod-types.ts";
import { kindSchema } from "../../schema/schema.ts";

export function validateSpecUpdate(v: Violations, stored: Job, spec: JobSpec): void {
  validateCompletions(v, stored.spec, spec);
  for (const field of IMMUTABLE_FIELDS) validateImmutable(v, field, stored.spec, spec);
  if (isTemplateWindowOpen(stored)) validateSuspendedTemplate(v, stored.spec, spec);
  else validateImmutable(v, "template", stored.spec, spec);
}

/** VU-4 */
const IMMUTABLE_FIELDS = [
  "selector",
  "completionMode",
  "podFailurePolicy",
  "backoffLimitPerIndex",
  "managedBy",
  "successPolicy",
] as const;

/** The field must not differ from the stored one, in the sense of its type. */
function validateImmutable(v: Violations, field: keyof JobSpec, stored: JobSpec, proposed: JobSpec): void {
  const type = kindSchema("JobSpec").get(field);
  if (!fieldEqual(type, stored[field], proposed[field]))
    v.invalid(`spec.${field}`, proposed[field], "field is immutable");
}

/** VU-2, VU-3 */
function validateCompletions(
  v: Violations,
  stored: JobSpec,
  { completionMode, completions, parallelism }: JobSpec,
): void {
  if (stored.completions === completions) return;
  if (completionMode !== "Indexed") v.invalid("spec.completions", completions, "field is immutable");
  else if (completions !== undefined && completions !== parallelism) {
    v.invalid("spec.completions", completions, "may only change together with parallelism, to the same value");
  }
}

/** VU-7: suspended, and nothing of an earlier run left. */
function isTemplateWindowOpen({ spec, status = {} }: Job): boolean {
  const neverRan = status.startTime === undefined || isConditionTrue(status.conditions, "Suspended");
  return spec.suspend === true && neverRan && (status.active ?? 0) === 0;
}

/** VU-8, VU-9: the stored pod spec, with everything that may change taken from the new one, must equal the new one. */
function validateSuspendedTemplate(v: Violations, stored: JobSpec, proposed: JobSpec): void {
  const before = stored.template.spec as FullPodSpec;
  const after = proposed.template.spec as FullPodSpec;
  const { nodeSelector, tolerations, schedulingGates } = after;
  const comparable: Record<string, unknown> = {
    ...before,
    nodeSelector,
    tolerations,
    schedulingGates,
    affinity: withNodeAffinityOf(after.affinity, before.affinity),
    containers: withResourcesOf(after.containers, before.containers),
    initContainers: withResourcesOf(after.initContainers ?? [], before.initContainers ?? []),
  };
  if (!semanticEqual("PodSpec", comparable, after)) {
    v.invalid(
      "spec.template.spec",
      after,
      "only scheduling directives and resources may change while the Job is suspended",
    );
  }
}

type Affinity = FullPodSpec["affinity"];

function withNodeAffinityOf(after: Affinity, before: Affinity): Affinity {
  const { nodeAffinity: _ignored, ...others } = before ?? {};
  if (after === undefined) return Object.keys(others).length === 0 ? undefined : others;
  return { ...others, ...(after.nodeAffinity && { nodeAffinity: after.nodeAffinity }) };
}

function withResourcesOf(after: readonly FullContainer[], before: readonly FullContainer[]): readonly FullContainer[] {
  if (after.length !== before.length) return before;
  return before.map((container, index) => {
    const counterpart = after[index];
    return counterpart?.name === container.name ? { ...container, resources: counterpart.resources } : container;
  });
}
