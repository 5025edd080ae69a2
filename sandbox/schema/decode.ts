/**
 * Reads JSON as one of the built-in kinds, as the API server's decoder does: refuses wrong types, drops fields the kind does not
 * have and those that say nothing, and gives quantities and times their canonical spelling.
 */
import { canonicalQuantity } from "@jobferry/shared/job/quantity.ts";
import { isRecord } from "../store/frozen.ts";
import { alwaysThere, type FieldType, kindSchema, type Scalar } from "./schema.ts";
import { canonicalTime } from "./time.ts";

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

/** The value in canonical form, with the paths of unknown fields; it shares every part that needs no change. */
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
  const schema = kindSchema(kind);
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
    if (type?.presence === "nonzero" && isZero(after)) after = undefined;
    if (after === before && after !== undefined) continue;
    copy ??= { ...value };
    if (after === undefined) delete copy[key];
    else copy[key] = after;
  }
  for (const [key, type] of alwaysThere(kind)) {
    if ((copy ?? value)[key] !== undefined) continue;
    copy ??= { ...value };
    copy[key] = zero(type);
  }
  return copy ?? value;
}

/** What Go's `omitempty` leaves out. */
function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isRecord(value)) return Object.keys(value).length === 0;
  return value === "" || value === 0 || value === false;
}

function readValue(type: FieldType, value: unknown, path: string, goField: GoField, reading: Reading): unknown {
  switch (type.tag) {
    case "scalar":
      return readScalar(type.scalar, value, goField);
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
  let changed = false;
  const entries = Object.keys(record).map((key): [string, unknown] => {
    const after = read(record[key], key);
    changed ||= after !== record[key];
    return [key, after];
  });
  // Unlike an assignment, this takes "__proto__" for a key like any other.
  return changed ? Object.fromEntries(entries) : record;
}

/** What Go has where nothing was given, or null inside a list or map. */
function zero(type: FieldType): unknown {
  if (type.tag === "kind") return readKind(type.kind, {}, "", "", { unknown: [] });
  if (type.tag === "map") return {};
  if (type.tag === "list") return [];
  switch (type.scalar) {
    case "int32":
    case "int64":
    case "number":
    case "intOrString":
      return 0;
    case "bool":
      return false;
    case "quantity":
      return "0";
    case "any":
      return null;
    default:
      return "";
  }
}

function readScalar(scalar: Scalar, value: unknown, goField: GoField): unknown {
  switch (scalar) {
    case "any":
      return value;
    case "time":
      return readTime(value, goField);
    case "quantity":
      return readQuantity(value);
    case "bytes":
      if (typeof value !== "string") throw wrongType(value, goField, "[]uint8");
      if (!/^[A-Za-z0-9+/\r\n]*={0,2}$/.test(value)) throw new DecodeError("illegal base64 data at input byte 0");
      return value;
    case "micro":
      if (typeof value !== "string") throw wrongType(value, goField, "string");
      if (!MICRO_TIME.test(value) || Number.isNaN(Date.parse(value)))
        throw badTime(value, "2006-01-02T15:04:05.000000Z07:00");
      return value;
    default: {
      const expected = complaint(scalar, value);
      if (expected !== undefined) throw wrongType(value, goField, expected);
      return value;
    }
  }
}

/** The type that Go wanted, if it is not this one. */
function complaint(scalar: "string" | "bool" | "int32" | "int64" | "number" | "intOrString", value: unknown) {
  switch (scalar) {
    case "string":
      return typeof value === "string" ? undefined : "string";
    case "bool":
      return typeof value === "boolean" ? undefined : "bool";
    case "int32":
      return isWhole(value, 2 ** 31) ? undefined : "int32";
    case "int64":
      return isWhole(value, 2 ** 63) ? undefined : "int64";
    case "number":
      return Number.isFinite(value) ? undefined : "float64";
    case "intOrString":
      return typeof value === "string" || isWhole(value, 2 ** 31) ? undefined : "int32";
  }
}

const isWhole = (value: unknown, limit: number): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= -limit && value < limit;

const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;

function readTime(value: unknown, goField: GoField): string {
  if (typeof value !== "string") throw wrongType(value, goField, "string");
  const canonical = canonicalTime(value);
  if (canonical === undefined) throw badTime(value, "2006-01-02T15:04:05Z07:00");
  return canonical;
}

const badTime = (value: string, layout: string): DecodeError =>
  new DecodeError(
    `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse ${JSON.stringify(value)} as "2006"`,
  );

function readQuantity(value: unknown): string {
  const canonical =
    typeof value === "string" || typeof value === "number" ? canonicalQuantity(String(value)) : undefined;
  if (canonical !== undefined) return canonical;
  throw new DecodeError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
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
