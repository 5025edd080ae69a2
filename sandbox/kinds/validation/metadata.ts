/** Standard object metadata: VC-1 on create, MU on update. */
import { FOREGROUND_DELETION_FINALIZER, ORPHAN_FINALIZER } from "@jobferry/shared/job/keys.ts";
import { checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName } from "@jobferry/shared/job/names.ts";
import type { LabelSelector, ObjectMeta, OwnerReference } from "@jobferry/shared/job/types.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";

const MAX_ANNOTATION_BYTES = 256 * 1024;
const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;
const UNQUALIFIED_FINALIZERS = ["kubernetes", ORPHAN_FINALIZER, FOREGROUND_DELETION_FINALIZER];

export function validateMetadata(v: Violations, metadata: ObjectMeta): void {
  const { generateName, name, namespace } = metadata;
  if (generateName) {
    // A prefix may end in "-": something follows it.
    const sample =
      generateName.length > 1 && generateName.endsWith("-") ? `${generateName.slice(0, -2)}a` : generateName;
    v.malformed("metadata.generateName", generateName, checkDnsSubdomain(sample));
  }
  if (!name) v.required("metadata.name", "name or generateName is required");
  else v.malformed("metadata.name", name, checkDnsSubdomain(name));
  if (!namespace) v.required("metadata.namespace");
  else v.malformed("metadata.namespace", namespace, checkDnsLabel(namespace));
  v.nonNegative("metadata.generation", metadata.generation);
  validateCommon(v, metadata);
  const finalizers = metadata.finalizers ?? [];
  for (const finalizer of finalizers) v.malformed("metadata.finalizers", finalizer, checkQualifiedName(finalizer));
  if (finalizers.includes(ORPHAN_FINALIZER) && finalizers.includes(FOREGROUND_DELETION_FINALIZER)) {
    v.invalid("metadata.finalizers", finalizers, "orphan and foregroundDeletion exclude each other");
  }
  validateFinalizersQualified(v, metadata);
}

export function validateMetadataUpdate(v: Violations, stored: ObjectMeta, proposed: ObjectMeta): void {
  if (stored.deletionTimestamp !== undefined) {
    const before = new Set(stored.finalizers);
    const added = (proposed.finalizers ?? []).filter((finalizer) => !before.has(finalizer));
    if (added.length > 0)
      v.forbidden("metadata.finalizers", `no finalizer can be added during deletion: ${added.join(", ")}`);
  }
  if (!proposed.resourceVersion) v.invalid("metadata.resourceVersion", "", "must be specified for an update");
  if ((proposed.generation ?? 0) < (stored.generation ?? 0)) {
    v.invalid("metadata.generation", proposed.generation ?? 0, "must not be decremented");
  }
  for (const field of IMMUTABLE_FIELDS) {
    if (stored[field] !== proposed[field]) v.invalid(`metadata.${field}`, proposed[field], "field is immutable");
  }
  validateCommon(v, proposed);
  validateFinalizersQualified(v, proposed);
}

const IMMUTABLE_FIELDS = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

function validateCommon(v: Violations, metadata: ObjectMeta): void {
  validateLabels(v, "metadata.labels", metadata.labels);
  validateAnnotations(v, "metadata.annotations", metadata.annotations);
  validateOwnerReferences(v, metadata.ownerReferences ?? []);
  validateManagedFields(v, metadata.managedFields ?? []);
}

export function validateLabels(v: Violations, field: string, labels: Record<string, string> | undefined): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    v.malformed(field, key, checkQualifiedName(key));
    v.malformed(field, value, checkLabelValue(value));
  }
}

export function validateAnnotations(
  v: Violations,
  field: string,
  annotations: Record<string, string> | undefined,
): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    v.malformed(field, key, checkQualifiedName(key.toLowerCase()));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) v.tooLong(field, MAX_ANNOTATION_BYTES);
}

function validateFinalizersQualified(v: Violations, metadata: ObjectMeta): void {
  metadata.finalizers?.forEach((finalizer, index) => {
    if (!finalizer.includes("/") && !UNQUALIFIED_FINALIZERS.includes(finalizer)) {
      v.invalid(
        `metadata.finalizers[${index}]`,
        finalizer,
        "must be a domain-prefixed name such as example.com/cleanup",
      );
    }
  });
}

function validateOwnerReferences(v: Violations, references: readonly OwnerReference[]): void {
  const field = "metadata.ownerReferences";
  let controllers = 0;
  for (const reference of references) {
    const { apiVersion, kind, name, uid, controller } = reference;
    const version = apiVersionParts(apiVersion)?.version ?? "";
    if (version === "") v.invalid(`${field}.apiVersion`, apiVersion, "must name a version");
    if (kind === "") v.invalid(`${field}.kind`, kind, "must not be empty");
    if (name === "") v.invalid(`${field}.name`, name, "must not be empty");
    if (uid === "") v.invalid(`${field}.uid`, uid, "must not be empty");
    if (apiVersion === "v1" && kind === "Event") v.invalid(field, reference, "an Event cannot own anything");
    if (controller && ++controllers > 1) v.invalid(field, references, "only one reference can be the controller");
  }
}

function apiVersionParts(apiVersion: string): { group: string; version: string } | undefined {
  const parts = apiVersion.split("/");
  if (parts.length > 2) return undefined;
  return parts.length === 2 ? { group: parts[0] ?? "", version: parts[1] ?? "" } : { group: "", version: apiVersion };
}

interface ManagedFields {
  manager?: string;
  operation?: string;
  fieldsType?: string;
  subresource?: string;
}

function validateManagedFields(v: Violations, entries: readonly unknown[]): void {
  (entries as readonly ManagedFields[]).forEach((entry, index) => {
    const field = `metadata.managedFields[${index}]`;
    const { manager = "", operation, fieldsType, subresource = "" } = entry;
    if (operation !== "Apply" && operation !== "Update") {
      v.invalid(`${field}.operation`, operation ?? "", "must be Apply or Update");
    }
    if (fieldsType && fieldsType !== "FieldsV1") v.invalid(`${field}.fieldsType`, fieldsType, "must be FieldsV1");
    if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) v.tooLong(`${field}.manager`, MAX_MANAGER_BYTES);
    if (Buffer.byteLength(subresource) > MAX_SUBRESOURCE_BYTES)
      v.tooLong(`${field}.subresource`, MAX_SUBRESOURCE_BYTES);
  });
}

/** VC-6 and every other place that holds a label selector. */
export function validateLabelSelector(v: Violations, field: string, selector: LabelSelector | undefined): void {
  validateLabels(v, `${field}.matchLabels`, selector?.matchLabels);
  selector?.matchExpressions?.forEach(({ key, operator, values = [] }, index) => {
    const path = `${field}.matchExpressions[${index}]`;
    switch (operator) {
      case "In":
      case "NotIn":
        if (values.length === 0) v.required(`${path}.values`, "In and NotIn need values");
        break;
      case "Exists":
      case "DoesNotExist":
        if (values.length > 0) v.forbidden(`${path}.values`, "Exists and DoesNotExist take no values");
        break;
      default:
        v.invalid(`${path}.operator`, operator, "must be In, NotIn, Exists or DoesNotExist");
    }
    v.malformed(`${path}.key`, key, checkQualifiedName(key));
    values.forEach((value, position) => {
      v.malformed(`${path}.values[${position}]`, value, checkLabelValue(value));
    });
  });
}
