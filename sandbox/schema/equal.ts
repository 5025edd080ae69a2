import { compareQuantities } from "@jobferry/shared/job/quantity.ts";
import { type FieldType, kindSchema } from "./schema.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Equality of two decoded values as the API server's immutability checks see it: an empty list or map equals none, and
 * quantities compare by amount.
 */
export function semanticEqual(kind: string, left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined) return false;
  const [a, b] = [left as Fields, right as Fields];
  return [...kindSchema(kind)].every(([name, type]) => fieldEqual(type, a[name], b[name]));
}

/** The same for one field of a kind. */
export function fieldEqual(type: FieldType | undefined, left: unknown, right: unknown): boolean {
  if (left === right) return true;
  switch (type?.tag) {
    case "list": {
      const [a, b] = [(left ?? []) as unknown[], (right ?? []) as unknown[]];
      return a.length === b.length && a.every((item, index) => fieldEqual(type.items, item, b[index]));
    }
    case "map": {
      const [a, b] = [(left ?? {}) as Fields, (right ?? {}) as Fields];
      const keys = Object.keys(a);
      const same = (key: string): boolean => Object.hasOwn(b, key) && fieldEqual(type.values, a[key], b[key]);
      return keys.length === Object.keys(b).length && keys.every(same);
    }
    case "kind":
      return semanticEqual(type.kind, left, right);
    default:
      if (left === undefined || right === undefined) return false;
      if (type?.scalar === "quantity") return compareQuantities(String(left), String(right)) === 0;
      return JSON.stringify(left) === JSON.stringify(right);
  }
}
