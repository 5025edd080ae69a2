/** VC-23 to VC-36. */
import { checkQualifiedName } from "@jobferry/shared/job/names.ts";
import type { JobSpec, PodFailurePolicyRule } from "@jobferry/shared/job/types.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_CONDITION_PATTERNS = 20;
const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];

export function validateFailurePolicy(v: Violations, path: string, spec: JobSpec): void {
  const { rules = [] } = spec.podFailurePolicy ?? {};
  if (rules.length > MAX_RULES) v.tooMany(`${path}.rules`, rules.length, MAX_RULES);
  const { containers, initContainers = [] } = spec.template.spec;
  const containerNames = new Set([...containers, ...initContainers].map((container) => container.name));
  rules.forEach((rule, index) => {
    const rulePath = `${path}.rules[${index}]`;
    validateAction(v, `${rulePath}.action`, rule.action, spec.backoffLimitPerIndex !== undefined);
    if (rule.onExitCodes) validateExitCodes(v, `${rulePath}.onExitCodes`, rule.onExitCodes, containerNames);
    validateConditionPatterns(v, `${rulePath}.onPodConditions`, rule.onPodConditions ?? []);
    const requirements = (rule.onExitCodes ? 1 : 0) + (rule.onPodConditions?.length ? 1 : 0);
    if (requirements !== 1) v.invalid(rulePath, undefined, "give exactly one of onExitCodes and onPodConditions");
  });
}

function validateAction(v: Violations, path: string, action: string, perIndex: boolean): void {
  if (action === "FailIndex" && !perIndex) v.invalid(path, action, "requires backoffLimitPerIndex");
  else v.oneOf(path, action, ACTIONS);
}

function validateExitCodes(
  v: Violations,
  path: string,
  { containerName, operator, values }: NonNullable<PodFailurePolicyRule["onExitCodes"]>,
  containerNames: ReadonlySet<string>,
): void {
  v.oneOf(`${path}.operator`, operator, ["In", "NotIn"]);
  if (containerName !== undefined && !containerNames.has(containerName)) {
    v.invalid(`${path}.containerName`, containerName, "must name a container or init container of the template");
  }
  if (values.length === 0) v.invalid(`${path}.values`, values, "at least one value is required");
  if (values.length > MAX_EXIT_CODES) v.tooMany(`${path}.values`, values.length, MAX_EXIT_CODES);
  const seen = new Set<number>();
  values.forEach((value, index) => {
    if (operator === "In" && value === 0)
      v.invalid(`${path}.values[${index}]`, value, "0 is success, In cannot match it");
    if (seen.has(value)) v.duplicate(`${path}.values[${index}]`, value);
    seen.add(value);
  });
  if (values.some((value, index) => value < (values[index - 1] ?? value))) {
    v.invalid(`${path}.values`, values, "must be in ascending order");
  }
}

function validateConditionPatterns(
  v: Violations,
  path: string,
  patterns: NonNullable<PodFailurePolicyRule["onPodConditions"]>,
): void {
  if (patterns.length > MAX_CONDITION_PATTERNS) v.tooMany(path, patterns.length, MAX_CONDITION_PATTERNS);
  patterns.forEach(({ type, status }, index) => {
    v.malformed(`${path}[${index}].type`, type, checkQualifiedName(type));
    v.oneOf(`${path}[${index}].status`, status, ["False", "True", "Unknown"]);
  });
}
