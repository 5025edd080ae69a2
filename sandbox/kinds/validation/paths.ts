import type { Violations } from "@jobferry/shared/job/validation/errors.ts";

export const hasBackstep = (path: string): boolean => path.split("/").includes("..");

/** A path that stays below its directory. */
export function validateRelativePath(v: Violations, field: string, path: string): void {
  if (path.startsWith("/")) v.invalid(field, path, "must be a relative path");
  if (hasBackstep(path)) v.invalid(field, path, "must not contain '..'");
}

/** The same, and no name that the volume writer uses for itself. */
export function validateVolumePath(v: Violations, field: string, path: string): void {
  validateRelativePath(v, field, path);
  if (path.startsWith("..") && !path.startsWith("../")) v.invalid(field, path, "must not start with '..'");
}
