/** The fleet file: the hub's own objects, JobQueues and WorkerClusters, and the nodes of each cluster. */
import { prune, type Schema, withDefaults } from "@jobferry/sandbox/crd/schema.ts";
import { validateCustom } from "@jobferry/sandbox/crd/validate.ts";
import type { JobQueue, WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import { resourceUnits, unitsOf } from "@jobferry/shared/job/requests.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { nearestName } from "@jobferry/shared/runtime/nearest-name.ts";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { packagedFile } from "../../up/files.ts";
import { textOf } from "../trace/read-trace.ts";
import type { Fleet, FleetCluster, NodeKind } from "./fleet.ts";

const KINDS = ["WorkerCluster", "JobQueue", "Namespace"];
/** Every node has it, said or not: what a kubelet allows by default. */
const PODS_PER_NODE = 110;
const MOST_NODES = 100_000;

const quantity = z
  .union([z.string(), z.number()])
  .refine((value) => (unitsOf(value) ?? -1) >= 0, "is not a quantity such as 500m, 2 or 4Gi");
const nodesSchema = z
  .array(
    z.strictObject({
      count: z.int().min(1).max(MOST_NODES).default(1),
      labels: z.record(z.string(), z.string()).default({}),
      taints: z
        .array(
          z.strictObject({
            key: z.string().min(1),
            value: z.string().optional(),
            effect: z.enum(["NoSchedule", "NoExecute", "PreferNoSchedule"]),
          }),
        )
        .default([]),
      allocatable: z.record(z.string(), quantity),
    }),
  )
  .min(1, "a cluster without nodes runs nothing");
const ownSchema = z.strictObject({
  nodes: nodesSchema,
  scoring: z.enum(["LeastAllocated", "MostAllocated"]).default("LeastAllocated"),
});

interface Document {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  readonly [field: string]: unknown;
}
const documentSchema = z.looseObject({
  kind: z.enum(KINDS),
  metadata: z.looseObject({ name: z.string().min(1), labels: z.record(z.string(), z.string()).optional() }),
});

export const readFleet = (path: string): Fleet => parseFleet(path, textOf(path, "fleet file"));

export function parseFleet(path: string, text: string): Fleet {
  const documents = documentsOf(path, text);
  const of = (kind: string): Document[] => documents.filter((each) => each.kind === kind);
  const clusters = of("WorkerCluster").map((each) => clusterOf(path, each));
  const queues = of("JobQueue").map((each) => checked(path, each, "jobqueues") as unknown as JobQueue);
  if (clusters.length === 0) throw new ConfigError(`${path}: there is no WorkerCluster in it`);
  for (const names of [clusters.map(({ name }) => name as string), queues.map(({ metadata }) => metadata.name ?? "")]) {
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) throw new ConfigError(`${path}: ${twice} is there twice`);
  }
  const namespaces = new Map(of("Namespace").map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
  return { clusters, queues, namespaces };
}

function documentsOf(path: string, text: string): Document[] {
  const found: Document[] = [];
  for (const [i, document] of parseAllDocuments(text).entries()) {
    const [fault] = document.errors;
    if (fault !== undefined) throw new ConfigError(`${path}: ${fault.message.split("\n")[0]}`);
    const value: unknown = document.toJS();
    if (value === null || value === undefined) continue;
    const items = (value as { kind?: unknown; items?: unknown[] }).kind === "List" ? value : { items: [value] };
    for (const item of (items as { items?: unknown[] }).items ?? []) found.push(documentOf(path, item, i + 1));
  }
  return found;
}

function documentOf(path: string, item: unknown, number: number): Document {
  const read = documentSchema.safeParse(item);
  if (read.success) return read.data as Document;
  const { kind } = (item ?? {}) as { kind?: unknown };
  if (typeof kind === "string" && !KINDS.includes(kind)) {
    const like = nearestName(kind, KINDS);
    const hint = like === undefined ? "" : `, did you mean ${like}?`;
    throw new ConfigError(
      `${path}, document ${number}: kind ${kind} is not used here${hint} There are ${KINDS.join(", ")}`,
    );
  }
  throw new ConfigError(`${path}, document ${number}: ${sentences(read.error, documentSchema.shape)}`);
}

function clusterOf(path: string, document: Document): FleetCluster {
  const { nodes, scoring, ...object } = document;
  const where = `${path}, WorkerCluster ${document.metadata.name}`;
  const own = ownSchema.safeParse({ nodes, ...(scoring === undefined ? {} : { scoring }) });
  if (!own.success) throw new ConfigError(`${where}: ${sentences(own.error, { nodes, scoring })}`);
  // Nobody speaks for a simulated cluster: it needs no key.
  const spec = { publicKey: `${"A".repeat(43)}=`, ...(object.spec as object | undefined) };
  const cluster = checked(path, { ...object, spec } as Document, "workerclusters") as unknown as WorkerCluster;
  const name = parseClusterName(document.metadata.name);
  return {
    name,
    object: { metadata: { ...cluster.metadata, uid: name }, spec: cluster.spec },
    nodes: own.data.nodes.map(
      ({ count, labels, taints, allocatable }): NodeKind => ({
        count,
        labels,
        taints,
        allocatable: new Map([
          ["pods", PODS_PER_NODE],
          ...Object.entries(allocatable).map(([name, value]) => [name, resourceUnits(name, value)] as const),
        ]),
      }),
    ),
    scoring: own.data.scoring,
  };
}

/** By the schema with which the hub itself checks it. */
function checked(path: string, document: Document, plural: string): Document {
  const where = `${path}, ${document.kind} ${document.metadata.name}`;
  const schema = schemaOf(plural);
  const unknown: string[] = [];
  const pruned = prune(schema, document, unknown);
  const [field] = unknown;
  if (field !== undefined) {
    const known = namesAt(schema, field);
    const like = nearestName(field.split(".").at(-1) ?? "", known);
    const hint = like === undefined ? "" : `, did you mean ${like}?`;
    throw new ConfigError(`${where}: no such field: ${field}${hint} There are ${known.join(", ")}`);
  }
  const complete = withDefaults(schema, pruned);
  const faults = validateCustom(schema, complete).map(({ field: at, detail, badValue }) =>
    [at, detail === "" ? JSON.stringify(badValue ?? "is missing") : detail].join(": "),
  );
  if (faults.length > 0) throw new ConfigError(`${where}: ${faults.join("; ")}`);
  return complete as Document;
}

function schemaOf(plural: string): Schema {
  const definition = parse(packagedFile(`deploy/crds/${plural}.yaml`)) as {
    spec: { versions: { schema: { openAPIV3Schema: Schema } }[] };
  };
  const schema = definition.spec.versions[0]?.schema.openAPIV3Schema;
  if (schema === undefined) throw new Error(`deploy/crds/${plural}.yaml has no schema`);
  return schema;
}

/** The fields that stand beside this one. */
function namesAt(schema: Schema, field: string): string[] {
  let at: Schema | undefined = schema;
  for (const part of field
    .replaceAll(/\[\d+\]/g, ".items")
    .split(".")
    .slice(0, -1))
    at = part === "items" ? at?.items : at?.properties?.[part];
  return Object.keys(at?.properties ?? {});
}

function sentences(error: z.ZodError, known: object): string {
  return error.issues
    .map((issue) => {
      const at = issue.path.join(".");
      if (issue.code !== "unrecognized_keys") return `${at}: ${issue.message}`;
      const names = issue.path[0] === "nodes" ? ["count", "labels", "taints", "allocatable"] : Object.keys(known);
      const [key = ""] = issue.keys;
      const like = nearestName(key, names);
      return `no such field: ${[...issue.path, key].join(".")}${like === undefined ? "" : `, did you mean ${like}?`}`;
    })
    .join("; ");
}
