/** From a CustomResourceDefinition to the resource type it defines. */
import type { Column } from "../api/columns.ts";
import type { Draft, ResourceType, Strategy } from "../api/types.ts";
import { age } from "../kinds/age.ts";
import { resourceType } from "../kinds/built-in.ts";
import { ageColumn, nameColumn } from "../kinds/columns.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import { compilePath } from "./json-path.ts";
import { prune, type Schema, withDefaults } from "./schema.ts";
import { validateCustom } from "./validate.ts";

export interface Definition {
  readonly group: string;
  readonly scope: string;
  readonly names: {
    readonly plural: string;
    readonly singular?: string;
    readonly kind: string;
    readonly listKind?: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly versions: readonly DefinedVersion[];
}

export interface DefinedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: { readonly status?: object };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

export const servedVersion = (definition: Definition): DefinedVersion | undefined =>
  definition.versions.find((version) => version.served);

export function customType(definition: Definition, version: DefinedVersion): ResourceType {
  const { group, names, scope } = definition;
  const schema: Schema = version.schema?.openAPIV3Schema ?? { "x-kubernetes-preserve-unknown-fields": true };
  const hasStatus = version.subresources?.status !== undefined;
  return resourceType(`${group}/${version.name}`, names.plural, names.kind, {
    singular: names.singular ?? names.kind.toLowerCase(),
    listKind: names.listKind ?? `${names.kind}List`,
    namespaced: scope === "Namespaced",
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    hasStatus,
    countsGenerations: true,
    strategy: customStrategy(schema, hasStatus),
    selectableFields: selectable(version),
    unsupportedField: (field) => `field label not supported: ${field}`,
    columns: [nameColumn, ...(version.additionalPrinterColumns?.map(printerColumn) ?? [ageColumn])],
    schemaKind: undefined,
    openApiSchema: schema as Record<string, unknown>,
  });
}

function customStrategy(schema: Schema, hasStatus: boolean): Strategy {
  const withoutStatus = ({ status: _, ...rest }: Draft): Draft => rest as Draft;
  const keepStatus = (before: Stored, after: Draft): Draft =>
    before.status === undefined ? withoutStatus(after) : { ...after, status: before.status };
  return {
    needsResourceVersion: true,
    prune: (body, unknown) => prune(schema, body, unknown) as Record<string, unknown>,
    applyDefaults: (draft) => withDefaults(schema, draft) as Draft,
    prepareCreate: (draft) => (hasStatus ? withoutStatus(draft) : draft),
    validateCreate: (draft) => validateCustom(schema, draft),
    prepareUpdate: (before, after) => (hasStatus ? keepStatus(before, after) : after),
    validateUpdate: (before, after) => validateCustom(schema, after, before),
    // Of a status write only the status counts.
    prepareStatus: (before, after) =>
      after.status === undefined
        ? withoutStatus({ ...before } as Draft)
        : { ...before, metadata: { ...before.metadata }, status: after.status },
    validateStatus: (before, after) => validateCustom(schema, after, before),
  };
}

function selectable({ selectableFields = [] }: DefinedVersion): ResourceType["selectableFields"] {
  return Object.fromEntries(
    selectableFields.map(({ jsonPath }) => {
      const read = compilePath(jsonPath);
      const text = (object: Stored): string => String(read?.(object) ?? "");
      return [jsonPath.replace(/^\./, ""), text];
    }),
  );
}

function printerColumn({ name, type, format, description, priority = 0, jsonPath }: PrinterColumn): Column {
  const read = compilePath(jsonPath);
  return {
    name,
    type: type as Column["type"],
    priority,
    ...(format === undefined ? {} : { format }),
    description: description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    value: (object, now) => cell(type, read?.(object), now),
  };
}

function cell(type: string, value: unknown, now: number): unknown {
  if (value === undefined || value === null) return null;
  if (type === "date") return typeof value === "string" ? age(value, now) : "<invalid>";
  if (type === "string" && typeof value !== "string") return isRecord(value) ? JSON.stringify(value) : String(value);
  if (type === "integer" || type === "number") return typeof value === "number" ? value : null;
  return value;
}
