import type { PodTemplate } from "../job/types.ts";

/** What a pod template can refer to by name, other than its own parts. */
export type ReferredKind =
  | "ConfigMap"
  | "Secret"
  | "ServiceAccount"
  | "PersistentVolumeClaim"
  | "PriorityClass"
  | "RuntimeClass"
  | "ResourceClaim"
  | "ResourceClaimTemplate";

export interface Reference {
  readonly kind: ReferredKind;
  readonly name: string;
  /** Its pods start without it, too. */
  readonly optional: boolean;
}

type Json = Record<string, unknown>;

/** One place of a template that holds a name. */
interface Place extends Reference {
  readonly holder: Json;
  readonly field: string;
}

/** Every object that the template names, once each; optional only where every place says so. The lookup is linear in the template. */
export function referencesOf({ spec }: PodTemplate): Reference[] {
  const found = new Map<string, Reference>();
  for (const { kind, name, optional } of places(spec)) {
    const key = `${kind}/${name}`;
    const known = found.get(key);
    if (known === undefined || (known.optional && !optional)) found.set(key, { kind, name, optional });
  }
  return [...found.values()];
}

/** Kind and name of what its pods start without, too. */
export const optionalIn = (template: PodTemplate): ReadonlySet<string> =>
  new Set(referencesOf(template).flatMap(({ kind, name, optional }) => (optional ? [`${kind}/${name}`] : [])));

/** The same template with other names; undefined leaves one as it is. */
export function renameReferences(
  template: PodTemplate,
  nameOf: (kind: ReferredKind, name: string) => string | undefined,
): PodTemplate {
  const spec = structuredClone(template.spec);
  for (const { kind, name, holder, field } of places(spec)) holder[field] = nameOf(kind, name) ?? name;
  return { ...template, spec };
}

/** The one list of all places. A Job's template has no ephemeral containers. */
function* places(spec: Json): Generator<Place> {
  for (const container of [...objects(spec.initContainers), ...objects(spec.containers)])
    yield* placesInContainer(container);
  for (const volume of objects(spec.volumes)) yield* placesInVolume(volume);
  // A kubelet tries to pull without a Secret that is missing: a node may have credentials of its own.
  for (const secret of objects(spec.imagePullSecrets)) yield* place("Secret", secret, "name", true);
  yield* place("ServiceAccount", spec, "serviceAccountName");
  // The former name of the same field; an API server fills in both.
  yield* place("ServiceAccount", spec, "serviceAccount");
  yield* place("PriorityClass", spec, "priorityClassName");
  yield* place("RuntimeClass", spec, "runtimeClassName");
  for (const claim of objects(spec.resourceClaims)) {
    yield* place("ResourceClaim", claim, "resourceClaimName");
    yield* place("ResourceClaimTemplate", claim, "resourceClaimTemplateName");
  }
}

function* placesInContainer(container: Json): Generator<Place> {
  for (const { valueFrom } of objects(container.env)) {
    yield* place("ConfigMap", object(valueFrom)?.configMapKeyRef, "name");
    yield* place("Secret", object(valueFrom)?.secretKeyRef, "name");
  }
  for (const source of objects(container.envFrom)) {
    yield* place("ConfigMap", source.configMapRef, "name");
    yield* place("Secret", source.secretRef, "name");
  }
}

/** Volume plugins that log in with a Secret: the field it is in, and the one that has its name. */
const LOGINS = [
  ["csi", "nodePublishSecretRef"],
  ["cephfs", "secretRef"],
  ["flexVolume", "secretRef"],
  ["iscsi", "secretRef"],
  ["rbd", "secretRef"],
  ["scaleIO", "secretRef"],
  ["storageos", "secretRef"],
] as const;

function* placesInVolume(volume: Json): Generator<Place> {
  yield* place("ConfigMap", volume.configMap, "name");
  yield* place("Secret", volume.secret, "secretName");
  for (const source of objects(object(volume.projected)?.sources)) {
    yield* place("ConfigMap", source.configMap, "name");
    yield* place("Secret", source.secret, "name");
  }
  yield* place("Secret", volume.azureFile, "secretName");
  for (const [plugin, field] of LOGINS) yield* place("Secret", object(volume[plugin])?.[field], "name");
  yield* place("PersistentVolumeClaim", volume.persistentVolumeClaim, "claimName");
}

function* place(kind: ReferredKind, value: unknown, field: string, optional = false): Generator<Place> {
  const holder = object(value);
  const name = holder?.[field];
  if (holder === undefined || typeof name !== "string" || name === "") return;
  yield { kind, name, optional: optional || holder.optional === true, holder, field };
}

const object = (value: unknown): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

const objects = (value: unknown): Json[] =>
  Array.isArray(value) ? value.map(object).filter((item) => item !== undefined) : [];
