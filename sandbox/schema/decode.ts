/** Reads JSON as one of the built-in kinds: refuses wrong types, drops fields the kind does not have. */
import { isRecord } from "../store/frozen.ts";
import { type FieldType, type KindSchema, kindSchema, type Scalar } from "./schema.ts";

/** JSON that does not fit the kind; the message is the one a Go decoder gives. */
export class DecodeError extends Error {}

/** How Go names a field: the struct it is in, and its path from the root without list positions. */
interface GoField {
  readonly kind: string;
  readonly path: string;
}

interface Reading {
  readonly unknown: string[];
}

/** The same value without null and unknown fields; shares every part that needs no change. */
export function decode(
  kind: string,
  value: Record<string, unknown>,
): { value: Record<string, unknown>; unknown: string[] } {
  const reading: Reading = { unknown: [] };
  return { value: readKind(kind, value, "", "", reading), unknown: reading.unknown };
}

function readKind(
  kind: string,
  value: Record<string, unknown>,
  path: string,
  goParent: string,
  reading: Reading,
): Record<string, unknown> {
  return readFields(kindSchema(kind), kind, value, path, goParent, reading);
}

function readFields(
  schema: KindSchema,
  kind: string,
  value: Record<string, unknown>,
  path: string,
  goParent: string,
  reading: Reading,
): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const before = value[key];
    const type = schema.get(key);
    const at = path === "" ? key : `${path}.${key}`;
    let after: unknown;
    if (type === undefined) {
      if (before !== undefined) reading.unknown.push(at);
    } else if (before !== null && before !== undefined) {
      const goPath = goParent === "" ? key : `${goParent}.${key}`;
      after = readValue(type, before, at, { kind, path: goPath }, reading);
    }
    if (isEmptyCollection(type, after)) after = undefined;
    if (after === before) continue;
    copy ??= { ...value };
    if (after === undefined) delete copy[key];
    else copy[key] = after;
  }
  return copy ?? value;
}

/** Go leaves out lists and maps without entries. */
function isEmptyCollection(type: FieldType | undefined, value: unknown): boolean {
  if (type?.tag === "list") return Array.isArray(value) && value.length === 0;
  return type?.tag === "map" && isRecord(value) && Object.keys(value).length === 0;
}

function readValue(type: FieldType, value: unknown, path: string, goField: GoField, reading: Reading): unknown {
  switch (type.tag) {
    case "scalar":
      checkScalar(type.scalar, value, goField);
      return value;
    case "kind":
      if (!isRecord(value)) throw wrongType(value, goField, `v1.${type.kind}`);
      return readKind(type.kind, value, path, goField.path, reading);
    case "map": {
      if (!isRecord(value)) throw wrongType(value, goField, `map[string]${goName(type.values)}`);
      const values = type.values;
      return mapParts(value, (part, key) =>
        readValue(values, part ?? zero(values), `${path}[${key}]`, goField, reading),
      );
    }
    case "list": {
      if (!Array.isArray(value)) throw wrongType(value, goField, `[]${goName(type.items)}`);
      const items = type.items;
      let copy: unknown[] | undefined;
      for (let i = 0; i < value.length; i++) {
        const after = readValue(items, value[i] ?? zero(items), `${path}[${i}]`, goField, reading);
        if (after === value[i]) continue;
        copy ??= [...value];
        copy[i] = after;
      }
      return copy ?? value;
    }
  }
}

function mapParts(
  record: Record<string, unknown>,
  read: (part: unknown, key: string) => unknown,
): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(record)) {
    const after = read(record[key], key);
    if (after === record[key]) continue;
    copy ??= { ...record };
    copy[key] = after;
  }
  return copy ?? record;
}

/** Go reads null inside a list or map as the zero value. */
function zero(type: FieldType): unknown {
  if (type.tag === "kind" || type.tag === "map") return {};
  if (type.tag === "list") return [];
  switch (type.scalar) {
    case "int32":
    case "int64":
    case "number":
      return 0;
    case "bool":
      return false;
    case "quantity":
      return "0";
    default:
      return "";
  }
}

function checkScalar(scalar: Scalar, value: unknown, goField: GoField): void {
  switch (scalar) {
    case "any":
      return;
    case "string":
      if (typeof value !== "string") throw wrongType(value, goField, "string");
      return;
    case "bytes":
      if (typeof value !== "string") throw wrongType(value, goField, "[]uint8");
      if (!/^[A-Za-z0-9+/\r\n]*={0,2}$/.test(value)) throw new DecodeError("illegal base64 data at input byte 0");
      return;
    case "bool":
      if (typeof value !== "boolean") throw wrongType(value, goField, "bool");
      return;
    case "int32":
      if (!isWhole(value, 2 ** 31)) throw wrongType(value, goField, "int32");
      return;
    case "int64":
      if (!isWhole(value, 2 ** 63)) throw wrongType(value, goField, "int64");
      return;
    case "number":
      if (typeof value !== "number" || !Number.isFinite(value)) throw wrongType(value, goField, "float64");
      return;
    case "time":
    case "micro":
      checkTime(value, goField, scalar);
      return;
    case "quantity":
      checkQuantity(value);
      return;
    case "intOrString":
      if (typeof value !== "string" && !isWhole(value, 2 ** 31)) throw wrongType(value, goField, "int32");
      return;
  }
}

const isWhole = (value: unknown, limit: number): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= -limit && value < limit;

function checkTime(value: unknown, goField: GoField, scalar: "time" | "micro"): void {
  if (typeof value !== "string") throw wrongType(value, goField, "string");
  const layout = scalar === "micro" ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  const pattern =
    scalar === "micro"
      ? /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/
      : /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;
  if (!pattern.test(value) || Number.isNaN(Date.parse(value)))
    throw new DecodeError(
      `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse ${JSON.stringify(value)} as "2006"`,
    );
}

const QUANTITY = /^[+-]?(\d+(\.\d*)?|\.\d+)(([eE][+-]?\d+)|[KMGTPE]i|[numkMGTPE])?$/;

function checkQuantity(value: unknown): void {
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (typeof value !== "string" || !QUANTITY.test(value))
    throw new DecodeError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
}

/** What Go's decoder calls a JSON value. */
export function goKindOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (isRecord(value)) return "object";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function wrongType(value: unknown, goField: GoField, expected: string): DecodeError {
  const found = goKindOf(value);
  const what = found === "number" && expected.startsWith("int") ? `number ${String(value)}` : found;
  return new DecodeError(
    `json: cannot unmarshal ${what} into Go struct field ${goField.kind}.${goField.path} of type ${expected}`,
  );
}

function goName(type: FieldType): string {
  switch (type.tag) {
    case "kind":
      return `v1.${type.kind}`;
    case "list":
      return `[]${goName(type.items)}`;
    case "map":
      return `map[string]${goName(type.values)}`;
    case "scalar":
      return type.scalar === "bytes" ? "[]uint8" : type.scalar;
  }
}
