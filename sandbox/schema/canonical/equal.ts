import { compareQuantities } from "@jobferry/shared/job/quantity.ts";
import type { FieldShape } from "./notation.ts";
import { TYPES } from "./types.ts";

/**
 * Equality of two decoded values as the API server's immutability checks see it: an empty list or map equals none, and
 * quantities compare by amount.
 */
export function semanticEqual(typeName: string, left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined) return false;
  if (typeName === "quantity") return compareQuantities(String(left), String(right)) === 0;
  const fields = TYPES.get(typeName);
  if (fields === undefined) return JSON.stringify(left) === JSON.stringify(right);
  const [a, b] = [left as Record<string, unknown>, right as Record<string, unknown>];
  return fields.every((field) => fieldEqual(field, a[field.name], b[field.name]));
}

/** The same for a list of `typeName`. */
function semanticEqualLists(typeName: string, left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, index) => semanticEqual(typeName, item, right[index]));
}

function fieldEqual(field: FieldShape, left: unknown, right: unknown): boolean {
  switch (field.collection) {
    case "none":
      return semanticEqual(field.type, left, right);
    case "list":
      return semanticEqualLists(field.type, (left ?? []) as unknown[], (right ?? []) as unknown[]);
    case "map": {
      const [a, b] = [(left ?? {}) as Record<string, unknown>, (right ?? {}) as Record<string, unknown>];
      const keys = Object.keys(a);
      return (
        keys.length === Object.keys(b).length &&
        keys.every((key) => Object.hasOwn(b, key) && semanticEqual(field.type, a[key], b[key]))
      );
    }
  }
}
