import type { KubeObject } from "./api.ts";

/** For caches: who set which field is a good part of an object, and nobody here asks for it. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
