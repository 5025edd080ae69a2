/**
 * Strategic merge patch: a merge patch that knows, from the schema, which lists are maps in disguise. Directives:
 * `$patch: delete | replace | merge`, `$deleteFromPrimitiveList/KEY`, `$setElementOrder/KEY`, `$retainKeys`.
 */

import { type FieldType, type KindSchema, kindSchema } from "../schema/schema.ts";
import { isRecord, jsonEqual } from "../store/frozen.ts";

/** A patch that contradicts the schema or itself. */
export class PatchError extends Error {}

type Fields = Record<string, unknown>;

export function strategicMerge(kind: string, target: Fields, patch: Fields): Fields {
  return mergeObject(kindSchema(kind), target, patch);
}

function mergeObject(schema: KindSchema | undefined, target: Fields, patch: Fields): Fields {
  const directive = patch.$patch;
  if (directive === "replace") return withoutDirectives(patch);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge")
    throw new PatchError(`Unknown patch directive: ${String(directive)}`);
  const result: Fields = retained(target, patch);
  for (const key of Object.keys(patch)) {
    if (key.startsWith("$")) applyListDirective(result, schema, key, patch);
    else if (patch[key] === null) delete result[key];
    else result[key] = mergeField(schema?.get(key), result[key], patch[key], orderFor(patch, key));
  }
  return result;
}

function retained(target: Fields, patch: Fields): Fields {
  if (patch.$retainKeys === undefined) return { ...target };
  const keys = listOf(patch.$retainKeys, "$retainKeys");
  for (const key of Object.keys(patch))
    if (!key.startsWith("$") && patch[key] !== null && !keys.includes(key))
      throw new PatchError("$retainKeys directive doesn't contain a required field");
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
}

/** Directives for lists that the patch itself does not mention. */
function applyListDirective(result: Fields, schema: KindSchema | undefined, key: string, patch: Fields): void {
  const [directive, field] = splitDirective(key);
  if (field === undefined) return;
  if (directive === "$deleteFromPrimitiveList") {
    const gone = listOf(patch[key], key);
    const current = Array.isArray(result[field]) ? result[field] : [];
    result[field] = current.filter((item) => !gone.includes(item));
  } else if (directive === "$setElementOrder" && patch[field] === undefined && Array.isArray(result[field])) {
    result[field] = ordered(result[field], listOf(patch[key], key), mergeKeyOf(schema?.get(field)));
  }
}

function splitDirective(key: string): [string, string | undefined] {
  const slash = key.indexOf("/");
  return slash < 0 ? [key, undefined] : [key.slice(0, slash), key.slice(slash + 1)];
}

const orderFor = (patch: Fields, key: string): unknown[] | undefined => {
  const order = patch[`$setElementOrder/${key}`];
  return order === undefined ? undefined : listOf(order, `$setElementOrder/${key}`);
};

const mergeKeyOf = (type: FieldType | undefined): string | undefined =>
  type?.tag === "list" ? type.mergeKey : undefined;

function mergeField(
  type: FieldType | undefined,
  target: unknown,
  patch: unknown,
  order: unknown[] | undefined,
): unknown {
  if (isRecord(patch)) {
    if (type?.tag === "list") throw new PatchError("cannot restore slice from map");
    const schema = type?.tag === "kind" ? kindSchema(type.kind) : undefined;
    return mergeObject(schema, isRecord(target) ? target : {}, patch);
  }
  if (!Array.isArray(patch)) return patch;
  const mergeKey = mergeKeyOf(type);
  if (type?.tag !== "list" || mergeKey === undefined) return patch;
  const current = Array.isArray(target) ? target : [];
  if (mergeKey === "=") return ordered(mergeScalars(current, patch), order, "=");
  return ordered(mergeByKey(type.items, mergeKey, current, patch), order, mergeKey);
}

function mergeScalars(current: unknown[], patch: unknown[]): unknown[] {
  return [...current, ...patch.filter((item, index) => !current.includes(item) && patch.indexOf(item) === index)];
}

function mergeByKey(items: FieldType, key: string, current: unknown[], patch: unknown[]): unknown[] {
  const entries = patch.map((entry) => {
    if (!isRecord(entry)) throw new PatchError(`expected a list of objects merged by ${key}`);
    return entry;
  });
  if (entries.some((entry) => entry.$patch === "replace"))
    return entries.filter((entry) => entry.$patch !== "replace").map(withoutDirectives);
  const schema = items.tag === "kind" ? kindSchema(items.kind) : undefined;
  let result = [...current];
  for (const entry of entries) {
    const id = entry[key];
    if (id === undefined)
      throw new PatchError(`map: ${JSON.stringify(entry)} does not contain declared merge key: ${key}`);
    const at = result.findIndex((item) => isRecord(item) && jsonEqual(item[key], id));
    if (entry.$patch === "delete") result = result.filter((item) => !(isRecord(item) && jsonEqual(item[key], id)));
    else if (at >= 0) result[at] = mergeObject(schema, result[at] as Fields, entry);
    else result.push(mergeObject(schema, {}, entry));
  }
  return result;
}

/** Listed elements in the given order; the others stay where they were relative to their predecessors. */
function ordered(items: unknown[], order: unknown[] | undefined, mergeKey: string | undefined): unknown[] {
  if (order === undefined || mergeKey === undefined) return items;
  const idOf = (item: unknown): unknown => (mergeKey !== "=" && isRecord(item) ? item[mergeKey] : item);
  const rank = new Map(order.map((entry, index) => [idOf(entry), index]));
  const listed = items.filter((item) => rank.has(idOf(item)));
  listed.sort((a, b) => (rank.get(idOf(a)) ?? 0) - (rank.get(idOf(b)) ?? 0));
  const queue = [...listed];
  const result: unknown[] = [];
  for (const item of items) {
    if (!rank.has(idOf(item))) result.push(item);
    else {
      const next = queue.shift();
      if (next !== undefined) result.push(next);
    }
  }
  return result;
}

function withoutDirectives(fields: Fields): Fields {
  const result: Fields = {};
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (key.startsWith("$") || value === null || value === undefined) continue;
    if (isRecord(value)) result[key] = withoutDirectives(value);
    else
      result[key] = Array.isArray(value)
        ? value.map((item) => (isRecord(item) ? withoutDirectives(item) : item))
        : value;
  }
  return result;
}

function listOf(value: unknown, directive: string): unknown[] {
  if (!Array.isArray(value)) throw new PatchError(`${directive} must be a list`);
  return value;
}
