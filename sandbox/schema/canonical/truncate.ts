import { wholeSeconds } from "./time.ts";
import { TYPES } from "./types.ts";

/** A decoded value with every time cut to whole seconds, as it is stored (SW-9). The same object when nothing changes. */
export function truncateTimes<T>(typeName: string, value: T): T {
  return truncate(typeName, value) as T;
}

function truncate(typeName: string, value: unknown): unknown {
  if (typeName === "time" && typeof value === "string") return wholeSeconds(value);
  const fields = TYPES.get(typeName);
  if (fields === undefined || typeof value !== "object" || value === null) return value;
  let result = value as Record<string, unknown>;
  for (const { name, type, collection } of fields) {
    const before = result[name];
    if (before === undefined) continue;
    const after = collection === "list" ? truncateList(type, before as unknown[]) : truncate(type, before);
    if (after === before) continue;
    if (result === value) result = { ...result };
    result[name] = after;
  }
  return result;
}

function truncateList(typeName: string, list: readonly unknown[]): readonly unknown[] {
  const result = list.map((item) => truncate(typeName, item));
  return result.every((item, index) => item === list[index]) ? list : result;
}
