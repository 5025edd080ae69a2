import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { Core } from "../api/core.ts";
import type { FieldFault } from "../api/errors.ts";
import { dnsSubdomain } from "../api/names.ts";
import type { Draft, ResourceType, Strategy } from "../api/types.ts";
import { CelError } from "../cel/values.ts";
import { resourceType } from "../kinds/built-in.ts";
import { columnsFor } from "../kinds/columns.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import { customType, type DefinedVersion, type Definition, servedVersion } from "./custom-type.ts";
import { checkRules } from "./rules.ts";

/** Drafts of this type went through the decoder. */
const definitionOf = (object: Draft | Stored): Definition => object.spec as Definition;

const strategy: Strategy = {
  needsResourceVersion: true,
  validateName: dnsSubdomain,

  applyDefaults(draft) {
    const spec = isRecord(draft.spec) ? draft.spec : {};
    const given = isRecord(spec.names) ? spec.names : {};
    const kind = String(given.kind ?? "");
    const names = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...given };
    return { ...draft, spec: { conversion: { strategy: "None" }, versions: [], ...spec, names } };
  },

  prepareCreate(draft, { clock }) {
    const { names, versions } = definitionOf(draft);
    const at = timestamp(clock.now());
    const condition = (type: string, reason: string, message: string) => ({
      type,
      status: "True",
      lastTransitionTime: at,
      reason,
      message,
    });
    return {
      ...draft,
      status: {
        conditions: [
          condition("NamesAccepted", "NoConflicts", "no conflicts found"),
          condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
        acceptedNames: names,
        storedVersions: versions.filter((version) => version.storage).map((version) => version.name),
      },
    };
  },

  validateCreate: (draft) => validate(draft),
  prepareUpdate: (before, after) => ({ ...after, status: before.status }),
  validateUpdate: (_, after) => validate(after),
  prepareStatus: (before, after) => ({ ...after, spec: before.spec }),
};

function validate(draft: Draft): FieldFault[] {
  const { group = "", names, scope, versions } = definitionOf(draft);
  const faults: FieldFault[] = [];
  const expected = `${names.plural}.${group}`;
  if (draft.metadata.name !== expected)
    faults.push({
      field: "metadata.name",
      kind: "Invalid",
      badValue: draft.metadata.name,
      detail: 'must be spec.names.plural+"."+spec.group',
    });
  if (scope !== "Cluster" && scope !== "Namespaced")
    faults.push({
      field: "spec.scope",
      kind: "NotSupported",
      badValue: scope,
      detail: 'supported values: "Cluster", "Namespaced"',
    });
  return [...faults, ...validateVersions(versions)];
}

function validateVersions(versions: readonly DefinedVersion[]): FieldFault[] {
  const faults: FieldFault[] = [];
  const complain = (field: string, badValue: unknown, detail: string): void => {
    faults.push({ field, kind: "Invalid", badValue, detail });
  };
  if (versions.filter((version) => version.storage).length !== 1)
    complain("spec.versions", versions, "must have exactly one version marked as storage version");
  if (versions.filter((version) => version.served).length > 1)
    complain(
      "spec.versions",
      versions,
      "the sandbox serves one version of a custom resource; set served: false on the others",
    );
  for (const [index, version] of versions.entries()) {
    const schema = version.schema?.openAPIV3Schema;
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    if (schema === undefined) faults.push({ field: path, kind: "Required", detail: "schemas are required" });
    else if (schema.type !== "object") complain(`${path}.type`, schema.type ?? "", "must be object");
    try {
      if (schema !== undefined) checkRules(schema);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      complain(`${path}.x-kubernetes-validations`, "", error.message);
    }
  }
  return faults;
}

export const definitionType: ResourceType = resourceType(
  "apiextensions.k8s.io/v1",
  "customresourcedefinitions",
  "CustomResourceDefinition",
  {
    namespaced: false,
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    hasStatus: true,
    countsGenerations: true,
    strategy,
    columns: columnsFor("CustomResourceDefinition"),
  },
);

/** Serves what is defined for as long as it is defined. */
export function followDefinitions(core: Core): void {
  core.store.onChange(({ object }, previous, deleted) => {
    if (object.kind !== definitionType.kind || object.apiVersion !== definitionType.apiVersion) return;
    const known = previous === undefined ? undefined : typeOf(previous);
    if (known !== undefined && deleted) {
      const table = core.store.table(known);
      for (const custom of table.sorted()) core.store.remove(table, custom);
      core.store.dropTable(known);
    }
    if (known !== undefined) core.registry.remove(known);
    const type = typeOf(object);
    if (!deleted && type !== undefined) core.registry.add(type);
  });
}

function typeOf(object: Stored): ResourceType | undefined {
  if (!isRecord(object.spec)) return undefined;
  const definition = definitionOf(object);
  const version = servedVersion(definition);
  return version === undefined ? undefined : customType(definition, version);
}
