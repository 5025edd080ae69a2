import { z } from "zod";
import type { Job } from "../job/types.ts";
import { jobStatus } from "./job-status.ts";
import { MAX_INT32, MAX_INVENTORY_PAGE, MAX_INVENTORY_PAGES, MAX_REPORTED_PODS } from "./limits.ts";
import { dnsSubdomain, epoch, hubUid, nonce, stamp } from "./names.ts";
import { listedReference, listedReferences, piece } from "./references.ts";

export const generation = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
export const assignmentRef = z.object({ uid: hubUid, epoch });
export type AssignmentRef = z.infer<typeof assignmentRef>;

export const inventoryPage = {
  /** Pages of one round belong together; no other round of any sender has this name. */
  round: z.string().min(1).max(64),
  page: z.int().min(1).max(MAX_INVENTORY_PAGES),
  pages: z.int().min(1).max(MAX_INVENTORY_PAGES),
};
export const pageWithinPages = ({ page, pages }: { page: number; pages: number }): boolean => page <= pages;

const textMap = z.record(z.string().max(320), z.string());

/** Spec, labels and annotations exactly as the hub has them. Its rules are the API server's, checked there. */
const job = z.object({
  spec: z.record(z.string(), z.unknown()) as unknown as z.ZodType<Job["spec"]>,
  labels: textMap.optional(),
  annotations: textMap.optional(),
});

export const onClusterLost = z.enum(["Redispatch", "Wait", "StopThenRedispatch"]);
export type OnClusterLost = z.infer<typeof onClusterLost>;

const about = {
  kind: z.literal("assignment"),
  uid: hubUid,
  epoch,
  /** Grows with every delivery about one Job; an older one that arrives late is an echo. */
  revision: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
};

/** The Job should run here, as this generation of its hub Job says. */
const run = z.object({
  ...about,
  desired: z.literal("run"),
  generation,
  namespace: z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
  name: dnsSubdomain,
  job,
  /** The hub's status at this moment: where a mirror that has still to be created starts from. */
  carry: jobStatus.optional(),
  /** Stop the pods this long after the last heartbeat that the manager is known to have heard. */
  stopAfterSeconds: z.int().min(1).max(MAX_INT32).optional(),
  /** Report its pods, this many at most; absent: none. */
  shadowPods: z.int().min(1).max(MAX_REPORTED_PODS).optional(),
  /** What travels with the Job. The agent asks for what it lacks. */
  references: listedReferences.optional(),
  critical: z.array(z.literal("references")).optional(),
});
export type RunDelivery = z.infer<typeof run>;

/** The hub Job is being deleted: delete the mirror in the same way. Final within its epoch. */
const remove = z.object({
  ...about,
  desired: z.literal("delete"),
  propagationPolicy: z.enum(["Foreground", "Orphan"]),
});
export type DeleteDelivery = z.infer<typeof remove>;

/** The Job moves on: stop its pods without counting them, report the final status, let go. Final within its epoch. */
const handOver = z.object({ ...about, desired: z.literal("hand-over") });

/** What should be true of (uid, epoch) on the worker. */
const assignment = z.discriminatedUnion("desired", [run, remove, handOver]);
export type AssignmentDelivery = z.infer<typeof assignment>;

/** Everything this mirror achieved is stored on the hub: it may go. Final within its epoch. */
const release = z.object({ kind: z.literal("release"), uid: hubUid, epoch });

/** `seq`: the last report that was stored in this epoch, 0 when none was; what was reported later is reported again. */
const listedAssignment = assignmentRef.extend({ seq: z.int().min(0).max(Number.MAX_SAFE_INTEGER) });
export type ListedAssignment = z.infer<typeof listedAssignment>;

/** Everything that is assigned to this cluster; a mirror that no page of a complete round names is to be withdrawn. */
const inventory = z
  .object({
    kind: z.literal("inventory"),
    ...inventoryPage,
    /** The hub's resourceVersion up to which this is complete; a mirror delivered from a later one is not judged by it. */
    asOf: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
    assignments: z.array(listedAssignment).max(MAX_INVENTORY_PAGE),
    /** The stamp of the newest heartbeat heard: silence counts from that moment, on both sides. */
    heard: stamp.optional(),
  })
  .refine(pageWithinPages, "page lies beyond pages");

/** The pods of these mirrors should be reported again. */
const podsWanted = z.object({
  kind: z.literal("pods-wanted"),
  mirrors: z.array(assignmentRef).min(1).max(MAX_INVENTORY_PAGE),
});

/** Somebody deleted this pod of the Job on the hub: it should be deleted here. */
const deletePod = z.object({
  kind: z.literal("delete-pod"),
  uid: hubUid,
  epoch,
  pod: z.object({ name: dnsSubdomain, uid: z.string().min(1).max(64) }),
  gracePeriodSeconds: z.int().min(1).max(MAX_INT32),
});
export type DeletePod = z.infer<typeof deletePod>;

const logOptions = z.object({
  follow: z.boolean().optional(),
  previous: z.boolean().optional(),
  timestamps: z.boolean().optional(),
  tailLines: z.int().min(0).optional(),
  sinceSeconds: z.int().min(1).optional(),
  sinceTime: z.string().max(64).optional(),
  limitBytes: z.int().min(1).optional(),
});

/** What is read goes into the lane of this cluster, sealed with this key. */
const logStream = { stream: z.string().regex(/^[0-9a-f]{32}$/), key: z.string().regex(/^[A-Za-z0-9+/]{43}=$/) };

/** Somebody reads the log of this pod on the hub. */
const readLog = z.object({
  kind: z.literal("read-log"),
  uid: hubUid,
  epoch,
  pod: z.object({ name: dnsSubdomain, uid: z.string().min(1).max(64) }),
  container: z.string().min(1).max(253),
  options: logOptions,
  ...logStream,
});
export type ReadLog = z.infer<typeof readLog>;

/** Somebody wants to read logs of this Job, whose pods the hub does not show: which are there? A line of JSON for each. */
const listPods = z.object({ kind: z.literal("list-pods"), uid: hubUid, epoch, ...logStream });
export type ListPods = z.infer<typeof listPods>;

/** The answer to an `ask`: one ConfigMap or Secret, in pieces. */
const contents = z
  .object({ kind: z.literal("contents"), uid: hubUid, epoch, reference: listedReference, ...piece })
  .refine(({ piece, pieces }) => piece <= pieces, "piece lies beyond pieces");
export type ContentsDelivery = z.infer<typeof contents>;

/** Say this nonce from now on, and `again` at once what you said without it. Only to agents that know of it. */
const challenge = z.object({
  kind: z.literal("challenge"),
  nonce: nonce.min(1),
  again: z.enum(["hello", "heartbeat"]).optional(),
});

/** Manager to agent. */
export const delivery = z.discriminatedUnion("kind", [
  assignment,
  release,
  inventory,
  podsWanted,
  deletePod,
  readLog,
  listPods,
  contents,
  challenge,
]);
export type Delivery = z.infer<typeof delivery>;
