/**
 * Turns JSON into an object of a known shape as the API server's decoder does: unknown fields are dropped, null and empty
 * mean absent, quantities and times get their canonical spelling, and a value of the wrong type is an error (HTTP 400),
 * not a validation failure.
 */
import { INT32_MAX } from "@jobferry/shared/job/go-int.ts";
import { canonicalQuantity } from "@jobferry/shared/job/quantity.ts";
import type { FieldShape } from "./notation.ts";
import { canonicalTime } from "./time.ts";
import { TYPES } from "./types.ts";

interface DecodeError {
  /** For example `spec.template.spec.containers[0].image`. */
  readonly field: string;
  readonly message: string;
}

export type Decoded<T> = { readonly value: T } | { readonly error: DecodeError };

/** `T` must be the TypeScript view of the table entry `typeName`. */
export function decodeAs<T>(typeName: string, json: unknown): Decoded<T> {
  try {
    return { value: structDecoder(typeName)(json, "") as T };
  } catch (problem) {
    if (problem instanceof WrongType) return { error: { field: problem.field, message: problem.message } };
    throw problem;
  }
}

class WrongType extends Error {
  readonly field: string;
  constructor(field: string, expected: string, found: unknown) {
    super(`${field === "" ? "the object" : field} must be ${expected}, not ${describe(found)}`);
    this.field = field;
  }
}

/** Decodes a value that is not null. */
type Decoder = (json: unknown, path: string) => unknown;

interface FieldDecoder {
  readonly name: string;
  readonly decode: Decoder;
  /** Given when the field must be there. */
  readonly zero: (() => unknown) | undefined;
  readonly keepsZero: boolean;
}

const structDecoders = new Map<string, Decoder>();

function structDecoder(typeName: string): Decoder {
  const known = structDecoders.get(typeName);
  if (known !== undefined) return known;
  // Types refer to each other: field decoders are built when first used.
  let fields: FieldDecoder[] | undefined;
  const decode: Decoder = (json, path) => {
    fields ??= (TYPES.get(typeName) ?? []).map(fieldDecoder);
    return decodeStruct(fields, json, path);
  };
  structDecoders.set(typeName, decode);
  return decode;
}

function decodeStruct(fields: readonly FieldDecoder[], json: unknown, path: string): unknown {
  if (!isObject(json)) throw new WrongType(path, "an object", json);
  const result: Record<string, unknown> = {};
  for (const { name, decode, zero, keepsZero } of fields) {
    const given = Object.hasOwn(json, name) ? json[name] : null;
    if (given === null || given === undefined) {
      if (zero !== undefined) result[name] = zero();
      continue;
    }
    const value = decode(given, path === "" ? name : `${path}.${name}`);
    if (keepsZero || !isZero(value)) result[name] = value;
  }
  return result;
}

function fieldDecoder(shape: FieldShape): FieldDecoder {
  return {
    name: shape.name,
    decode: collectionDecoder(shape),
    zero: shape.presence === "always" ? () => zeroOf(shape) : undefined,
    keepsZero: shape.presence !== "nonzero",
  };
}

function collectionDecoder(shape: FieldShape): Decoder {
  const item = SCALAR_DECODERS[shape.type] ?? structDecoder(shape.type);
  const itemOrZero: Decoder = (json, path) =>
    json === null || json === undefined ? zeroOf({ ...shape, collection: "none" }) : item(json, path);
  switch (shape.collection) {
    case "none":
      return item;
    case "list":
      return (json, path) => {
        if (!Array.isArray(json)) throw new WrongType(path, "a list", json);
        return json.map((element, index) => itemOrZero(element, `${path}[${index}]`));
      };
    case "map":
      return (json, path) => {
        if (!isObject(json)) throw new WrongType(path, "an object", json);
        return Object.fromEntries(
          Object.entries(json).map(([key, value]) => [key, itemOrZero(value, `${path}[${key}]`)]),
        );
      };
  }
}

function zeroOf(shape: FieldShape): unknown {
  if (shape.collection === "list") return [];
  if (shape.collection === "map") return {};
  switch (shape.type) {
    case "string":
    case "time":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "intOrString":
      return 0;
    case "quantity":
      return "0";
    case "any":
      return null;
    default:
      return structDecoder(shape.type)({}, "");
  }
}

const SCALAR_DECODERS: Readonly<Record<string, Decoder>> = {
  string: (json, path) => {
    if (typeof json !== "string") throw new WrongType(path, "a string", json);
    return json;
  },
  bool: (json, path) => {
    if (typeof json !== "boolean") throw new WrongType(path, "true or false", json);
    return json;
  },
  int32: (json, path) => {
    if (!isInt32(json)) throw new WrongType(path, "a 32-bit integer", json);
    return json;
  },
  int64: (json, path) => {
    if (!Number.isInteger(json) || Math.abs(json as number) > 2 ** 63)
      throw new WrongType(path, "a 64-bit integer", json);
    return json;
  },
  intOrString: (json, path) => {
    if (typeof json !== "string" && !isInt32(json)) throw new WrongType(path, "a 32-bit integer or a string", json);
    return json;
  },
  quantity: (json, path) => {
    const canonical =
      typeof json === "string" || typeof json === "number" ? canonicalQuantity(String(json)) : undefined;
    if (canonical === undefined) throw new WrongType(path, "a quantity such as 500m or 1Gi", json);
    return canonical;
  },
  time: (json, path) => {
    const canonical = typeof json === "string" ? canonicalTime(json) : undefined;
    if (canonical === undefined) throw new WrongType(path, "an RFC 3339 time such as 2026-01-31T23:59:59Z", json);
    return canonical;
  },
  any: (json) => json,
};

const isInt32 = (json: unknown): json is number =>
  Number.isInteger(json) && (json as number) >= -INT32_MAX - 1 && (json as number) <= INT32_MAX;

const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === "object" && json !== null && !Array.isArray(json);

/** What Go's `omitempty` leaves out. An object is never empty in that sense. */
function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === "" || value === 0 || value === false;
}

function describe(json: unknown): string {
  if (json === null) return "null";
  if (Array.isArray(json)) return "a list";
  if (typeof json === "object") return "an object";
  return typeof json === "string" ? `the string "${json.slice(0, 40)}"` : String(json).slice(0, 40);
}
