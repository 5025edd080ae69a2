/**
 * The field arithmetic of server-side apply: what a manager stopped mentioning goes, unless another manager mentions it too.
 * Lists that strategic patches merge by key are maps here as well; all other lists are one value.
 */
import { type FieldType, type KindSchema, kindSchema } from "../schema/schema.ts";
import { isRecord, jsonEqual } from "../store/frozen.ts";

type Fields = Record<string, unknown>;

const fieldsOf = (type: FieldType | undefined): KindSchema | undefined =>
  type?.tag === "kind" ? kindSchema(type.kind) : undefined;
const keyOf = (type: FieldType | undefined): string | undefined =>
  type?.tag === "list" && type.mergeKey !== "=" ? type.mergeKey : undefined;

/** `live` without what `before` mentioned and neither `after` nor any of `others` mentions. */
export function dropAbandoned(
  schema: KindSchema | undefined,
  live: Fields,
  before: Fields,
  after: Fields,
  others: readonly Fields[],
): Fields {
  const result = { ...live };
  for (const key of Object.keys(before)) {
    if (!(key in result)) continue;
    const type = schema?.get(key);
    const mentioned = [after, ...others].map((config) => config[key]);
    const value = dropValue(type, result[key], before[key], mentioned[0], mentioned.slice(1));
    if (value === undefined) delete result[key];
    else result[key] = value;
  }
  return result;
}

function dropValue(
  type: FieldType | undefined,
  live: unknown,
  before: unknown,
  after: unknown,
  others: readonly unknown[],
): unknown {
  if (isRecord(live) && isRecord(before)) {
    const rest = dropAbandoned(fieldsOf(type), live, before, isRecord(after) ? after : {}, others.filter(isRecord));
    const wanted = [after, ...others].some((value) => value !== undefined);
    return !wanted && Object.keys(rest).length === 0 ? undefined : rest;
  }
  const mergeKey = keyOf(type);
  if (mergeKey !== undefined && Array.isArray(live) && Array.isArray(before))
    return dropEntries(type, mergeKey, live, before, after, others);
  return [after, ...others].some((value) => value !== undefined) ? live : undefined;
}

function dropEntries(
  type: FieldType | undefined,
  mergeKey: string,
  live: unknown[],
  before: unknown[],
  after: unknown,
  others: readonly unknown[],
): unknown[] | undefined {
  const items = type?.tag === "list" ? type.items : undefined;
  const entry = (list: unknown, id: unknown): Fields | undefined =>
    (Array.isArray(list) ? list : []).filter(isRecord).find((item) => jsonEqual(item[mergeKey], id));
  const rest = live.flatMap((item) => {
    if (!isRecord(item)) return [item];
    const id = item[mergeKey];
    const mentioned = [after, ...others].map((list) => entry(list, id)).filter((found) => found !== undefined);
    const previous = entry(before, id);
    if (previous === undefined) return [item];
    if (mentioned.length === 0) return [];
    return [dropAbandoned(fieldsOf(items), item, previous, entry(after, id) ?? {}, mentioned)];
  });
  return rest.length === 0 ? undefined : rest;
}

/** Paths on which `wanted` disagrees with `live` although `other` also set them. */
export function conflicts(
  schema: KindSchema | undefined,
  wanted: Fields,
  other: Fields,
  live: Fields,
  path = "",
): string[] {
  const found: string[] = [];
  for (const key of Object.keys(wanted)) {
    if (!(key in other)) continue;
    found.push(...valueConflicts(schema?.get(key), wanted[key], other[key], live[key], `${path}.${key}`));
  }
  return found;
}

function valueConflicts(
  type: FieldType | undefined,
  wanted: unknown,
  other: unknown,
  live: unknown,
  path: string,
): string[] {
  if (isRecord(wanted) && isRecord(other))
    return conflicts(fieldsOf(type), wanted, other, isRecord(live) ? live : {}, path);
  const mergeKey = keyOf(type);
  if (mergeKey === undefined || !Array.isArray(wanted) || !Array.isArray(other))
    return jsonEqual(wanted, live) ? [] : [path];
  const items = type?.tag === "list" ? type.items : undefined;
  return wanted.filter(isRecord).flatMap((entry) => {
    const same = (list: unknown): Fields | undefined =>
      (Array.isArray(list) ? list : []).filter(isRecord).find((item) => jsonEqual(item[mergeKey], entry[mergeKey]));
    const theirs = same(other);
    if (theirs === undefined) return [];
    const place = `${path}[${mergeKey}=${JSON.stringify(entry[mergeKey])}]`;
    return conflicts(fieldsOf(items), entry, theirs, same(live) ?? {}, place);
  });
}
