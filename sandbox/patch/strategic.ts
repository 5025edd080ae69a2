/**
 * Strategic merge patch: a merge patch that knows, from the schema, which lists are maps in disguise. Directives:
 * `$patch: delete | replace | merge`, `$deleteFromPrimitiveList/KEY`, `$setElementOrder/KEY`, `$retainKeys`.
 */

import { type FieldType, type KindSchema, kindSchema } from "../schema/schema.ts";
import { isRecord, jsonEqual } from "../store/frozen.ts";

/** A patch that contradicts the schema or itself. */
export class PatchError extends Error {}

/** An element that cannot be told from its neighbours; the server takes the blame for this one. */
export class MergeKeyError extends Error {}

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
    const mergeKey = mergeKeyOf(schema?.get(field));
    const order = listOf(patch[key], key);
    if (mergeKey !== undefined) result[field] = ordered(result[field], result[field], order, mergeKey);
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
  const merged = mergeKey === "=" ? mergeScalars(current, patch) : mergeByKey(type.items, mergeKey, current, patch);
  return ordered(merged, current, order ?? patch, mergeKey);
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
    if (id === undefined) throw new MergeKeyError(`map: ${goMap(entry)} does not contain declared merge key: ${key}`);
    const at = result.findIndex((item) => isRecord(item) && jsonEqual(item[key], id));
    if (entry.$patch === "delete") result = result.filter((item) => !(isRecord(item) && jsonEqual(item[key], id)));
    else if (at >= 0) result[at] = mergeObject(schema, result[at] as Fields, entry);
    else result.push(mergeObject(schema, {}, entry));
  }
  return result;
}

/**
 * The elements the patch lists come in its order; those only the server has keep theirs, and go before a listed element only
 * where they already did.
 */
function ordered(items: unknown[], original: unknown[], order: unknown[], mergeKey: string): unknown[] {
  const idOf = (item: unknown): unknown => (mergeKey !== "=" && isRecord(item) ? item[mergeKey] : item);
  const ranks = (list: unknown[]): Map<unknown, number> => new Map(list.map((item, index) => [idOf(item), index]));
  const [listed, before] = [ranks(order), ranks(original)];
  const rank = (item: unknown): number => listed.get(idOf(item)) ?? -1;
  const fromPatch = items.filter((item) => listed.has(idOf(item))).sort((a, b) => rank(a) - rank(b));
  const fromServer = items.filter((item) => !listed.has(idOf(item)));
  const result: unknown[] = [];
  while (fromPatch.length > 0 && fromServer.length > 0) {
    const left = before.get(idOf(fromServer[0]));
    const right = before.get(idOf(fromPatch[0]));
    const serverFirst = left !== undefined && right !== undefined && left < right;
    result.push((serverFirst ? fromServer : fromPatch).shift());
  }
  return [...result, ...fromPatch, ...fromServer];
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

/** As Go prints a map. */
function goMap(fields: Fields): string {
  const print = (value: unknown): string => {
    if (isRecord(value)) return goMap(value);
    return Array.isArray(value) ? `[${value.map(print).join(" ")}]` : String(value);
  };
  const parts = Object.keys(fields).sort();
  return `map[${parts.map((key) => `${key}:${print(fields[key])}`).join(" ")}]`;
}

function listOf(value: unknown, directive: string): unknown[] {
  if (!Array.isArray(value)) throw new PatchError(`${directive} must be a list`);
  return value;
}
