/** The spec rules of section 27. */
import { checkDnsSubdomain } from "@jobferry/shared/job/names.ts";
import { compileSelector } from "@jobferry/shared/job/selector.ts";
import type { JobSpec } from "@jobferry/shared/job/types.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import { validateFailurePolicy } from "./failure-policy.ts";
import { validateLabelSelector } from "./metadata.ts";
import { validatePodTemplate } from "./pod-template.ts";
import { validateSuccessPolicy } from "./success-policy.ts";

/** K-30, K-31: these bound the length of the index strings in the status. */
const MAX_INDEXED_PARALLELISM = 100_000;
const MAX_FAILED_INDEXES = 100_000;
/** K-32 */
const MANY_COMPLETIONS = 100_000;
const MAX_WITH_MANY_COMPLETIONS = 10_000;
const MAX_MANAGED_BY_BYTES = 63;

const COUNTERS = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
] as const;

/** The rules of a Job's spec, selector included (VC-5 to VC-47). */
export function validateJobSpec(v: Violations, path: string, spec: JobSpec): void {
  validateJobTemplate(v, path, spec);
  if (spec.selector === undefined) v.required(`${path}.selector`);
  else validateLabelSelector(v, `${path}.selector`, spec.selector);
  const matches = compileSelector(spec.selector);
  if (matches !== undefined && !matches(spec.template.metadata?.labels)) {
    v.invalid(
      `${path}.template.metadata.labels`,
      spec.template.metadata?.labels,
      "the selector must match these labels",
    );
  }
}

/** The same without the selector rules, for the template of a CronJob (VC-53). */
export function validateJobTemplate(v: Violations, path: string, spec: JobSpec): void {
  for (const counter of COUNTERS) v.nonNegative(`${path}.${counter}`, spec[counter]);
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    v.required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is given");
  }
  if (spec.managedBy !== undefined) validateManagedBy(v, `${path}.managedBy`, spec.managedBy);
  validateCompletionMode(v, path, spec);
  if (spec.podFailurePolicy) validateFailurePolicy(v, `${path}.podFailurePolicy`, spec);
  validateSuccess(v, `${path}.successPolicy`, spec);
  validateReplacementPolicy(v, `${path}.podReplacementPolicy`, spec);
  validatePodTemplate(v, `${path}.template`, spec.template);
  validateRestartPolicy(v, `${path}.template.spec.restartPolicy`, spec);
}

/** VC-10 to VC-12 */
function validateManagedBy(v: Violations, field: string, managedBy: string): void {
  const slash = managedBy.indexOf("/");
  const [host, path] = [managedBy.slice(0, Math.max(0, slash)), managedBy.slice(slash + 1)];
  if (managedBy === "") v.required(field, "leave it out to use the built-in controller");
  else if (host === "" || path === "") v.invalid(field, managedBy, "must look like example.com/controller");
  else {
    v.malformed(field, host, checkDnsSubdomain(host));
    if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path))
      v.invalid(field, path, "has characters that are not allowed in a path");
  }
  if (Buffer.byteLength(managedBy) > MAX_MANAGED_BY_BYTES) v.tooLong(field, MAX_MANAGED_BY_BYTES);
}

/** VC-13 to VC-22 */
function validateCompletionMode(v: Violations, path: string, spec: JobSpec): void {
  switch (spec.completionMode) {
    case "Indexed":
      validateIndexed(v, path, spec);
      return;
    case "NonIndexed":
    case undefined:
      for (const field of ["backoffLimitPerIndex", "maxFailedIndexes"] as const) {
        if (spec[field] !== undefined) v.invalid(`${path}.${field}`, spec[field], "requires completionMode Indexed");
      }
      return;
    default:
      v.notSupported(`${path}.completionMode`, spec.completionMode, ["NonIndexed", "Indexed"]);
  }
}

function validateIndexed(v: Violations, path: string, spec: JobSpec): void {
  const { completions, parallelism = 0, maxFailedIndexes } = spec;
  const atMost = (field: string, value: number | undefined, limit: number, of: string): void => {
    if (value !== undefined && value > limit) v.invalid(`${path}.${field}`, value, `must not exceed ${limit} ${of}`);
  };
  if (completions === undefined) v.required(`${path}.completions`, "when completionMode is Indexed");
  atMost("parallelism", parallelism, MAX_INDEXED_PARALLELISM, "in an Indexed Job");
  if (completions !== undefined) atMost("maxFailedIndexes", maxFailedIndexes, completions, "completions");
  atMost("maxFailedIndexes", maxFailedIndexes, MAX_FAILED_INDEXES, "in an Indexed Job");
  if (completions === undefined || completions <= MANY_COMPLETIONS || spec.backoffLimitPerIndex === undefined) return;
  const reason = `with more than ${MANY_COMPLETIONS} completions and backoffLimitPerIndex`;
  if (maxFailedIndexes === undefined) v.required(`${path}.maxFailedIndexes`, reason);
  atMost("parallelism", parallelism, MAX_WITH_MANY_COMPLETIONS, reason);
  atMost("maxFailedIndexes", maxFailedIndexes, MAX_WITH_MANY_COMPLETIONS, reason);
}

/** VC-37 */
function validateSuccess(v: Violations, path: string, { successPolicy, completionMode, completions }: JobSpec): void {
  if (successPolicy === undefined) return;
  if (completionMode !== "Indexed") v.invalid(path, successPolicy, "requires completionMode Indexed");
  // Without completions VC-14 has already refused the Job, and no rule can be judged.
  else if (completions !== undefined) validateSuccessPolicy(v, path, successPolicy, completions);
}

/** VC-43 */
function validateReplacementPolicy(v: Violations, field: string, spec: JobSpec): void {
  const supported = spec.podFailurePolicy === undefined ? ["Failed", "TerminatingOrFailed"] : ["Failed"];
  const policy = spec.podReplacementPolicy;
  if (policy !== undefined && !supported.includes(policy)) v.notSupported(field, policy, supported);
}

/** VC-45 to VC-47 */
function validateRestartPolicy(v: Violations, field: string, spec: JobSpec): void {
  const policy = spec.template.spec.restartPolicy;
  if (policy === undefined || policy === "Always") v.required(field, "OnFailure or Never");
  else if (policy !== "OnFailure" && policy !== "Never") v.notSupported(field, policy, ["OnFailure", "Never"]);
  else if (spec.podFailurePolicy !== undefined && policy !== "Never") {
    v.invalid(field, policy, "a podFailurePolicy requires Never");
  }
}
