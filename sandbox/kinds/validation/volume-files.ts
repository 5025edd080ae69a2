/** Entries of volumes that put single files in place. */

import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { DownwardFile, KeyToPath } from "../../schema/pod-types.ts";
import { validateFieldRef, validateResourceFieldRef } from "./downward.ts";
import { validateVolumePath } from "./paths.ts";

const VOLUME_FIELDS = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];

export function validateKeyToPath(v: Violations, path: string, item: KeyToPath): void {
  if (item.key === "") v.required(`${path}.key`);
  if (item.path === "") v.required(`${path}.path`);
  validateVolumePath(v, `${path}.path`, item.path);
  validateMode(v, `${path}.mode`, item.mode);
}

/** The API server names the volume source here, not the entry. */
export function validateDownwardFile(v: Violations, path: string, file: DownwardFile): void {
  const { fieldRef, resourceFieldRef } = file;
  if (file.path === "") v.required(`${path}.path`);
  validateVolumePath(v, `${path}.path`, file.path);
  if (fieldRef) {
    validateFieldRef(v, `${path}.fieldRef`, fieldRef, VOLUME_FIELDS);
    if (resourceFieldRef) v.invalid(path, "resource", "only one of fieldRef and resourceFieldRef is allowed");
  } else if (resourceFieldRef) validateResourceFieldRef(v, `${path}.resourceFieldRef`, resourceFieldRef, true);
  else v.required(path, "one of fieldRef and resourceFieldRef");
  validateMode(v, `${path}.mode`, file.mode);
}

export function validateMode(v: Violations, field: string, mode: number | undefined): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) v.invalid(field, mode, "must be between 0 and 0777 (octal)");
}
