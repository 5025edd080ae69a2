import type { ObjectKey, Resource } from "./api.ts";
import { ApiError } from "./errors.ts";

export type Query = Record<string, string | number | boolean | undefined>;

export function collectionPath(resource: Resource, namespace: string | undefined, query: Query = {}): string {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace, "namespace")}` : "";
  return `${root}${scope}/${resource.plural}${queryString(query)}`;
}

export function objectPath(resource: Resource, key: ObjectKey, subresource?: string, query: Query = {}): string {
  if (resource.namespaced && key.namespace === undefined) throw badRequest(`${resource.plural} need a namespace`);
  const path = `${collectionPath(resource, key.namespace)}/${segment(key.name, "name")}`;
  return `${path}${subresource === undefined ? "" : `/${subresource}`}${queryString(query)}`;
}

/** An empty or relative segment would address another resource: a DELETE of "" is one of the whole collection. */
function segment(value: string, what: string): string {
  if (value === "" || value === "." || value === ".." || value.includes("/") || value.includes("%"))
    throw badRequest(`${JSON.stringify(value)} cannot be the ${what} of an object`);
  return encodeURIComponent(value);
}

const badRequest = (message: string): ApiError => new ApiError(400, "BadRequest", message);

function queryString(query: Query): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}
