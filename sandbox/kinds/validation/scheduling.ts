import { checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName } from "@jobferry/shared/job/names.ts";
import type { LabelSelector } from "@jobferry/shared/job/types.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type {
  Affinity,
  NodeRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
} from "../../schema/pod-types.ts";
import { validateLabelSelector } from "./metadata.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

export function validateTolerations(v: Violations, path: string, tolerations: readonly Toleration[]): void {
  tolerations.forEach((toleration, index) => {
    const { key = "", operator = "", value = "", effect = "", tolerationSeconds } = toleration;
    const field = `${path}[${index}]`;
    if (key !== "") v.malformed(`${field}.key`, key, checkQualifiedName(key));
    else if (operator !== "Exists") v.invalid(`${field}.operator`, operator, "must be Exists when there is no key");
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      v.invalid(`${field}.effect`, effect, "must be NoExecute when tolerationSeconds is set");
    }
    // Complaints about the value are reported under the operator.
    if (operator === "Equal" || operator === "") {
      const complaints = checkLabelValue(value);
      if (complaints.length > 0) v.invalid(`${field}.operator`, value, complaints.join("; "));
    } else if (operator === "Exists") {
      if (value !== "") v.invalid(`${field}.operator`, value, "Exists takes no value");
    } else v.notSupported(`${field}.operator`, operator, ["Equal", "Exists"]);
    if (effect !== "" && !EFFECTS.includes(effect)) v.notSupported(`${field}.effect`, effect, EFFECTS);
  });
}

export function validateAffinity(v: Violations, path: string, affinity: Affinity): void {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  const required = nodeAffinity?.[REQUIRED];
  if (required) validateNodeTerms(v, `${path}.nodeAffinity.${REQUIRED}.nodeSelectorTerms`, required.nodeSelectorTerms);
  nodeAffinity?.[PREFERRED]?.forEach(({ weight, preference }, index) => {
    const field = `${path}.nodeAffinity.${PREFERRED}[${index}]`;
    validateWeight(v, field, weight);
    // Preferences are not held to the label syntax of values.
    validateNodeTerm(v, `${field}.preference`, preference, false);
  });
  if (podAffinity) validatePodAffinity(v, `${path}.podAffinity`, podAffinity);
  if (podAntiAffinity) validatePodAffinity(v, `${path}.podAntiAffinity`, podAntiAffinity);
}

function validateWeight(v: Violations, field: string, weight: number): void {
  if (weight < 1 || weight > 100) v.invalid(`${field}.weight`, weight, "must be between 1 and 100");
}

function validateNodeTerms(v: Violations, path: string, terms: readonly NodeSelectorTerm[]): void {
  if (terms.length === 0) v.required(path, "at least one term");
  terms.forEach((term, index) => {
    validateNodeTerm(v, `${path}[${index}]`, term, true);
  });
}

function validateNodeTerm(v: Violations, path: string, term: NodeSelectorTerm, checkValues: boolean): void {
  term.matchExpressions?.forEach((requirement, index) => {
    validateNodeExpression(v, `${path}.matchExpressions[${index}]`, requirement, checkValues);
  });
  term.matchFields?.forEach((requirement, index) => {
    validateNodeField(v, `${path}.matchFields[${index}]`, requirement);
  });
}

function validateNodeExpression(v: Violations, path: string, requirement: NodeRequirement, checkValues: boolean): void {
  const { key, operator, values = [] } = requirement;
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) v.required(`${path}.values`, "In and NotIn need values");
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) v.forbidden(`${path}.values`, "Exists and DoesNotExist take no values");
      break;
    case "Gt":
    case "Lt":
      if (values.length !== 1) v.required(`${path}.values`, "Gt and Lt need one value");
      break;
    default:
      v.invalid(`${path}.operator`, operator, "is not a node selector operator");
  }
  v.malformed(`${path}.key`, key, checkQualifiedName(key));
  if (!checkValues) return;
  values.forEach((value, index) => {
    v.malformed(`${path}.values[${index}]`, value, checkLabelValue(value));
  });
}

