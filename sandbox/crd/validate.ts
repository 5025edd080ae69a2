/** Checks a custom resource against its schema, in the words of the API server. */
import type { FieldFault } from "../api/errors.ts";
import { isRecord, jsonEqual } from "../store/frozen.ts";
import { violatedRules } from "./rules.ts";
import { fieldSchema, type Schema } from "./schema.ts";

/** With one of these the value cannot be trusted to have the shape that rules are written for. */
const BLOCKING: ReadonlySet<string> = new Set(["NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"]);

export function validateCustom(schema: Schema, value: unknown, before?: unknown): FieldFault[] {
  const faults = checkValue(schema, value, "");
  if (!hasRules(schema)) return faults;
  if (!faults.some(({ kind }) => BLOCKING.has(kind))) return [...faults, ...violatedRules(schema, value, before)];
  const note =
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
  return [...faults, { field: "<nil>", kind: "Invalid", badValue: null, detail: note }];
}

function hasRules(schema: Schema): boolean {
  if (schema["x-kubernetes-validations"] !== undefined) return true;
  const parts = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
  return parts.some((part) => typeof part === "object" && hasRules(part));
}

const typeOf = (value: unknown): string => {
  if (Array.isArray(value)) return "array";
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
};

function checkValue(schema: Schema, value: unknown, path: string): FieldFault[] {
  if (value === null && schema.nullable === true) return [];
  const mismatch = checkType(schema, value, path);
  if (mismatch !== undefined) return [mismatch];
  const faults: FieldFault[] = [];
  if (schema.enum !== undefined && !schema.enum.some((allowed) => jsonEqual(allowed, value)))
    faults.push({
      field: path,
      kind: "NotSupported",
      badValue: value,
      detail: `supported values: ${schema.enum.map((allowed) => JSON.stringify(allowed)).join(", ")}`,
    });
  if (typeof value === "string") faults.push(...checkString(schema, value, path));
  else if (typeof value === "number") faults.push(...checkNumber(schema, value, path));
  else if (Array.isArray(value)) faults.push(...checkList(schema, value, path));
  else if (isRecord(value)) faults.push(...checkObject(schema, value, path));
  return [...faults, ...checkCombinations(schema, value, path)];
}

function checkType(schema: Schema, value: unknown, path: string): FieldFault | undefined {
  const found = typeOf(value);
  const allowed = schema["x-kubernetes-int-or-string"] === true ? ["integer", "string"] : schema.type?.split(",");
  if (allowed === undefined || allowed.includes(found) || (found === "integer" && allowed.includes("number")))
    return undefined;
  return {
    field: path,
    kind: "TypeInvalid",
    badValue: found,
    detail: `${path} in body must be of type ${allowed.join(",")}: "${found}"`,
  };
}

const invalid = (field: string, badValue: unknown, rule: string): FieldFault => ({
  field,
  kind: "Invalid",
  badValue,
  detail: `${field} in body ${rule}`,
});

function checkString(schema: Schema, value: string, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  const length = [...value].length;
  if (schema.maxLength !== undefined && length > schema.maxLength)
    faults.push({ field: path, kind: "TooLong", detail: `may not be more than ${schema.maxLength} bytes` });
  if (schema.minLength !== undefined && length < schema.minLength)
    faults.push(invalid(path, value, `should be at least ${schema.minLength} chars long`));
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value))
    faults.push(invalid(path, value, `should match '${schema.pattern}'`));
  if (schema.format === "date-time" && !isDateTime(value))
    faults.push(invalid(path, value, `must be of type date-time: ${JSON.stringify(value)}`));
  return faults;
}

const isDateTime = (value: string): boolean =>
  /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d([.,]\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(value) && !Number.isNaN(Date.parse(value));

function checkNumber(schema: Schema, value: number, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  const { minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false } = schema;
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum))
    faults.push(invalid(path, value, `should be less than ${exclusiveMaximum ? "" : "or equal to "}${maximum}`));
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum))
    faults.push(invalid(path, value, `should be greater than ${exclusiveMinimum ? "" : "or equal to "}${minimum}`));
  return faults;
}

const tooMany = (field: string, count: number, limit: number): FieldFault => ({
  field,
  kind: "TooMany",
  badValue: count,
  detail: `must have at most ${limit} items`,
});

function checkList(schema: Schema, list: readonly unknown[], path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  if (schema.maxItems !== undefined && list.length > schema.maxItems)
    faults.push(tooMany(path, list.length, schema.maxItems));
  if (schema.minItems !== undefined && list.length < schema.minItems)
    faults.push(invalid(path, list.length, `should have at least ${schema.minItems} items`));
  const { items } = schema;
  if (items !== undefined)
    for (const [index, item] of list.entries()) faults.push(...checkValue(items, item, `${path}[${index}]`));
  return [...faults, ...checkDuplicates(schema, list, path)];
}

function checkDuplicates(schema: Schema, list: readonly unknown[], path: string): FieldFault[] {
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (listType !== "set" && listType !== "map") return [];
  const seen = new Set<string>();
  const faults: FieldFault[] = [];
  for (const [index, item] of list.entries()) {
    const fields = isRecord(item) ? item : {};
    const id = listType === "set" ? item : Object.fromEntries(keys.map((key) => [key, fields[key]]));
    const text = JSON.stringify(id);
    if (seen.has(text)) faults.push({ field: `${path}[${index}]`, kind: "Duplicate", badValue: id, detail: "" });
    seen.add(text);
  }
  return faults;
}

function checkObject(schema: Schema, object: Record<string, unknown>, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
  const count = Object.keys(object).length;
  if (schema.maxProperties !== undefined && count > schema.maxProperties)
    faults.push(tooMany(path, count, schema.maxProperties));
  if (schema.minProperties !== undefined && count < schema.minProperties)
    faults.push(invalid(path, count, `should have at least ${schema.minProperties} properties`));
  for (const key of new Set([...(schema.required ?? []), ...Object.keys(object)].sort())) {
    const field = fieldSchema(schema, key);
    if (object[key] === undefined) faults.push({ field: at(key), kind: "Required", detail: "" });
    else if (field !== undefined && !(path === "" && key === "metadata"))
      faults.push(...checkValue(field, object[key], at(key)));
  }
  return faults;
}

function checkCombinations(schema: Schema, value: unknown, path: string): FieldFault[] {
  const passes = (part: Schema): boolean => checkValue(part, value, path).length === 0;
  const faults: FieldFault[] = [];
  for (const part of schema.allOf ?? []) faults.push(...checkValue(part, value, path));
  if (schema.anyOf !== undefined && !schema.anyOf.some(passes))
    faults.push(invalid(path, value, "must validate at least one schema (anyOf)"));
  if (schema.oneOf !== undefined && schema.oneOf.filter(passes).length !== 1)
    faults.push(invalid(path, value, "must validate one and only one schema (oneOf)"));
  if (schema.not !== undefined && passes(schema.not))
    faults.push(invalid(path, value, "must not validate the schema (not)"));
  return faults;
}
