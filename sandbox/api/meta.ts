import type { OwnerReference } from "@jobferry/shared/job/types.ts";

import { jsonEqual, type Stored } from "../store/frozen.ts";
import type { FieldFault } from "./errors.ts";
import { dnsSubdomain, labelValue, qualifiedName } from "./names.ts";
import type { Draft, ResourceType } from "./types.ts";

const ANNOTATION_LIMIT = 256 * 1024;
/** Finalizers from before names had to be qualified. */
const OLD_FINALIZERS: ReadonlySet<string> = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

const invalidField = (field: string, badValue: unknown, detail: string): FieldFault => ({
  field,
  kind: "Invalid",
  badValue,
  detail,
});

/** Rules every object's metadata obeys when it is created (VC-1). */
export function validateMeta(type: ResourceType, draft: Draft): FieldFault[] {
  const { name, generateName } = draft.metadata;
  const errors: FieldFault[] = [];
  const check = type.strategy.validateName ?? dnsSubdomain;
  if (generateName !== undefined && generateName !== "" && name === "")
    for (const complaint of check(generateName.replace(/-$/, "a")))
      errors.push(invalidField("metadata.generateName", generateName, complaint));
  if (name === "")
    errors.push({ field: "metadata.name", kind: "Required", detail: "name or generateName is required" });
  else for (const complaint of check(name)) errors.push(invalidField("metadata.name", name, complaint));
  return [...errors, ...validateMetaContents(draft.metadata)];
}

/** Rules for metadata on any update, status included (MU). */
export function validateMetaUpdate(before: Stored, after: Draft): FieldFault[] {
  const errors: FieldFault[] = [];
  const fixed = ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"];
  for (const field of fixed as (keyof Stored["metadata"])[]) {
    if (!jsonEqual(before.metadata[field], after.metadata[field]))
      errors.push(invalidField(`metadata.${field}`, after.metadata[field] ?? null, "field is immutable"));
  }
  if (before.metadata.deletionTimestamp !== undefined) {
    const known = new Set(before.metadata.finalizers);
    const added = (after.metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer));
    if (added.length > 0)
      errors.push({
        field: "metadata.finalizers",
        kind: "Forbidden",
        detail: `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added
          .map((finalizer) => JSON.stringify(finalizer))
          .join(", ")}}`,
      });
  }
  // The server looks twice, once for all types and once for this one, and once more at the contents as such.
  const contents = validateMetaContents(after.metadata, before.metadata);
  return [...errors, ...errors, ...contents, ...contents, ...contents, ...contents];
}

function validateMetaContents(metadata: Stored["metadata"], before?: Stored["metadata"]): FieldFault[] {
  const errors: FieldFault[] = [];
  // Unchanged parts were checked when they came in; most updates touch none of them.
  if (metadata.labels !== before?.labels) errors.push(...validateLabels("metadata.labels", metadata.labels));
  if (metadata.annotations !== before?.annotations)
    errors.push(...validateAnnotations("metadata.annotations", metadata.annotations));
  if (metadata.ownerReferences !== before?.ownerReferences)
    errors.push(...validateOwners("metadata.ownerReferences", metadata.ownerReferences));
  if (metadata.finalizers !== before?.finalizers) errors.push(...validateFinalizers(metadata.finalizers));
  return errors;
}

function validateLabels(field: string, labels: Readonly<Record<string, string>> | undefined): FieldFault[] {
  const errors: FieldFault[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const complaint of qualifiedName(key)) errors.push(invalidField(field, key, complaint));
    for (const complaint of labelValue(value)) errors.push(invalidField(field, value, complaint));
  }
  return errors;
}

function validateAnnotations(field: string, annotations: Readonly<Record<string, string>> | undefined): FieldFault[] {
  const errors: FieldFault[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
    for (const complaint of qualifiedName(key.toLowerCase())) errors.push(invalidField(field, key, complaint));
  }
  if (size > ANNOTATION_LIMIT)
    errors.push({ field, kind: "TooLong", detail: `may not be more than ${ANNOTATION_LIMIT} bytes` });
  return errors;
}

function validateOwners(field: string, owners: readonly OwnerReference[] | undefined): FieldFault[] {
  const errors: FieldFault[] = [];
  const controllers: OwnerReference[] = [];
  for (const owner of owners ?? []) {
    for (const part of ["apiVersion", "kind", "name", "uid"] as const)
      if (owner[part] === undefined || owner[part] === "")
        errors.push(
          invalidField(
            `${field}.${part}`,
            owner[part] ?? "",
            part === "apiVersion" ? "version must not be empty" : "must not be empty",
          ),
        );
    if (owner.controller === true) controllers.push(owner);
  }
  const [first, second] = controllers;
  if (first !== undefined && second !== undefined)
    errors.push(
      invalidField(
        field,
        owners,
        `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`,
      ),
    );
  return errors;
}

function validateFinalizers(finalizers: readonly string[] | undefined): FieldFault[] {
  const errors: FieldFault[] = [];
  for (const [index, finalizer] of (finalizers ?? []).entries()) {
    for (const complaint of qualifiedName(finalizer))
      errors.push(invalidField("metadata.finalizers", finalizer, complaint));
    if (!finalizer.includes("/") && !OLD_FINALIZERS.has(finalizer))
      errors.push(
        invalidField(
          `metadata.finalizers[${index}]`,
          finalizer,
          "name is neither a standard finalizer name nor is it fully qualified",
        ),
      );
  }
  const policies = (finalizers ?? []).filter((f) => f === "orphan" || f === "foregroundDeletion");
  if (new Set(policies).size > 1)
    errors.push(
      invalidField("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set"),
    );
  return errors;
}

/** Everything of an object but metadata and status, for counting generations. */
export function sameSpec(before: Stored, after: Draft): boolean {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (key === "metadata" || key === "status") continue;
    if (!jsonEqual(before[key], after[key])) return false;
  }
  return true;
}
