import type { Pod } from "@jobferry/shared/job/types.ts";
import { withNullTimes } from "../api/conditions.ts";
import type { FieldFault } from "../api/errors.ts";
import { validateMetaUpdate } from "../api/meta.ts";
import type { Draft, Strategy } from "../api/types.ts";
import { isRecord, jsonEqual, type Stored } from "../store/frozen.ts";
import { defaultPod } from "./defaulting/pod.ts";
import { admitPodSpec, qosClass } from "./pod-admission.ts";
import { validatePodCreate } from "./validation/pod-template.ts";

type Fields = Record<string, unknown>;

const DEFAULT_GRACE_SECONDS = 30;
const specOf = (object: Readonly<Fields>): Fields => (isRecord(object.spec) ? object.spec : {});
const statusOf = (object: Readonly<Fields>): Fields => (isRecord(object.status) ? object.status : {});

export const podStrategy: Strategy = {
  answersWithDeleted: true,

  defaultsOnlySpec: true,
  applyDefaults: (draft) => ({ ...draft, spec: defaultPod(draft as unknown as Pod).spec }),

  prepareCreate(draft) {
    const spec = admitPodSpec(specOf(draft));
    return { ...draft, spec, status: { phase: "Pending", qosClass: qosClass(spec) } };
  },

  checksMetadata: true,
  validateCreate: (draft) => validatePodCreate(draft as unknown as Pod),

  prepareUpdate: (before, after) => ({ ...after, status: before.status }),

  validateUpdate: (before, after) => [...validateMetaUpdate(before, after), ...validateSpecUpdate(before, after)],

  prepareStatus: (before, after) => ({
    ...after,
    spec: before.spec,
    metadata: withOwners(after.metadata, before.metadata.ownerReferences),
    status: withNullTimes({ ...statusOf(after), qosClass: statusOf(before).qosClass }),
  }),
  validateStatus: (before, after) => validateMetaUpdate(before, after),

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

const MUTABLE_RULE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

function validateSpecUpdate(before: Stored, after: Draft): FieldFault[] {
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
