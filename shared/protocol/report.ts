import { z } from "zod";
import { assignmentRef, generation, inventoryPage, pageWithinPages } from "./delivery.ts";
import { counter, jobStatus } from "./job-status.ts";
import {
  MAX_AVAILABLE,
  MAX_EVENTS_PER_REPORT,
  MAX_INVENTORY_PAGE,
  MAX_MANAGER_KEYS,
  MAX_REPORTED_PODS,
  MAX_RESOURCES,
  MAX_SENTENCE_CHARS,
} from "./limits.ts";
import { epoch, hubUid, nonce, publicKey, stamp } from "./names.ts";
import { nodesReport, resourceName } from "./node-shapes.ts";
import { reportedPod } from "./pod-report.ts";
import { listedReferences } from "./references.ts";

/** The resourceVersion of the mirror that the status was read from: it grows with every change, whoever reports it. */
const seq = z.int().min(1).max(Number.MAX_SAFE_INTEGER);
const about = { uid: hubUid, epoch };
const sentence = z.string().max(MAX_SENTENCE_CHARS);

const status = z.object({ kind: z.literal("status"), ...about, seq, status: jobStatus });

const refusalReason = z.enum([
  "NamespaceMissing",
  "NamespaceTerminating",
  "QuotaExceeded",
  "AdmissionDenied",
  "ServiceAccountMissing",
  "ReferenceMissing",
  "ReferenceNotAccepted",
  "NameTaken",
  "NamespaceNotAccepted",
  "PodNotAccepted",
  "ManagedByUnsupported",
  "SchedulingUnsupported",
  "Invalid",
  "Other",
]);
export type RefusalReason = z.infer<typeof refusalReason>;

/** What a mirror achieved, where it goes without having finished. */
const last = z.object({ seq, status: jobStatus });

/** The worker cannot have the mirror, or could not start its pods and has stopped it. Ends the epoch. */
const refused = z.object({
  kind: z.literal("refused"),
  ...about,
  reason: refusalReason,
  message: sentence,
  last: last.optional(),
});

/** The mirror and its pods are gone, or stopped for good. Ends the epoch. */
const withdrawn = z.object({ kind: z.literal("withdrawn"), ...about, last: last.optional() });

/** A delivery of `epoch` came, and this cluster has or had a later one: the hub has forgotten some of its past. */
const newer = z.object({ kind: z.literal("newer"), ...about, has: epoch });

/** The contents of these, which a delivery of this assignment lists, are not here yet. */
const ask = z.object({ kind: z.literal("ask"), ...about, references: listedReferences.min(1) });

/** What these Jobs lacked when they were refused is here now: they may be given to this cluster again. */
const available = z.object({ kind: z.literal("available"), jobs: z.array(hubUid).min(1).max(MAX_AVAILABLE) });

const warning = z.object({
  reason: z.string().min(1).max(128),
  message: sentence,
  /** How often this was seen since it was last reported. */
  count: counter.min(1),
  regarding: z.object({ kind: z.enum(["Job", "Pod"]), name: z.string().min(1).max(253) }),
});
const event = z.object({
  kind: z.literal("event"),
  ...about,
  warnings: z.array(warning).min(1).max(MAX_EVENTS_PER_REPORT),
  /** The first of them is what the scheduler says: this many seconds no pod of the mirror has found a node. */
  unschedulable: z.object({ seconds: counter }).optional(),
});

/** All pods of a mirror, or as many of them as the manager shows; `seq`: up to where this cluster's pods had been seen. */
const pods = z.object({
  kind: z.literal("pods"),
  ...about,
  seq,
  pods: z.array(reportedPod).max(MAX_REPORTED_PODS),
  /** There are others. */
  more: z.boolean(),
  /** The mirror has left this cluster, and its pods with it. */
  gone: z.literal(true).optional(),
});

/** The mirrors whose pods were reported, and the number of the last report of each; what the manager lacks it asks for. */
const podsInventory = z
  .object({
    kind: z.literal("pods-inventory"),
    ...inventoryPage,
    mirrors: z.array(assignmentRef.extend({ seq })).max(MAX_INVENTORY_PAGE),
  })
  .refine(pageWithinPages, "page lies beyond pages");

/** Every mirror on this cluster; an assignment that no page of a complete round names is delivered again. */
const inventory = z
  .object({
    kind: z.literal("inventory"),
    ...inventoryPage,
    /** `generation`: of the hub Job that the mirror was last brought up to. */
    mirrors: z.array(assignmentRef.extend({ generation, finished: z.boolean() })).max(MAX_INVENTORY_PAGE),
  })
  .refine(pageWithinPages, "page lies beyond pages");

const quantity = z.string().regex(/^\d{1,20}(\.\d{1,9})?([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,2})?$/);
const resourceList = z
  .record(resourceName, quantity)
  .refine((list) => Object.keys(list).length <= MAX_RESOURCES, `more than ${MAX_RESOURCES} resources`);

const version = z.string().min(1).max(64);
const health = {
  /** UID of the worker's kube-system namespace: another one means another cluster. */
  clusterID: z.string().min(1).max(64),
  agentVersion: version,
  kubernetesVersion: version,
  capacity: resourceList,
  free: resourceList,
  largestFreeNode: resourceList,
  largestNode: resourceList,
  nodes: nodesReport.optional(),
  /** When this was sent; comes back with the inventories of a manager that has heard it. */
  stamp,
  /** The last one that a manager has given us; empty before the first. Agents of earlier releases do not say it. */
  nonce: nonce.optional(),
  /** Up to where this agent has seen its mirrors: no report's `seq` is far beyond it. */
  resourceVersion: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  /** The highest of the hub's resourceVersions that this cluster has heard of; a hub that is behind it was restored. */
  hubRevision: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  /** The worker's wall clock in milliseconds when this was sent. */
  now: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  /** The keys whose deliveries this agent takes. */
  managerKeys: z.array(publicKey).min(1).max(MAX_MANAGER_KEYS),
};
/** The agent has just started. */
const hello = z.object({ kind: z.literal("hello"), ...health });
const heartbeat = z.object({ kind: z.literal("heartbeat"), ...health });

/** Agent to manager. */
export const report = z.discriminatedUnion("kind", [
  status,
  refused,
  withdrawn,
  newer,
  available,
  ask,
  event,
  pods,
  podsInventory,
  inventory,
  hello,
  heartbeat,
]);
export type Report = z.infer<typeof report>;
