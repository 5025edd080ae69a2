import {
  CONTROLLER_UID_LABEL,
  JOB_NAME_LABEL,
  LEGACY_CONTROLLER_UID_LABEL,
  LEGACY_JOB_NAME_LABEL,
} from "@jobferry/shared/job/keys.ts";
import type { Job, JobSpec, JobStatus, PodTemplate } from "@jobferry/shared/job/types.ts";
import type { RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import {
  ADMITTED,
  AWAITS,
  CARRY,
  CLUSTER,
  EPOCH,
  GENERATION,
  HUB_UID_LABEL,
  LEAVING,
  MESSAGE,
  OVER,
  PREEMPTED,
  PROOF,
  REVISION,
  SEQ,
  SHADOW_PODS,
  STOP_AFTER,
  WORKER_MANAGED_BY,
} from "@jobferry/shared/protocol/marks.ts";
import type { ListedReference } from "@jobferry/shared/protocol/references.ts";
import { copyName } from "@jobferry/shared/references/contents.ts";
import { optionalIn, referencesOf, renameReferences } from "@jobferry/shared/references/template.ts";
import type { Proofs } from "../proofs.ts";
import { templateUpdate } from "./template-update.ts";

export interface MirrorOptions {
  /** `agent`: our Job controller runs the mirror. `builtin`: the cluster's own does. */
  controller: "agent" | "builtin";
  /** The worker's namespace for a hub namespace. */
  mapNamespace(hubNamespace: string): string;
  proofs: Proofs;
}

const GENERATED_LABELS = [CONTROLLER_UID_LABEL, JOB_NAME_LABEL, LEGACY_CONTROLLER_UID_LABEL, LEGACY_JOB_NAME_LABEL];
const HUB_ONLY = new Set([
  CLUSTER,
  MESSAGE,
  SEQ,
  EPOCH,
  STOP_AFTER,
  SHADOW_PODS,
  ADMITTED,
  CARRY,
  AWAITS,
  OVER,
  LEAVING,
  PREEMPTED,
  "kubectl.kubernetes.io/last-applied-configuration",
]);

/** Fields of a Job's spec that may change while it exists (VU-5, VU-3, VU-8); everything else is as it was created. */
const MUTABLE = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "maxFailedIndexes",
  "suspend",
  "podReplacementPolicy",
] as const satisfies readonly (keyof JobSpec)[];

/** The mirror as it should be created: the hub's Job with our marks, and without what belongs to the hub alone. */
export function newMirror(delivery: RunDelivery, options: MirrorOptions, awaitsCopies = false): Job {
  const { labels = {}, annotations = {} } = delivery.job;
  const isBuiltin = options.controller === "builtin";
  const seed = seedOf(delivery.carry);
  const spec = mirrorSpec(delivery.job.spec);
  const namespace = options.mapNamespace(delivery.namespace);
  const isHeld = seed !== undefined || awaitsCopies;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: delivery.name,
      namespace,
      labels: { ...omit(labels, GENERATED_LABELS), [HUB_UID_LABEL]: delivery.uid },
      annotations: {
        ...Object.fromEntries(Object.entries(annotations).filter(([key]) => !HUB_ONLY.has(key))),
        ...marksOf(delivery),
        [PROOF]: options.proofs.make(delivery.uid, namespace, delivery.name),
        ...(seed === undefined ? {} : { [CARRY]: "pending" }),
        ...(awaitsCopies ? { [AWAITS]: "copies" } : {}),
      },
    },
    spec: {
      ...spec,
      template: withCopies(spec.template, delivery),
      ...(isBuiltin ? {} : { managedBy: WORKER_MANAGED_BY }),
      // The built-in controller would start at once: hold it until its status is seeded and its copies are here.
      ...(isBuiltin && isHeld ? { suspend: true } : {}),
    },
  };
}

/**
 * What changes on an existing mirror to follow the hub's spec, one patch after the other. Whether its template may change is
 * decided by the mirror as it is: one edit of the hub Job may change the template and resume it (VU-11). `completions` may
 * change only to what `parallelism` is (VU-3): where the hub Job was edited again since, both edits are made.
 */
export function mirrorUpdates(mirror: Job, delivery: RunDelivery): { metadata: object; spec: object }[] {
  const { spec } = delivery.job;
  // The UID keeps the patch from a stranger's Job that has taken the name meanwhile.
  const { uid } = mirror.metadata;
  const { completions, parallelism } = spec;
  const isRescaled = completions !== mirror.spec.completions && completions !== parallelism;
  const rescaling = isRescaled ? [{ metadata: { uid }, spec: { completions, parallelism: completions } }] : [];
  const fields = Object.fromEntries(MUTABLE.map((field) => [field, spec[field] ?? null]));
  const [before, after] = [withoutGeneratedLabels(mirror.spec.template), withoutGeneratedLabels(spec.template)];
  const template = mirror.spec.suspend === true ? { template: templateUpdate(before, after) } : {};
  const annotations = { [STOP_AFTER]: null, [SHADOW_PODS]: null, ...marksOf(delivery) };
  return [...rescaling, { metadata: { uid, annotations }, spec: { ...fields, ...template } }];
}

