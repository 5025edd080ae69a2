import { selectorMatches } from "@jobferry/shared/job/selector.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { readBody } from "../api/body.ts";
import type { Core } from "../api/core.ts";
import { failure } from "../api/errors.ts";
import type { Draft, ResourceType } from "../api/types.ts";
import { CelError } from "../cel/values.ts";
import { mergePatch } from "../patch/merge.ts";
import { strategicMerge } from "../patch/strategic.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import {
  bindingSpec,
  bindingType,
  type CompiledPolicy,
  compilePolicy,
  type MatchResources,
  policySpec,
  policyType,
  type ResourceRule,
} from "./policy-types.ts";

/** Stored policies never change: a new version is a new object. */
const compiled = new WeakMap<Stored, CompiledPolicy>();

function compiledOf(policy: Stored): CompiledPolicy {
  const known = compiled.get(policy) ?? compilePolicy(policySpec(policy));
  compiled.set(policy, known);
  return known;
}

/** The new object as the policies that are bound want it; the same one if none has anything to say. */
export function admitNew(core: Core, type: ResourceType, draft: Draft): Draft {
  const bindings = core.store.table(bindingType);
  // A policy cannot lock its own kind.
  if (bindings.size === 0 || type.group === policyType.group) return draft;
  const namespace = namespaceOf(core, type, draft);
  let result = draft;
  for (const binding of bindings.sorted()) {
    const policy = core.store.table(policyType).get("", bindingSpec(binding).policyName ?? "");
    if (policy === undefined || !covers(policySpec(policy).matchConstraints ?? {}, type, result, namespace)) continue;
    result = carryOut(policy, binding, type, result, namespace);
  }
  return result;
}

/** What a namespace selector looks at: the namespace that the object is in, or is. */
function namespaceOf(core: Core, type: ResourceType, draft: Draft): Stored | Draft | undefined {
  if (type.group === "" && type.kind === "Namespace") return draft;
  const namespaces = core.registry.find("", "v1", "namespaces");
  if (!type.namespaced || namespaces === undefined) return undefined;
  return core.store.table(namespaces).get("", draft.metadata.namespace ?? "");
}

function covers(
  { resourceRules = [], namespaceSelector = {}, objectSelector = {} }: MatchResources,
  type: ResourceType,
  draft: Draft,
  namespace: Stored | Draft | undefined,
): boolean {
  return (
    resourceRules.some((rule) => ruleCovers(rule, type, draft.metadata.name)) &&
    selectorMatches(objectSelector, draft.metadata.labels) &&
    (namespace === undefined || selectorMatches(namespaceSelector, namespace.metadata.labels))
  );
}

function ruleCovers(rule: ResourceRule, type: ResourceType, name: string): boolean {
  const { apiGroups = [], apiVersions = [], resources = [], resourceNames = [], scope = "*" } = rule;
  const has = (list: readonly string[], value: string): boolean => list.includes("*") || list.includes(value);
  return (
    has(apiGroups, type.group) &&
    has(apiVersions, type.version) &&
    (has(resources, type.plural) || resources.includes("*/*")) &&
    (resourceNames.length === 0 || resourceNames.includes(name)) &&
    (scope === "*" || scope === (type.namespaced ? "Namespaced" : "Cluster"))
  );
}

function carryOut(
  policy: Stored,
  binding: Stored,
  type: ResourceType,
  draft: Draft,
  namespaceObject: Stored | Draft | undefined,
): Draft {
  const { conditions, mutations } = compiledOf(policy);
  const scope = { oldObject: null, namespaceObject: namespaceObject ?? null };
  try {
    if (!conditions.every((condition) => condition.evaluate({ ...scope, object: draft }) === true)) return draft;
    return mutations.reduce<Draft>((object, mutation) => {
      const change = mutation.evaluate({ ...scope, object });
      if (!isRecord(change)) throw new CelError("an apply configuration must be an Object");
      return merge(type, object, change);
    }, draft);
  } catch (error) {
    if (!(error instanceof CelError || error instanceof ApiError)) throw error;
    if (policySpec(policy).failurePolicy === "Ignore") return draft;
    const who = `policy '${policy.metadata.name}' with binding '${binding.metadata.name}'`;
    throw failure(422, "Invalid", `${who} denied request: ${error.message}`);
  }
}

function merge(type: ResourceType, object: Draft, change: Record<string, unknown>): Draft {
  const merged =
    type.schemaKind === undefined ? mergePatch(object, change) : strategicMerge(type.schemaKind, object, change);
  const read = readBody(type, merged);
  return type.strategy.applyDefaults?.(read) ?? read;
}
