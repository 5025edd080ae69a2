import { BUILT_IN_KINDS } from "./kinds.ts";

export type Scalar =
  | "string"
  | "bytes"
  | "time"
  | "micro"
  | "int32"
  | "int64"
  | "number"
  | "bool"
  | "quantity"
  | "intOrString"
  | "any";

/** Left out when zero or empty, there in any case, or there when given. */
type Presence = "nonzero" | "always" | "given";

export type FieldType = { readonly retainKeys: boolean; readonly presence: Presence } & (
  | { readonly tag: "scalar"; readonly scalar: Scalar }
  | { readonly tag: "kind"; readonly kind: string }
  | { readonly tag: "map"; readonly values: FieldType }
  | {
      readonly tag: "list";
      readonly items: FieldType;
      /** The key by which a strategic patch merges the list, "=" for lists of scalars; absent when it replaces the list. */
      readonly mergeKey?: string;
    }
);

export type KindSchema = ReadonlyMap<string, FieldType>;

/** Where a field is in the protobuf encoding: its number, after those of the messages around it that JSON does not show. */
export type WirePath = readonly number[];

const kinds = new Map<string, KindSchema>();
const wirePaths = new Map<string, ReadonlyMap<string, WirePath>>();
const always = new Map<string, readonly (readonly [string, FieldType])[]>();

/** The fields of a built-in kind, or of a type nested in one. */
export function kindSchema(kind: string): KindSchema {
  return lookUp(kinds, kind);
}

/** Those of the fields that an object of this kind has in any case. */
export const alwaysThere = (kind: string): readonly (readonly [string, FieldType])[] => lookUp(always, kind);

export function hasKind(kind: string): boolean {
  kindSchema("ObjectMeta");
  return kinds.has(kind);
}

export function wireSchema(kind: string): ReadonlyMap<string, WirePath> {
  return lookUp(wirePaths, kind);
}

function lookUp<T>(table: ReadonlyMap<string, T>, kind: string): T {
  if (kinds.size === 0) for (const line of BUILT_IN_KINDS.trim().split("\n")) readLine(line);
  const found = table.get(kind);
  if (found === undefined) throw new Error(`no schema for kind ${kind}; add it to schema/kinds.ts`);
  return found;
}

function readLine(line: string): void {
  const [kind = "", ...fields] = line.split(" ");
  const schema = new Map<string, FieldType>();
  const paths = new Map<string, WirePath>();
  for (const field of fields) {
    const [, name = "", path, type = ""] = /^([^=:]+)(?:=([\d.]+))?:(.*)$/.exec(field) ?? [];
    schema.set(name, readType(type));
    if (path !== undefined) paths.set(name, path.split(".").map(Number));
  }
  kinds.set(kind, schema);
  always.set(
    kind,
    [...schema].filter(([, { presence }]) => presence === "always"),
  );
  wirePaths.set(kind, paths);
}

const PRESENCE: Record<string, Presence> = { "!": "always", "?": "given" };

function readType(text: string): FieldType {
  const [, retain = "", type = "", mark = ""] = /^(~*)(.*?)([!?]?)$/.exec(text) ?? [];
  const common = { retainKeys: retain !== "", presence: PRESENCE[mark] ?? "nonzero" };
  if (type.startsWith("#")) return { ...common, tag: "kind", kind: type.slice(1) };
  if (type.startsWith("{}")) return { ...common, tag: "map", values: readType(type.slice(2)) };
  const list = /^\[([^\]]*)\](.*)$/.exec(type);
  if (list === null) return { ...common, tag: "scalar", scalar: type as Scalar };
  const [, mergeKey = "", items = ""] = list;
  return { ...common, tag: "list", items: readType(items), ...(mergeKey === "" ? {} : { mergeKey }) };
}
