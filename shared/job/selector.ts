import { checkLabelValue, checkQualifiedName } from "./names.ts";
import type { LabelSelector } from "./types.ts";

type Labels = Readonly<Record<string, string>> | undefined;
export type LabelMatcher = (labels: Labels) => boolean;
type Requirement = NonNullable<LabelSelector["matchExpressions"]>[number];

/**
 * A null selector matches nothing, an empty one everything. Undefined when the selector is malformed, which validation
 * keeps out of stored Jobs.
 */
export function compileSelector(selector: LabelSelector | undefined): LabelMatcher | undefined {
  if (selector === undefined) return () => false;
  const requirements = requirementsOf(selector);
  if (!requirements.every(isWellFormed)) return undefined;
  const matchers = requirements.map(compileRequirement);
  return (labels) => matchers.every((matches) => matches(labels));
}

export function selectorMatches(selector: LabelSelector | undefined, labels: Labels): boolean {
  return compileSelector(selector)?.(labels) ?? false;
}

/** The `labelSelector` query parameter that selects the same objects. */
export function formatSelector(selector: LabelSelector): string {
  return requirementsOf(selector).map(formatRequirement).join(",");
}

function requirementsOf(selector: LabelSelector): Requirement[] {
  const equalities = Object.entries(selector.matchLabels ?? {}).map(
    ([key, value]): Requirement => ({ key, operator: "In", values: [value] }),
  );
  return [...equalities, ...(selector.matchExpressions ?? [])];
}

function isWellFormed({ key, operator, values = [] }: Requirement): boolean {
  if (checkQualifiedName(key).length > 0 || values.some((value) => checkLabelValue(value).length > 0)) return false;
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length > 0;
    case "Exists":
    case "DoesNotExist":
      return values.length === 0;
    default:
      return false;
  }
}

function compileRequirement({ key, operator, values = [] }: Requirement): LabelMatcher {
  switch (operator) {
    case "In":
      return (labels) => isOneOf(values, labelOf(labels, key));
    case "NotIn":
      return (labels) => !isOneOf(values, labelOf(labels, key));
    case "Exists":
      return (labels) => labelOf(labels, key) !== undefined;
    case "DoesNotExist":
      return (labels) => labelOf(labels, key) === undefined;
  }
}

const labelOf = (labels: Labels, key: string): string | undefined =>
  labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;

const isOneOf = (values: readonly string[], value: string | undefined): boolean =>
  value !== undefined && values.includes(value);

function formatRequirement({ key, operator, values = [] }: Requirement): string {
  switch (operator) {
    case "In":
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(",")})`;
    case "NotIn":
      return `${key} notin (${values.join(",")})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
  }
}
