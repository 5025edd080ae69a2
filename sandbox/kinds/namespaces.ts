import { dnsLabel } from "../api/names.ts";
import type { Strategy } from "../api/types.ts";

const NAME_LABEL = "kubernetes.io/metadata.name";

export const namespaceStrategy: Strategy = {
  validateName: dnsLabel,
  answersWithDeleted: true,

  applyDefaults: (draft) => {
    if (draft.metadata.labels?.[NAME_LABEL] === draft.metadata.name || draft.metadata.name === "") return draft;
    return {
      ...draft,
      metadata: { ...draft.metadata, labels: { ...draft.metadata.labels, [NAME_LABEL]: draft.metadata.name } },
    };
  },

  prepareCreate: (draft) => ({ ...draft, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } }),
  prepareUpdate: (before, after) => ({ ...after, spec: before.spec, status: before.status }),
  prepareStatus: (before, after) => ({ ...after, spec: before.spec }),
};
