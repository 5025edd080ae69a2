import { type FieldType, kindSchema } from "./schema.ts";
import { wholeSeconds } from "./time.ts";

/** A decoded value with every time cut to whole seconds, as it is stored (SW-9). The same object when nothing changes. */
export function truncateTimes<T extends object>(kind: string, value: T): T {
  const result = { ...value } as Record<string, unknown>;
  let changed = false;
  for (const [name, type] of kindSchema(kind)) {
    if (result[name] === undefined) continue;
    const after = truncate(type, result[name]);
    changed ||= after !== result[name];
    result[name] = after;
  }
  return changed ? (result as T) : value;
}

function truncate(type: FieldType, value: unknown): unknown {
  if (type.tag === "kind") return truncateTimes(type.kind, value as object);
  if (type.tag === "scalar") return type.scalar === "time" && typeof value === "string" ? wholeSeconds(value) : value;
  if (type.tag === "map") return value;
  const list = value as unknown[];
  const result = list.map((item) => truncate(type.items, item));
  return result.every((item, index) => item === list[index]) ? list : result;
}