function validateNodeField(v: Violations, path: string, { key, operator, values = [] }: NodeRequirement): void {
  if (operator !== "In" && operator !== "NotIn") v.invalid(`${path}.operator`, operator, "must be In or NotIn");
  else if (values.length !== 1) v.required(`${path}.values`, "exactly one value");
  if (key !== "metadata.name") {
    v.invalid(`${path}.key`, key, "must be metadata.name");
    return;
  }
  values.forEach((value, index) => {
    v.malformed(`${path}.values[${index}]`, value, checkDnsSubdomain(value));
  });
}

function validatePodAffinity(v: Violations, path: string, affinity: PodAffinity): void {
  affinity[REQUIRED]?.forEach((term, index) => {
    validatePodTerm(v, `${path}.${REQUIRED}[${index}]`, term);
  });
  affinity[PREFERRED]?.forEach(({ weight, podAffinityTerm }, index) => {
    const field = `${path}.${PREFERRED}[${index}]`;
    validateWeight(v, field, weight);
    validatePodTerm(v, `${field}.podAffinityTerm`, podAffinityTerm);
  });
}

function validatePodTerm(v: Violations, path: string, term: PodAffinityTerm): void {
  validateLabelSelector(v, `${path}.labelSelector`, term.labelSelector);
  validateLabelSelector(v, `${path}.namespaceSelector`, term.namespaceSelector);
  for (const namespace of term.namespaces ?? []) v.malformed(`${path}.namespace`, namespace, checkDnsLabel(namespace));
  validateLabelKeys(v, path, term);
  if (term.topologyKey === "") v.required(`${path}.topologyKey`);
  v.malformed(`${path}.topologyKey`, term.topologyKey, checkQualifiedName(term.topologyKey));
}

interface LabelKeys {
  labelSelector?: LabelSelector;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
}

function validateLabelKeys(v: Violations, path: string, keys: LabelKeys): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = keys;
  for (const [field, list] of [
    [`${path}.matchLabelKeys`, matchLabelKeys],
    [`${path}.mismatchLabelKeys`, mismatchLabelKeys],
  ] as const) {
    if (list.length > 0 && labelSelector === undefined) v.forbidden(field, "needs a labelSelector");
    else {
      list.forEach((key, index) => {
        v.malformed(`${field}[${index}]`, key, checkQualifiedName(key));
      });
    }
  }
  const selected = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    const position = matchLabelKeys.lastIndexOf(key);
    if (position >= 0 && selected.has(key)) v.invalid(`${path}[${position}]`, key, "is in the labelSelector, too");
    selected.add(key);
  }
  matchLabelKeys.forEach((key, index) => {
    if (mismatchLabelKeys.includes(key))
      v.invalid(`${path}.matchLabelKeys[${index}]`, key, "is in mismatchLabelKeys, too");
  });
}

export function validateTopologySpread(
  v: Violations,
  path: string,
  constraints: readonly TopologySpreadConstraint[],
): void {
  constraints.forEach((constraint, index) => {
    const { maxSkew, topologyKey, whenUnsatisfiable, minDomains, labelSelector } = constraint;
    const field = `${path}[${index}]`;
    if (maxSkew <= 0) v.invalid(`${field}.maxSkew`, maxSkew, "must be above 0");
    if (topologyKey === "") v.required(`${field}.topologyKey`);
    const actions = ["DoNotSchedule", "ScheduleAnyway"];
    if (!actions.includes(whenUnsatisfiable)) v.notSupported(`${field}.whenUnsatisfiable`, whenUnsatisfiable, actions);
    const repeated = constraints
      .slice(index + 1)
      .some((other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable);
    if (repeated) v.duplicate(`${field}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`);
    if (minDomains !== undefined && minDomains <= 0) v.invalid(`${field}.minDomains`, minDomains, "must be above 0");
    if (minDomains !== undefined && whenUnsatisfiable !== "DoNotSchedule") {
      v.invalid(`${field}.minDomains`, minDomains, "only with DoNotSchedule");
    }
    for (const policy of ["nodeAffinityPolicy", "nodeTaintsPolicy"] as const) {
      const value = constraint[policy];
      if (value !== undefined && value !== "Honor" && value !== "Ignore") {
        v.notSupported(`${field}.${policy}`, value, ["Honor", "Ignore"]);
      }
    }
    validateLabelKeys(v, field, constraint);
    validateLabelSelector(v, `${field}.labelSelector`, labelSelector);
  });
}
