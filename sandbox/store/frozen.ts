/**
 * Objects in the store are shared between the store, its history, every watcher and in-process callers, so they are
 * deeply frozen. Copying keeps every part that is already frozen: two versions of a Pod that differ in status share
 * their spec, which is what makes 100,000 pods fit.
 */

import type { ObjectMeta } from "@jobferry/shared/job/types.ts";
import type { KubeObject } from "@jobferry/shared/kube/api.ts";

/** An object as the store holds it. */
export interface Stored extends KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<ObjectMeta> & {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly [field: string]: unknown;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The same value, deeply frozen; parts that are not frozen yet are copied, so the caller's object stays its own. */
export function frozenCopy<T>(value: T): T {
  return freezeValue(value) as T;
}

function freezeValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? freezeArray(value) : freezeRecord(value as Record<string, unknown>);
}

function freezeArray(array: unknown[]): unknown[] {
  if (Object.isFrozen(array) && array.every((item) => item !== undefined && freezeValue(item) === item)) return array;
  return Object.freeze(array.map((item) => freezeValue(item) ?? null)) as unknown[];
}

function freezeRecord(record: Record<string, unknown>): Record<string, unknown> {
  if (Object.isFrozen(record) && everyPartFrozen(record)) return record;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(record)) {
    const value = record[key];
    if (value === undefined) continue;
    if (key === "__proto__") defineOwn(copy, key, freezeValue(value));
    else copy[key] = freezeValue(value);
  }
  return Object.freeze(copy);
}

function everyPartFrozen(record: Record<string, unknown>): boolean {
  for (const key in record) {
    const part = record[key];
    if (part === undefined || freezeValue(part) !== part) return false;
  }
  return true;
}

/** Plain assignment to `__proto__` would change the prototype instead of adding a key. */
function defineOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Deep equality of JSON values; a missing key equals a key that is undefined. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => jsonEqual(item, b[index]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key of Object.keys(left)) if (!jsonEqual(left[key], right[key])) return false;
  for (const key of Object.keys(right)) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}
