import type { Strategy } from "../api/types.ts";
import { isRecord } from "../store/frozen.ts";
import { defaultTemplate } from "./pod-defaults.ts";

export const DEFAULT_DELETE_WARNING =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

export const jobStrategy: Strategy = {
  defaultPropagation: "Orphan",
  defaultPropagationWarning: DEFAULT_DELETE_WARNING,

  applyDefaults(draft) {
    if (!isRecord(draft.spec)) return draft;
    return { ...draft, spec: { ...draft.spec, template: defaultTemplate(draft.spec.template) } };
  },

  prepareCreate: (draft) => ({ ...draft, status: {} }),
  prepareUpdate: (before, after) => ({ ...after, status: before.status }),
  prepareStatus: (before, after) => ({ ...after, spec: before.spec }),
};
