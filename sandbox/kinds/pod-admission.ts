/** What a cluster's admission adds to pods beyond the defaults of decoding. */
import { isRecord } from "../store/frozen.ts";

type Fields = Record<string, unknown>;

const ADDED = Object.freeze({
  preemptionPolicy: "PreemptLowerPriority",
  priority: 0,
  tolerations: ["not-ready", "unreachable"].map((state) => ({
    key: `node.kubernetes.io/${state}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 300,
  })),
});

export const admitPodSpec = (spec: Fields): Fields => ({ ...ADDED, ...spec });

/** The quality-of-service class, from requests and limits of all containers. */
export function qosClass(spec: Fields): string {
  let any = false;
  let guaranteed = true;
  for (const list of [spec.containers, spec.initContainers]) {
    for (const container of Array.isArray(list) ? list : []) {
      const resources = isRecord(container) && isRecord(container.resources) ? container.resources : {};
      const limits = isRecord(resources.limits) ? resources.limits : {};
      const requests = isRecord(resources.requests) ? resources.requests : {};
      for (const name of ["cpu", "memory"]) {
        if (limits[name] !== undefined || requests[name] !== undefined) any = true;
        if (limits[name] === undefined || String(limits[name]) !== String(requests[name])) guaranteed = false;
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}
