import { decodePod } from "@jobferry/shared/job/decode.ts";
import { defaultPod } from "@jobferry/shared/job/pod-defaulting.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { FieldError } from "@jobferry/shared/job/validation/errors.ts";
import { dnsLabel } from "../api/names.ts";
import type { Draft, Strategy } from "../api/types.ts";
import { isRecord, jsonEqual, type Stored } from "../store/frozen.ts";
import { admitPodSpec, qosClass } from "./pod-admission.ts";

type Fields = Record<string, unknown>;

const DEFAULT_GRACE_SECONDS = 30;
const specOf = (object: Readonly<Fields>): Fields => (isRecord(object.spec) ? object.spec : {});
const statusOf = (object: Readonly<Fields>): Fields => (isRecord(object.status) ? object.status : {});
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);

export const podStrategy: Strategy = {
  answersWithDeleted: true,

  decode: decodePod,

  applyDefaults: (draft) => ({ ...draft, spec: defaultPod(draft as unknown as Pod).spec }),

  prepareCreate(draft) {
    const spec = admitPodSpec(specOf(draft));
    return { ...draft, spec, status: { phase: "Pending", qosClass: qosClass(spec) } };
  },

  validateCreate: (draft) => validatePodSpec(specOf(draft), "spec"),

  prepareUpdate: (before, after) => ({ ...after, status: before.status }),

  validateUpdate: (before, after) => [...validatePodSpec(specOf(after), "spec"), ...validateSpecUpdate(before, after)],

  prepareStatus: (before, after) => ({
    ...after,
    spec: before.spec,
    metadata: withOwners(after.metadata, before.metadata.ownerReferences),
    status: { ...statusOf(after), qosClass: statusOf(before).qosClass },
  }),

  share(draft, intern) {
    const spec: Fields = {};
    for (const [key, value] of Object.entries(specOf(draft))) spec[key] = intern(value);
    const { ownerReferences, finalizers } = draft.metadata;
    return {
      ...draft,
      metadata: {
        ...draft.metadata,
        ...(ownerReferences === undefined ? {} : { ownerReferences: intern(ownerReferences) }),
        ...(finalizers === undefined ? {} : { finalizers: intern(finalizers) }),
      },
      spec: Object.isFrozen(draft.spec) ? draft.spec : spec,
    };
  },

  gracePeriod(pod, requested) {
    const phase = statusOf(pod).phase;
    if (specOf(pod).nodeName === undefined || phase === "Succeeded" || phase === "Failed") return 0;
    const own = specOf(pod).terminationGracePeriodSeconds;
    const seconds = requested ?? (typeof own === "number" ? own : DEFAULT_GRACE_SECONDS);
    return seconds < 0 ? 1 : seconds;
  },
};

/** The status endpoint must not touch owner references. */
function withOwners(metadata: Stored["metadata"], owners: Stored["metadata"]["ownerReferences"]): Stored["metadata"] {
  const { ownerReferences: _, ...rest } = metadata;
  return owners === undefined ? rest : { ...rest, ownerReferences: owners };
}

/** The parts of pod validation that a Job's or a person's mistake runs into. */
export function validatePodSpec(spec: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const containers = listOf(spec.containers);
  if (containers.length === 0) errors.push({ field: `${path}.containers`, kind: "Required", detail: "" });
  const names = new Set<string>();
  for (const list of ["initContainers", "containers"])
    for (const [index, container] of listOf(spec[list]).entries())
      errors.push(...validateContainer(container, `${path}.${list}[${index}]`, names));
  const policies = ["Always", "Never", "OnFailure"];
  if (typeof spec.restartPolicy === "string" && !policies.includes(spec.restartPolicy))
    errors.push(notSupported(`${path}.restartPolicy`, spec.restartPolicy, ["Always", "OnFailure", "Never"]));
  const deadline = spec.activeDeadlineSeconds;
  if (typeof deadline === "number" && (deadline < 1 || deadline > 2 ** 31 - 1))
    errors.push({
      field: `${path}.activeDeadlineSeconds`,
      kind: "Invalid",
      badValue: deadline,
      detail: "must be between 1 and 2147483647, inclusive",
    });
  return errors;
}

const notSupported = (field: string, badValue: unknown, values: string[]): FieldError => ({
  field,
  kind: "NotSupported",
  badValue,
  detail: `supported values: ${values.map((value) => `"${value}"`).join(", ")}`,
});

function validateContainer(container: Fields, path: string, names: Set<string>): FieldError[] {
  const errors: FieldError[] = [];
  const name = typeof container.name === "string" ? container.name : "";
  if (name === "") errors.push({ field: `${path}.name`, kind: "Required", detail: "" });
  for (const complaint of name === "" ? [] : dnsLabel(name))
    errors.push({ field: `${path}.name`, kind: "Invalid", badValue: name, detail: complaint });
  if (name !== "" && names.has(name))
    errors.push({ field: `${path}.name`, kind: "Duplicate", badValue: name, detail: "" });
  names.add(name);
  if (typeof container.image !== "string" || container.image === "")
    errors.push({ field: `${path}.image`, kind: "Required", detail: "" });
  const pull = container.imagePullPolicy;
  if (typeof pull === "string" && !["Always", "IfNotPresent", "Never"].includes(pull))
    errors.push(notSupported(`${path}.imagePullPolicy`, pull, ["Always", "IfNotPresent", "Never"]));
  for (const [index, variable] of listOf(container.env).entries())
    if (typeof variable.name !== "string" || variable.name === "")
      errors.push({ field: `${path}.env[${index}].name`, kind: "Required", detail: "" });
  return errors;
}

const MUTABLE_RULE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

function validateSpecUpdate(before: Stored, after: Draft): FieldError[] {
  if (before.spec === after.spec) return [];
  const strip = (spec: Fields): Fields => {
    const { activeDeadlineSeconds: _d, tolerations: _t, schedulingGates: _g, ...rest } = spec;
    const images = (list: unknown): unknown =>
      Array.isArray(list) ? list.map(({ image: _i, ...other }) => other) : list;
    return { ...rest, containers: images(rest.containers), initContainers: images(rest.initContainers) };
  };
  if (jsonEqual(strip(specOf(before)), strip(specOf(after)))) return [];
  return [{ field: "spec", kind: "Forbidden", detail: MUTABLE_RULE }];
}
