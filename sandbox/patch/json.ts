/** JSON patch (RFC 6902) on immutable values: every step copies only the path it touches. */
import { isRecord, jsonEqual } from "../store/frozen.ts";

/** An operation that cannot be carried out on this document. */
export class JsonPatchError extends Error {}

const MAX_OPERATIONS = 10_000;

export function jsonPatch(document: unknown, operations: readonly object[]): unknown {
  if (operations.length > MAX_OPERATIONS)
    throw new JsonPatchError(
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    );
  return operations.reduce<unknown>((value, operation) => apply(value, operation as Operation), document);
}

interface Operation {
  op?: unknown;
  path?: unknown;
  from?: unknown;
  value?: unknown;
}

function apply(document: unknown, { op, path, from, value }: Operation): unknown {
  const target = pointer(path);
  switch (op) {
    case "add":
      return add(document, target, value ?? null);
    case "replace":
      // The server also replaces what is not there, as long as its parent is.
      return target.length === 0
        ? (value ?? null)
        : edit(document, target, (parent, key) => put(parent, key, value ?? null));
    case "remove":
      return remove(document, target);
    case "move":
      return add(remove(document, pointer(from)), target, read(document, pointer(from)));
    case "copy":
      return add(document, target, read(document, pointer(from)));
    case "test":
      if (!jsonEqual(peek(document, target) ?? null, value ?? null))
        throw new JsonPatchError(`testing value ${String(path)} failed`);
      return document;
    default:
      throw new JsonPatchError(`Unexpected kind: ${String(op)}`);
  }
}

function pointer(path: unknown): string[] {
  if (typeof path !== "string" || (path !== "" && !path.startsWith("/")))
    throw new JsonPatchError(`${String(path)} is not a JSON pointer`);
  return path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function peek(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const key of path) {
    if (Array.isArray(value)) value = value[position(value, key, value.length - 1)];
    else if (isRecord(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}

function read(document: unknown, path: readonly string[]): unknown {
  const value = peek(document, path);
  if (value === undefined) throw new JsonPatchError(`/${path.join("/")}: nothing is there`);
  return value;
}

type Container = unknown[] | Record<string, unknown>;

/** Copies the containers along `path` and lets `change` edit the copy of the last one. */
function edit(document: unknown, path: readonly string[], change: (parent: Container, key: string) => void): unknown {
  const [key, ...rest] = path;
  if (key === undefined) throw new JsonPatchError("the whole document cannot be changed this way");
  let copy: Container;
  if (Array.isArray(document)) copy = [...document];
  else if (isRecord(document)) copy = { ...document };
  else throw new JsonPatchError(`/${path.join("/")}: the parent is neither an object nor a list`);
  if (rest.length === 0) change(copy, key);
  else put(copy, key, edit(read(copy, [key]), rest, change));
  return copy;
}

function put(parent: Container, key: string, value: unknown): void {
  if (Array.isArray(parent)) parent[position(parent, key, parent.length - 1)] = value;
  else parent[key] = value;
}

function add(document: unknown, path: readonly string[], value: unknown): unknown {
  if (path.length === 0) return value;
  return edit(document, path, (parent, key) => {
    if (Array.isArray(parent))
      parent.splice(key === "-" ? parent.length : position(parent, key, parent.length), 0, value);
    else parent[key] = value;
  });
}

function remove(document: unknown, path: readonly string[]): unknown {
  read(document, path);
  return edit(document, path, (parent, key) => {
    if (Array.isArray(parent)) parent.splice(position(parent, key, parent.length - 1), 1);
    else delete parent[key];
  });
}

function position(list: readonly unknown[], key: string, last: number): number {
  const index = /^-?\d+$/.test(key) ? Number(key) : Number.NaN;
  const at = index < 0 ? index + list.length : index;
  if (!(at >= 0 && at <= last)) throw new JsonPatchError(`${key} is not a position in a list of ${list.length}`);
  return at;
}