/** The template with the names of the copies that are made here. */
function withCopies(template: PodTemplate, { references = [] }: RunDelivery): PodTemplate {
  if (references.length === 0) return template;
  const names = new Map(references.map(({ kind, name, hash }) => [`${kind}/${name}`, copyName(name, hash)]));
  return renameReferences(template, (kind, name) => names.get(`${kind}/${name}`));
}

/** The mirror refers to just those copies that the delivery lists: what it lists may change until they are here. */
export function hasCopiesOf(mirror: Job, delivery: RunDelivery): boolean {
  const { template } = delivery.job.spec;
  const referred = namesIn(mirror.spec.template);
  const optional = optionalIn(template);
  const copies = new Map(
    (delivery.references ?? []).map(({ kind, name, hash }) => [`${kind}/${name}`, `${kind}/${copyName(name, hash)}`]),
  );
  // What is optional may have stayed as it was.
  return [...namesIn(template)].every(
    (name) => referred.has(copies.get(name) ?? name) || (optional.has(name) && referred.has(name)),
  );
}

/** Those of the listed references that this mirror has a copy of, or waits for. */
export function copiesIn(mirror: Job, { references = [] }: RunDelivery): ListedReference[] {
  const referred = namesIn(mirror.spec.template);
  return references.filter(({ kind, name, hash }) => referred.has(`${kind}/${copyName(name, hash)}`));
}

const namesIn = (template: PodTemplate): ReadonlySet<string> =>
  new Set(
    referencesOf(template).flatMap(({ kind, name }) =>
      kind === "ConfigMap" || kind === "Secret" ? [`${kind}/${name}`] : [],
    ),
  );

/** The mirror already is what the delivery asks for. */
export function isUpToDate({ metadata: { annotations = {} }, spec }: Job, delivery: RunDelivery): boolean {
  const marks = marksOf(delivery);
  // Within one generation the manager may hold pods back for a while.
  const isScaled = (spec.parallelism ?? 1) === (delivery.job.spec.parallelism ?? 1);
  return isScaled && [GENERATION, STOP_AFTER, SHADOW_PODS].every((mark) => annotations[mark] === marks[mark]);
}

function marksOf(delivery: RunDelivery): Record<string, string> {
  return {
    [EPOCH]: String(delivery.epoch),
    [GENERATION]: String(delivery.generation),
    [REVISION]: String(delivery.revision),
    ...(delivery.stopAfterSeconds === undefined ? {} : { [STOP_AFTER]: String(delivery.stopAfterSeconds) }),
    ...(delivery.shadowPods === undefined ? {} : { [SHADOW_PODS]: String(delivery.shadowPods) }),
  };
}

/**
 * `ttlSecondsAfterFinished` is the hub's business. A generated selector names the hub Job's UID and is generated anew here;
 * one written by hand is the user's and stays.
 */
function mirrorSpec(hub: JobSpec): JobSpec {
  const { ttlSecondsAfterFinished: _, managedBy: __, selector, ...spec } = hub;
  return {
    ...spec,
    ...(hub.manualSelector === true && selector !== undefined ? { selector } : {}),
    template: hub.manualSelector === true ? hub.template : withoutGeneratedLabels(hub.template),
  };
}

function withoutGeneratedLabels(template: JobSpec["template"]): JobSpec["template"] {
  const { metadata } = template;
  if (metadata?.labels === undefined) return template;
  return { ...template, metadata: { ...metadata, labels: omit(metadata.labels, GENERATED_LABELS) } };
}

/**
 * The status a new mirror starts from: what earlier epochs achieved, without what was running there. Undefined when there is
 * nothing to carry over.
 */
export function seedOf(carry: JobStatus | undefined): JobStatus | undefined {
  if (carry === undefined) return undefined;
  const { active: _, ready: __, terminating: ___, ...rest } = carry;
  const achieved = (rest.succeeded ?? 0) > 0 || (rest.failed ?? 0) > 0 || rest.startTime !== undefined;
  const { succeeded = [], failed = [] } = rest.uncountedTerminatedPods ?? {};
  if (!achieved && succeeded.length + failed.length === 0 && (rest.conditions ?? []).length === 0) return undefined;
  return { ...rest, ready: 0, terminating: 0, uncountedTerminatedPods: rest.uncountedTerminatedPods ?? {} };
}

const omit = (labels: Readonly<Record<string, string>>, keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !keys.includes(key)));
