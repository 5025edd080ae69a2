import type { Column } from "../api/columns.ts";
import type { ResourceType, Subresource } from "../api/types.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import { cronJobStrategy } from "./cronjobs.ts";
import { eventStrategy } from "./events.ts";
import { jobStrategy } from "./jobs.ts";
import { namespaceStrategy } from "./namespaces.ts";
import { nodeStrategy } from "./nodes.ts";
import { podStrategy } from "./pods.ts";
import { secretStrategy } from "./secrets.ts";

type Options = Partial<Omit<ResourceType, "group" | "version" | "plural" | "kind">>;

/** Spells out a resource type from what distinguishes it. */
export function resourceType(groupVersion: string, plural: string, kind: string, options: Options = {}): ResourceType {
  const slash = groupVersion.indexOf("/");
  return {
    group: slash < 0 ? "" : groupVersion.slice(0, slash),
    version: groupVersion.slice(slash + 1),
    apiVersion: groupVersion,
    plural,
    kind,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    namespaced: true,
    shortNames: [],
    categories: [],
    hasStatus: false,
    countsGenerations: false,
    connects: [],
    strategy: {},
    selectableFields: {},
    unsupportedField: (field) => `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
    columns: [],
    schemaKind: kind,
    ...options,
  };
}

/** Reads a dotted path as the text a field selector compares with. */
const at =
  (...path: string[]) =>
  (object: Stored): string => {
    let value: unknown = object;
    for (const key of path) value = isRecord(value) ? value[key] : undefined;
    return value === undefined || value === null ? "" : String(value);
  };

const fields = (...paths: string[]): Record<string, (object: Stored) => string> =>
  Object.fromEntries(paths.map((path) => [path, at(...path.split("."))]));

const connect = (name: string, kind: string, verbs: string[], groupVersion = "v1"): Subresource => {
  const slash = groupVersion.indexOf("/");
  return {
    name,
    kind,
    group: slash < 0 ? "" : groupVersion.slice(0, slash),
    version: groupVersion.slice(slash + 1),
    verbs,
  };
};

const plainMessage = (field: string): string => `field label not supported: ${field}`;
const kindMessage =
  (kind: string) =>
  (field: string): string =>
    `field label "${field}" not supported for ${kind}`;

export function builtInTypes(columns: (kind: string) => readonly Column[]): ResourceType[] {
  const core = (plural: string, kind: string, options: Options = {}): ResourceType =>
    resourceType("v1", plural, kind, { columns: columns(kind), ...options });
  const batch = (plural: string, kind: string, options: Options = {}): ResourceType =>
    resourceType("batch/v1", plural, kind, { columns: columns(kind), unsupportedField: kindMessage(kind), ...options });
  return [
    core("namespaces", "Namespace", {
      namespaced: false,
      shortNames: ["ns"],
      hasStatus: true,
      strategy: namespaceStrategy,
      selectableFields: { name: at("metadata", "name"), ...fields("status.phase") },
      unsupportedField: plainMessage,
      connects: [connect("finalize", "Namespace", ["update"])],
    }),
    core("pods", "Pod", {
      shortNames: ["po"],
      categories: ["all"],
      hasStatus: true,
      countsGenerations: true,
      strategy: podStrategy,
      selectableFields: {
        ...fields(
          "spec.nodeName",
          "spec.restartPolicy",
          "spec.schedulerName",
          "spec.serviceAccountName",
          "status.phase",
          "status.podIP",
          "status.nominatedNodeName",
        ),
        "spec.hostNetwork": (pod) => String(isRecord(pod.spec) && pod.spec.hostNetwork === true),
      },
      unsupportedField: plainMessage,
      connects: [
        connect("binding", "Binding", ["create"]),
        connect("eviction", "Eviction", ["create"], "policy/v1"),
        connect("log", "Pod", ["get"]),
      ],
    }),
    core("nodes", "Node", {
      namespaced: false,
      shortNames: ["no"],
      hasStatus: true,
      strategy: nodeStrategy,
      selectableFields: {
        "spec.unschedulable": (node) => String(isRecord(node.spec) && node.spec.unschedulable === true),
      },
      unsupportedField: plainMessage,
    }),
    core("events", "Event", {
      shortNames: ["ev"],
      strategy: eventStrategy,
      selectableFields: {
        ...fields(
          "involvedObject.kind",
          "involvedObject.namespace",
          "involvedObject.name",
          "involvedObject.uid",
          "involvedObject.apiVersion",
          "involvedObject.resourceVersion",
          "involvedObject.fieldPath",
          "reason",
          "reportingComponent",
          "type",
        ),
        source: (event) => at("source", "component")(event) || at("reportingComponent")(event),
      },
      unsupportedField: plainMessage,
    }),
    core("configmaps", "ConfigMap", { shortNames: ["cm"] }),
    core("secrets", "Secret", {
      selectableFields: fields("type"),
      unsupportedField: plainMessage,
      strategy: secretStrategy,
    }),
    core("serviceaccounts", "ServiceAccount", { shortNames: ["sa"], strategy: { answersWithDeleted: true } }),
    batch("jobs", "Job", {
      categories: ["all"],
      hasStatus: true,
      countsGenerations: true,
      strategy: jobStrategy,
      selectableFields: {
        "status.successful": (job) => String(isRecord(job.status) ? (job.status.succeeded ?? 0) : 0),
      },
    }),
    batch("cronjobs", "CronJob", {
      shortNames: ["cj"],
      categories: ["all"],
      hasStatus: true,
      countsGenerations: true,
      strategy: cronJobStrategy,
    }),
    resourceType("coordination.k8s.io/v1", "leases", "Lease", {
      columns: columns("Lease"),
      strategy: { createOnUpdate: true, needsResourceVersion: true },
    }),
  ];
}
