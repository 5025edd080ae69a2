import type { Strategy } from "../api/types.ts";
import { isRecord } from "../store/frozen.ts";

const DEFAULTS = Object.freeze({
  source: Object.freeze({}),
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: "",
  reportingInstance: "",
});

export const eventStrategy: Strategy = {
  createOnUpdate: true,

  applyDefaults: (draft) => ({ ...DEFAULTS, ...draft }),

  validateCreate(draft) {
    const about = isRecord(draft.involvedObject) ? draft.involvedObject : {};
    const expected = draft.metadata.namespace;
    const namespace = about.namespace ?? "";
    // Events about cluster-scoped objects live in "default".
    if (namespace === expected || (namespace === "" && expected === "default")) return [];
    return [
      {
        field: "involvedObject.namespace",
        kind: "Invalid",
        badValue: namespace,
        detail: "does not match event.namespace",
      },
    ];
  },
};
