/**
 * A compact notation for the field tables of API types. Each type is a list of `field[:type][presence]`:
 * - `type` is a scalar (default `string`) or another table entry, with `[]` for a list and `{}` for a map by name;
 * - presence: none = left out when zero or empty, `!` = always there, `?` = zero differs from absent.
 * `...Other` copies the fields of another entry.
 */

export const SCALARS = ["string", "bool", "int32", "int64", "quantity", "time", "intOrString", "any"] as const;

export interface FieldShape {
  readonly name: string;
  /** A scalar or the name of a table entry. */
  readonly type: string;
  readonly collection: "none" | "list" | "map";
  readonly presence: "nonzero" | "always" | "optional";
}

export type TypeTable = ReadonlyMap<string, readonly FieldShape[]>;

export function readTables(...tables: Readonly<Record<string, string>>[]): TypeTable {
  const notations = Object.assign({}, ...tables) as Record<string, string>;
  const fieldsOf = (name: string): FieldShape[] =>
    (notations[name] ?? "")
      .split(/\s+/)
      .filter((token) => token !== "")
      .flatMap((token) => (token.startsWith("...") ? fieldsOf(token.slice(3)) : [readField(token)]));
  return new Map(Object.keys(notations).map((name) => [name, fieldsOf(name)]));
}

function readField(token: string): FieldShape {
  const [, name = "", type = "string", collection, presence] =
    /^(\w+)(?::(\w+))?(\[\]|\{\})?([!?])?$/.exec(token) ?? [];
  return {
    name,
    type,
    collection: collection === "[]" ? "list" : collection === "{}" ? "map" : "none",
    presence: presence === "!" ? "always" : presence === "?" ? "optional" : "nonzero",
  };
}
