/** Validation of whole Jobs on create and update (sections 27 and 28). Inputs are decoded, defaulted and prepared. */
import {
  CONTROLLER_UID_LABEL,
  JOB_NAME_LABEL,
  LEGACY_CONTROLLER_UID_LABEL,
  LEGACY_JOB_NAME_LABEL,
} from "@jobferry/shared/job/keys.ts";
import { checkDnsLabel } from "@jobferry/shared/job/names.ts";
import { compileSelector } from "@jobferry/shared/job/selector.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { type FieldError, Violations } from "@jobferry/shared/job/validation/errors.ts";
import { validateJobStatusUpdate } from "@jobferry/shared/job/validation/job-status.ts";
import { validateJobSpec } from "./job-spec.ts";
import { validateSpecUpdate } from "./job-update.ts";
import { validateMetadata, validateMetadataUpdate } from "./metadata.ts";

export function validateJobCreate(job: Job): FieldError[] {
  const v = new Violations();
  validateJob(v, job, true);
  return v.errors;
}

/** VU-1: everything that holds for a new Job, the changes, and the spec rules once more. */
export function validateJobUpdate(stored: Job, proposed: Job): FieldError[] {
  const v = new Violations();
  const storedLabels = stored.spec.template.metadata?.labels ?? {};
  validateJob(v, proposed, JOB_NAME_LABEL in storedLabels && CONTROLLER_UID_LABEL in storedLabels);
  validateMetadataUpdate(v, stored.metadata, proposed.metadata);
  validateJobSpec(v, "spec", proposed.spec);
  validateSpecUpdate(v, stored, proposed.spec);
  return v.errors;
}

/** VS-1: a write of the status keeps the rules of metadata, too. */
export function validateJobStatusWrite(stored: Job, proposed: Job): FieldError[] {
  const v = new Violations();
  validateMetadataUpdate(v, stored.metadata, proposed.metadata);
  return [...v.errors, ...validateJobStatusUpdate(stored, proposed)];
}

function validateJob(v: Violations, job: Job, requirePrefixedLabels: boolean): void {
  validateMetadata(v, job.metadata);
  if (!job.spec.manualSelector && job.spec.selector !== undefined) validateGenerated(v, job, requirePrefixedLabels);
  validateJobSpec(v, "spec", job.spec);
  validatePodHostnames(v, job);
}

/** VC-2 to VC-4 */
function validateGenerated(v: Violations, { metadata, spec }: Job, requirePrefixedLabels: boolean): void {
  const { name = "", uid = "" } = metadata;
  if (uid === "") v.required("metadata.uid");
  const expected: Record<string, string> = { [LEGACY_CONTROLLER_UID_LABEL]: uid, [LEGACY_JOB_NAME_LABEL]: name };
  if (requirePrefixedLabels) Object.assign(expected, { [CONTROLLER_UID_LABEL]: uid, [JOB_NAME_LABEL]: name });
  const labels = spec.template.metadata?.labels ?? {};
  for (const [key, value] of Object.entries(expected)) {
    const field = `spec.template.metadata.labels[${key}]`;
    if (!Object.hasOwn(labels, key)) v.required(field, `must be "${value}"`);
    else if (labels[key] !== value) v.invalid(field, labels[key], `must be "${value}"`);
  }
  const matches = compileSelector(spec.selector);
  if (matches !== undefined && !matches(expected)) {
    v.invalid("spec.selector", spec.selector, "leave the selector to the API server, or set manualSelector");
  }
}

/** VC-48: the host name of an Indexed Job's pods is the Job name and the index. */
function validatePodHostnames(v: Violations, { metadata, spec }: Job): void {
  const { completionMode, completions = 0 } = spec;
  if (completionMode !== "Indexed" || completions <= 0) return;
  const longest = `${metadata.name ?? ""}-${completions - 1}`;
  if (checkDnsLabel(longest).length > 0) {
    v.invalid("metadata.name", metadata.name, `pods would get the host name ${longest}, which is not a DNS label`);
  }
}
