/** Pod templates and pods (VC-44): the rules that users of Jobs meet. */
import { parseGoInt } from "@jobferry/shared/job/go-int.ts";
import type { Pod, PodSpec, PodTemplate } from "@jobferry/shared/job/types.ts";
import { type FieldError, Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { FullPodSpec } from "../../schema/pod-types.ts";
import { validateAnnotations, validateLabels, validateMetadata } from "./metadata.ts";
import { validatePodSpec } from "./pod-spec.ts";

const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";
const DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";
const INT32 = 2 ** 31;

/** The API server reports label and annotation errors without the `metadata` step. */
export function validatePodTemplate(v: Violations, path: string, template: PodTemplate): void {
  const annotations = template.metadata?.annotations;
  validateLabels(v, `${path}.labels`, template.metadata?.labels);
  validateAnnotations(v, `${path}.annotations`, annotations);
  validatePodAnnotations(v, `${path}.annotations`, annotations ?? {}, template.spec);
  validatePodSpec(v, `${path}.spec`, template.spec as FullPodSpec, { isPod: false });
  if (template.spec.ephemeralContainers !== undefined) {
    v.forbidden(`${path}.spec.ephemeralContainers`, "ephemeral containers cannot be part of a template");
  }
}

/** A pod that came through `decodePod` and `defaultPod`. */
export function validatePodCreate(pod: Pod): FieldError[] {
  const v = new Violations();
  const spec = pod.spec as FullPodSpec;
  validateMetadata(v, pod.metadata);
  validatePodAnnotations(v, "metadata.annotations", pod.metadata.annotations ?? {}, spec);
  validatePodSpec(v, "spec", spec, { isPod: true });
  validateImageSpelling(v, "spec.containers", spec.containers);
  validateImageSpelling(v, "spec.initContainers", spec.initContainers ?? []);
  spec.volumes?.forEach((volume, index) => {
    volume.projected?.sources.forEach((source, position) => {
      if (source.serviceAccountToken && !spec.serviceAccountName) {
        const field = `spec.volumes[${index}].projected.sources[${position}].serviceAccountToken`;
        v.forbidden(field, "needs a serviceAccountName");
      }
    });
  });
  if (spec.ephemeralContainers) v.forbidden("spec.ephemeralContainers", "cannot be set on create");
  if (spec.nodeName && spec.schedulingGates)
    v.forbidden("spec.nodeName", "cannot be set while there are scheduling gates");
  return v.errors;
}

function validatePodAnnotations(v: Violations, path: string, annotations: Record<string, string>, spec: PodSpec): void {
  const mirror = annotations[MIRROR_ANNOTATION];
  if (mirror !== undefined && !spec.nodeName) v.invalid(`${path}[${MIRROR_ANNOTATION}]`, mirror, "needs spec.nodeName");
  const cost = annotations[DELETION_COST_ANNOTATION];
  if (cost !== undefined && !isDeletionCost(cost)) {
    v.invalid(`${path}[${DELETION_COST_ANNOTATION}]`, cost, "must be a 32-bit integer");
  }
}

function isDeletionCost(text: string): boolean {
  const cost = /^(-|[1-9]|0$)/.test(text) ? parseGoInt(text) : undefined;
  return cost !== undefined && cost >= -INT32 && cost < INT32;
}

function validateImageSpelling(v: Violations, path: string, containers: FullPodSpec["containers"]): void {
  containers.forEach(({ image = "" }, index) => {
    if (image !== image.trim()) v.invalid(`${path}[${index}].image`, image, "must not begin or end with a space");
  });
}
