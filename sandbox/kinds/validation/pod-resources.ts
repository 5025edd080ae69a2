/** Resources of the pod as a whole, and what its containers may ask for within them. */

import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { FullPodSpec, Quantities } from "../../schema/pod-types.ts";
import { containersNeed, milli } from "../defaulting/pod-resources.ts";
import { HUGE_PAGES, isHugePages, validateResourceName, validateResources } from "./resources.ts";

const POD_RESOURCES = ["cpu", "memory"];

export function validatePodResources(v: Violations, path: string, spec: FullPodSpec): void {
  const { resources, os } = spec;
  if (resources === undefined) return;
  if (os?.name === "windows") {
    v.forbidden(path, "not for Windows pods");
    return;
  }
  if (resources.claims) v.forbidden(`${path}.claims`, "claims belong to containers");
  validateResources(v, path, resources, new Set(), validatePodResourceName);
  validateTotals(v, path, spec, resources.requests ?? {}, resources.limits ?? {});
}

function validatePodResourceName(v: Violations, field: string, name: string): void {
  if (!validateResourceName(v, field, name)) return;
  if (!POD_RESOURCES.includes(name) && !isHugePages(name)) v.notSupported(field, name, [...POD_RESOURCES, HUGE_PAGES]);
}

function validateTotals(
  v: Violations,
  path: string,
  spec: FullPodSpec,
  requests: Quantities,
  limits: Quantities,
): void {
  for (const [name, request] of Object.entries(requests)) {
    if (containersNeed(spec, "requests", name) > milli(request)) {
      v.invalid(`${path}.requests[${name}]`, request, "must not be below what the containers request together");
    }
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (isHugePages(name) && containersNeed(spec, "limits", name) > milli(limit)) {
      v.invalid(`${path}.limits[${name}]`, limit, "must not be below the limits of the containers together");
    }
    spec.containers.forEach((container, index) => {
      const own = container.resources.limits?.[name];
      if (milli(own) > milli(limit)) {
        v.invalid(`${path}.containers[${index}][${name}].limits`, own, `must not exceed the pod's limit of ${limit}`);
      }
    });
  }
}
