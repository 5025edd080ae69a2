/**
 * Mutating admission policies and their bindings, as far as the sandbox carries them out: on CREATE, with match conditions and
 * apply configurations, without parameters and variables. A policy that needs more is refused when it is written.
 */
import type { LabelSelector } from "@jobferry/shared/job/types.ts";
import { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { FieldFault } from "../api/errors.ts";
import type { Draft, ResourceType, Strategy } from "../api/types.ts";
import { compile, type Expression } from "../cel/compile.ts";
import { CelError } from "../cel/values.ts";
import { resourceType } from "../kinds/built-in.ts";
import { columnsFor } from "../kinds/columns.ts";
import type { Stored } from "../store/frozen.ts";

export interface ResourceRule {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  resourceNames?: string[];
  scope?: string;
}

export interface MatchResources {
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  resourceRules?: ResourceRule[];
  excludeResourceRules?: ResourceRule[];
}

interface PolicySpec {
  matchConstraints?: MatchResources;
  matchConditions?: { name?: string; expression?: string }[];
  mutations?: { patchType?: string; applyConfiguration?: { expression?: string }; jsonPatch?: object }[];
  failurePolicy?: string;
  reinvocationPolicy?: string;
  paramKind?: object;
  variables?: object[];
}

interface BindingSpec {
  policyName?: string;
  paramRef?: object;
  matchResources?: MatchResources;
}

/** What an expression may speak of. */
const VARIABLES = ["object", "oldObject", "namespaceObject"];

/** Drafts and stored objects of these types went through the decoder. */
export const policySpec = (object: Draft | Stored): PolicySpec => (object.spec ?? {}) as PolicySpec;
export const bindingSpec = (object: Draft | Stored): BindingSpec => (object.spec ?? {}) as BindingSpec;

export interface CompiledPolicy {
  readonly conditions: readonly Expression[];
  readonly mutations: readonly Expression[];
}

export function compilePolicy(spec: PolicySpec): CompiledPolicy {
  const read = (expression = ""): Expression => compile(expression, VARIABLES);
  return {
    conditions: (spec.matchConditions ?? []).map(({ expression }) => read(expression)),
    mutations: (spec.mutations ?? []).map(({ applyConfiguration }) => read(applyConfiguration?.expression)),
  };
}

const defaultMatch = ({ resourceRules, ...match }: MatchResources): MatchResources & { matchPolicy?: string } => ({
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  ...match,
  ...(resourceRules === undefined ? {} : { resourceRules: resourceRules.map((rule) => ({ scope: "*", ...rule })) }),
});

const policyStrategy: Strategy = {
  applyDefaults(draft) {
    const { matchConstraints, ...spec } = policySpec(draft);
    return {
      ...draft,
      spec: {
        failurePolicy: "Fail",
        ...spec,
        ...(matchConstraints === undefined ? {} : { matchConstraints: defaultMatch(matchConstraints) }),
      },
    };
  },
  validateCreate: (draft) => validatePolicy(policySpec(draft)),
  validateUpdate: (_, after) => validatePolicy(policySpec(after)),
};

const bindingStrategy: Strategy = {
  validateCreate: (draft) => validateBinding(bindingSpec(draft)),
  validateUpdate: (_, after) => validateBinding(bindingSpec(after)),
};

const unable = (what: string): string => `the sandbox does not carry out ${what}`;

function validatePolicy(spec: PolicySpec): FieldFault[] {
  const v = new Violations();
  const { matchConstraints, mutations = [], reinvocationPolicy } = spec;
  v.oneOf("spec.failurePolicy", spec.failurePolicy, ["Fail", "Ignore"]);
  if (matchConstraints === undefined) v.required("spec.matchConstraints");
  else validateRules(v, matchConstraints);
  if (mutations.length === 0) v.required("spec.mutations", "mutations must contain at least one item");
  mutations.forEach(({ patchType, applyConfiguration }, index) => {
    const field = `spec.mutations[${index}]`;
    if (patchType === "JSONPatch") v.invalid(`${field}.patchType`, patchType, unable("JSON patches"));
    else v.oneOf(`${field}.patchType`, patchType, ["ApplyConfiguration", "JSONPatch"]);
    if (applyConfiguration === undefined) v.required(`${field}.applyConfiguration`);
  });
  if (reinvocationPolicy === undefined) v.required("spec.reinvocationPolicy");
  else if (reinvocationPolicy !== "Never")
    v.invalid("spec.reinvocationPolicy", reinvocationPolicy, unable("a second invocation"));
  if (spec.paramKind !== undefined) v.invalid("spec.paramKind", spec.paramKind, unable("parameters"));
  if (spec.variables !== undefined) v.invalid("spec.variables", spec.variables, unable("variables"));
  if (v.errors.length === 0) validateExpressions(v, spec);
  return v.errors;
}

function validateRules(v: Violations, { resourceRules = [], excludeResourceRules }: MatchResources): void {
  const field = "spec.matchConstraints";
  if (resourceRules.length === 0) v.required(`${field}.resourceRules`);
  resourceRules.forEach(({ operations = [] }, index) => {
    const path = `${field}.resourceRules[${index}].operations`;
    if (operations.length === 0) v.required(path);
    for (const operation of operations)
      if (operation !== "CREATE") v.invalid(path, operation, unable("policies for operations other than CREATE"));
  });
  if (excludeResourceRules !== undefined)
    v.invalid(`${field}.excludeResourceRules`, excludeResourceRules, unable("exceptions from rules"));
}

function validateExpressions(v: Violations, spec: PolicySpec): void {
  try {
    compilePolicy(spec);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    v.invalid("spec", undefined, error.message);
  }
}

function validateBinding({ policyName, paramRef, matchResources }: BindingSpec): FieldFault[] {
  const v = new Violations();
  if (policyName === undefined) v.required("spec.policyName");
  if (paramRef !== undefined) v.invalid("spec.paramRef", paramRef, unable("parameters"));
  if (matchResources !== undefined)
    v.invalid("spec.matchResources", matchResources, unable("a narrower choice by the binding"));
  return v.errors;
}

const GROUP_VERSION = "admissionregistration.k8s.io/v1";
const options = { namespaced: false, categories: ["api-extensions"], countsGenerations: true };

export const policyType: ResourceType = resourceType(
  GROUP_VERSION,
  "mutatingadmissionpolicies",
  "MutatingAdmissionPolicy",
  { ...options, strategy: policyStrategy, columns: columnsFor("MutatingAdmissionPolicy") },
);
export const bindingType: ResourceType = resourceType(
  GROUP_VERSION,
  "mutatingadmissionpolicybindings",
  "MutatingAdmissionPolicyBinding",
  { ...options, strategy: bindingStrategy, columns: columnsFor("MutatingAdmissionPolicyBinding") },
);
