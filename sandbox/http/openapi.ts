/**
 * OpenAPI v3, as much as kubectl reads: that writes understand `fieldValidation` and `dryRun`, how strategic patches merge,
 * and the fields that `kubectl explain` lists.
 */

import type { Registry } from "../api/registry.ts";
import type { ResourceType } from "../api/types.ts";
import { type FieldType, kindSchema, type Scalar } from "../schema/schema.ts";
import { KUBERNETES_VERSION } from "../version.ts";

type Json = Record<string, unknown>;

export function openApi(registry: Registry, path: string): object | undefined {
  if (path === "/openapi/v3") return index(registry);
  const match = /^\/openapi\/v3\/(api\/v1|apis\/([^/]+)\/([^/]+))$/.exec(path);
  if (match === null) return undefined;
  const [, , group = "", version = "v1"] = match;
  const types = registry.all().filter((type) => type.group === group && type.version === version);
  return types.length === 0 ? undefined : document(types);
}

const rootOf = ({ group, version }: ResourceType): string =>
  group === "" ? `api/${version}` : `apis/${group}/${version}`;

function index(registry: Registry): object {
  const paths: Json = {};
  for (const type of registry.all())
    paths[rootOf(type)] = { serverRelativeURL: `/openapi/v3/${rootOf(type)}?hash=${registry.version}` };
  return { paths };
}

function document(types: readonly ResourceType[]): object {
  const paths: Json = {};
  const schemas: Json = {};
  for (const type of types) {
    const scope = type.namespaced ? "/namespaces/{namespace}" : "";
    const collection = `/${rootOf(type)}${scope}/${type.plural}`;
    paths[collection] = { get: operation(type, "list"), post: operation(type, "post") };
    paths[`${collection}/{name}`] = {
      get: operation(type, "get"),
      put: operation(type, "put"),
      patch: operation(type, "patch"),
      delete: operation(type, "delete"),
    };
    addKind(schemas, type);
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: KUBERNETES_VERSION },
    paths,
    components: { schemas },
  };
}

function operation(type: ResourceType, action: string): object {
  const names = action === "get" || action === "list" ? ["pretty"] : ["dryRun", "fieldManager", "fieldValidation"];
  return {
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group: type.group, kind: type.kind, version: type.version },
    parameters: names.map((name) => ({ name, in: "query", schema: { type: "string", uniqueItems: true } })),
    responses: {
      "200": { description: "OK", content: { "application/json": { schema: reference(schemaName(type)) } } },
    },
  };
}

const schemaName = (type: ResourceType): string =>
  type.schemaKind ?? `${type.group.split(".").reverse().join(".")}.${type.version}.${type.kind}`;

const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

function addKind(schemas: Json, type: ResourceType): void {
  const name = schemaName(type);
  const gvk = [{ group: type.group, kind: type.kind, version: type.version }];
  if (type.schemaKind === undefined) {
    addSchema(schemas, "ObjectMeta");
    schemas[name] = { ...customSchema(type), "x-kubernetes-group-version-kind": gvk };
    return;
  }
  addSchema(schemas, name);
  schemas[name] = { ...(schemas[name] as Json), "x-kubernetes-group-version-kind": gvk };
}

function customSchema(type: ResourceType): Json {
  const own = type.openApiSchema ?? { type: "object" };
  const properties = {
    ...(own.properties as Json | undefined),
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { allOf: [reference("ObjectMeta")] },
  };
  return { ...own, properties };
}

function addSchema(schemas: Json, kind: string): void {
  if (schemas[kind] !== undefined) return;
  const properties: Json = {};
  schemas[kind] = { type: "object", properties };
  for (const [field, type] of kindSchema(kind)) properties[field] = fieldSchema(schemas, type);
}

function fieldSchema(schemas: Json, type: FieldType): Json {
  switch (type.tag) {
    case "scalar":
      return { ...SCALARS[type.scalar] };
    case "kind":
      addSchema(schemas, type.kind);
      return { allOf: [reference(type.kind)], ...patchStrategy(type) };
    case "map":
      return { type: "object", additionalProperties: fieldSchema(schemas, type.values) };
    case "list":
      return { type: "array", items: fieldSchema(schemas, type.items), ...patchStrategy(type) };
  }
}

function patchStrategy(type: FieldType): Json {
  const strategies = [];
  if (type.tag === "list" && type.mergeKey !== undefined) strategies.push("merge");
  if (type.retainKeys) strategies.push("retainKeys");
  if (strategies.length === 0) return {};
  return {
    "x-kubernetes-patch-strategy": strategies.join(","),
    ...(type.tag === "list" && type.mergeKey !== undefined && type.mergeKey !== "="
      ? { "x-kubernetes-patch-merge-key": type.mergeKey }
      : {}),
  };
}

const SCALARS: Record<Scalar, Json> = {
  string: { type: "string" },
  bytes: { type: "string", format: "byte" },
  time: { type: "string", format: "date-time" },
  micro: { type: "string", format: "date-time" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  number: { type: "number", format: "double" },
  bool: { type: "boolean" },
  quantity: { oneOf: [{ type: "string" }, { type: "number" }] },
  intOrString: { oneOf: [{ type: "integer" }, { type: "string" }], format: "int-or-string" },
  any: { type: "object" },
};
