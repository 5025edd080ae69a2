/** References of the downward API. */
import { checkQualifiedName } from "@jobferry/shared/job/names.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { FieldRef, ResourceFieldRef } from "../../schema/pod-types.ts";

const CONVERTIBLE_FIELDS = new Set([
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.restartPolicy",
  "spec.serviceAccountName",
  "spec.schedulerName",
  "status.phase",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
  "spec.host",
]);

export function validateFieldRef(v: Violations, path: string, reference: FieldRef, supported: readonly string[]): void {
  const { apiVersion = "", fieldPath } = reference;
  if (apiVersion === "" || fieldPath === "") {
    v.required(`${path}.${apiVersion === "" ? "apiVersion" : "fieldPath"}`);
    return;
  }
  const [, owner, key = ""] = /^(.+?)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  const convertible =
    owner === undefined
      ? CONVERTIBLE_FIELDS.has(fieldPath)
      : owner === "metadata.annotations" || owner === "metadata.labels";
  if (apiVersion !== "v1" || !convertible) {
    v.invalid(`${path}.fieldPath`, fieldPath, "is not a field of a v1 pod that can be handed down");
  } else if (owner !== undefined) {
    v.malformed(path, key, checkQualifiedName(owner === "metadata.annotations" ? key.toLowerCase() : key));
  } else {
    const field = fieldPath === "spec.host" ? "spec.nodeName" : fieldPath;
    if (!supported.includes(field)) v.notSupported(`${path}.fieldPath`, field, supported);
  }
}

const RESOURCES = ["cpu", "memory", "ephemeral-storage"].flatMap((name) => [`limits.${name}`, `requests.${name}`]);
const HUGE_PAGES = /^(limits|requests)\.hugepages-/;
const CPU_DIVISORS = ["0", "1m", "1"];
const BYTE_DIVISORS = ["0", "1", ..."kMGTPE".split("").map((suffix) => `1${suffix}`)].concat(
  ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((suffix) => `1${suffix}`),
);

export function validateResourceFieldRef(
  v: Violations,
  path: string,
  { containerName, resource, divisor }: ResourceFieldRef,
  inVolume: boolean,
): void {
  if (inVolume && !containerName) v.required(`${path}.containerName`);
  else if (resource === "") v.required(`${path}.resource`);
  else if (!RESOURCES.includes(resource) && !HUGE_PAGES.test(resource)) {
    v.notSupported(`${path}.resource`, resource, RESOURCES);
  }
  const known = RESOURCES.includes(resource) || HUGE_PAGES.test(resource);
  const divisors = resource.endsWith(".cpu") ? CPU_DIVISORS : BYTE_DIVISORS;
  if (known && !divisors.includes(divisor))
    v.invalid(`${path}.divisor`, resource, `must be one of ${divisors.join(", ")}`);
}
