import type { Registry } from "../api/registry.ts";
import type { ResourceType, Subresource } from "../api/types.ts";
import { KUBERNETES_VERSION } from "../version.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const STATUS_VERBS = ["get", "patch", "update"];

/** Aggregated discovery: everything in two answers, which is what kubectl asks for first. */
export const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export const wantsAggregated = (accept: string | undefined): boolean =>
  accept !== undefined && /g=apidiscovery\.k8s\.io;v=v2(;|,|$)/.test(accept.replaceAll(" ", ""));

/** POST to it binds a pod; it stores nothing. */
const BINDINGS = { name: "bindings", singularName: "binding", namespaced: true, kind: "Binding", verbs: ["create"] };

const versionsOf = (registry: Registry, group: string): string[] => [
  ...new Set(
    registry
      .all()
      .filter((type) => type.group === group)
      .map((type) => type.version),
  ),
];
const groupsOf = (registry: Registry): string[] => [
  ...new Set(
    registry
      .all()
      .map((type) => type.group)
      .filter((group) => group !== ""),
  ),
];
const verbsOf = (type: ResourceType): string[] =>
  type.plural === "namespaces" ? VERBS.filter((verb) => verb !== "deletecollection") : VERBS;

export const coreVersions = (address: string): object => ({
  kind: "APIVersions",
  versions: ["v1"],
  serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address }],
});

export function groupList(registry: Registry): object {
  return {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groupsOf(registry).map((group) => groupEntry(registry, group)),
  };
}

export function groupDocument(registry: Registry, group: string): object | undefined {
  if (!groupsOf(registry).includes(group)) return undefined;
  return { kind: "APIGroup", apiVersion: "v1", ...groupEntry(registry, group) };
}

function groupEntry(registry: Registry, group: string) {
  const versions = versionsOf(registry, group).map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions, preferredVersion: versions[0] };
}

export function resourceList(registry: Registry, group: string, version: string): object | undefined {
  const types = registry.all().filter((type) => type.group === group && type.version === version);
  if (types.length === 0) return undefined;
  const resources = types.flatMap((type) => [
    {
      name: type.plural,
      singularName: type.singular,
      namespaced: type.namespaced,
      kind: type.kind,
      verbs: verbsOf(type),
      ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
      ...(type.categories.length === 0 ? {} : { categories: type.categories }),
    },
    ...subresourcesOf(type).map((sub) => ({
      name: `${type.plural}/${sub.name}`,
      singularName: "",
      namespaced: type.namespaced,
      ...(sub.group === type.group ? {} : { group: sub.group, version: sub.version }),
      kind: sub.kind,
      verbs: sub.verbs,
    })),
  ]);
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: types[0]?.apiVersion,
    resources: group === "" ? [BINDINGS, ...resources] : resources,
  };
}

function subresourcesOf(type: ResourceType): Subresource[] {
  const { group, version, kind } = type;
  const status = { name: "status", group, version, kind, verbs: STATUS_VERBS };
  return type.hasStatus ? [...type.connects, status] : [...type.connects];
}

/** `groups`: [""] answers /api, the named groups /apis. */
export function aggregated(registry: Registry, core: boolean): object {
  const groups = core ? [""] : groupsOf(registry);
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map((group) => ({
      metadata: group === "" ? {} : { name: group },
      versions: versionsOf(registry, group).map((version) => ({
        version,
        resources: registry
          .all()
          .filter((type) => type.group === group && type.version === version)
          .map(aggregatedResource),
        freshness: "Current",
      })),
    })),
  };
}

function aggregatedResource(type: ResourceType): object {
  const { group, version, kind } = type;
  const subresources = subresourcesOf(type).map((sub) => ({
    subresource: sub.name,
    responseKind: { group: sub.group, version: sub.version, kind: sub.kind },
    verbs: sub.verbs,
  }));
  return {
    resource: type.plural,
    responseKind: { group, version, kind },
    scope: type.namespaced ? "Namespaced" : "Cluster",
    singularResource: type.singular,
    verbs: verbsOf(type),
    ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
    ...(type.categories.length === 0 ? {} : { categories: type.categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

export const VERSION = {
  major: "1",
  minor: "36",
  gitVersion: `${KUBERNETES_VERSION}+jobferry-sandbox`,
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "",
};
