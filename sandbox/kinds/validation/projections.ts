import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { Projection } from "../../schema/pod-types.ts";
import { validateVolumePath } from "./paths.ts";
import { validateDownwardFile, validateKeyToPath } from "./volume-files.ts";

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

export function validateProjections(v: Violations, path: string, sources: readonly Projection[]): void {
  const taken = new Set<string>();
  const claim = (file: string): void => {
    if (file !== "" && taken.has(file)) v.invalid(path, file, "two sources write the same path");
    taken.add(file);
  };
  sources.forEach((source, index) => {
    const field = `${path}.sources[${index}]`;
    for (const kind of ["secret", "configMap"] as const) {
      const keys = source[kind];
      if (keys && !keys.name) v.required(`${field}.${kind}.name`);
      keys?.items?.forEach((item, position) => {
        validateKeyToPath(v, `${field}.${kind}.items[${position}]`, item);
        claim(item.path);
      });
    }
    for (const file of source.downwardAPI?.items ?? []) {
      validateDownwardFile(v, `${field}.downwardAPI`, file);
      claim(file.path);
    }
    if (source.serviceAccountToken) validateToken(v, path, `${field}.serviceAccountToken`, source.serviceAccountToken);
    const kinds = [source.secret, source.configMap, source.downwardAPI, source.serviceAccountToken].filter(Boolean);
    if (kinds.length > 1) v.forbidden(field, "a source has only one type");
  });
}

function validateToken(
  v: Violations,
  volume: string,
  path: string,
  token: NonNullable<Projection["serviceAccountToken"]>,
): void {
  const { expirationSeconds = 0 } = token;
  if (expirationSeconds < MIN_TOKEN_SECONDS || expirationSeconds > MAX_TOKEN_SECONDS) {
    const detail = `must be between ${MIN_TOKEN_SECONDS} and ${MAX_TOKEN_SECONDS}`;
    v.invalid(`${path}.expirationSeconds`, expirationSeconds, detail);
  }
  // Reported under the volume, not the source.
  if (token.path === "") v.required(`${volume}.path`);
  else validateVolumePath(v, `${volume}.path`, token.path);
}
