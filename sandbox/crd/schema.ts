/** The structural schema of a custom resource: what is dropped from its objects, and what is filled in. */
import { isRecord, jsonEqual } from "../store/frozen.ts";

export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-validations"?: readonly Rule[];
}

export interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly fieldPath?: string;
  readonly reason?: string;
}

/** At the root these belong to Kubernetes, whatever the schema says. */
const ROOT_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** The value without fields the schema does not know; their paths are added to `unknown`. */
export function prune(schema: Schema, value: unknown, unknown: string[], path = ""): unknown {
  if (Array.isArray(value)) {
    const items = schema.items;
    return items === undefined ? value : value.map((item, index) => prune(items, item, unknown, `${path}[${index}]`));
  }
  if (!isRecord(value)) return value;
  const result: Record<string, unknown> = {};
  const keepsAll = schema["x-kubernetes-preserve-unknown-fields"] === true;
  for (const key of Object.keys(value)) {
    const at = path === "" ? key : `${path}.${key}`;
    const field = fieldSchema(schema, key);
    if (path === "" && ROOT_FIELDS.has(key)) result[key] = value[key];
    else if (field !== undefined) result[key] = prune(field, value[key], unknown, at);
    else if (keepsAll || schema.additionalProperties === true) result[key] = value[key];
    else unknown.push(at);
  }
  return result;
}

export function fieldSchema(schema: Schema, key: string): Schema | undefined {
  const own = schema.properties;
  if (own !== undefined && Object.hasOwn(own, key)) return own[key];
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

/** The value with defaults filled in, and with null where it is not allowed taken as absent. */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = schema.items;
    return items === undefined ? value : value.map((item) => withDefaults(items, item));
  }
  if (!isRecord(value)) return value;
  const result: Record<string, unknown> = { ...value };
  for (const [key, field] of Object.entries(schema.properties ?? {}))
    if (field.default !== undefined && (result[key] === undefined || (result[key] === null && field.nullable !== true)))
      result[key] = field.default;
  for (const key of Object.keys(result)) {
    const field = fieldSchema(schema, key);
    if (field === undefined) continue;
    if (result[key] === null && field.nullable !== true && field.default === undefined) delete result[key];
    else result[key] = withDefaults(field, result[key]);
  }
  return jsonEqual(result, value) ? value : result;
}
