/** What a cluster's admission adds to pods beyond the defaults of decoding. */
import { isRecord } from "../store/frozen.ts";

type Fields = Record<string, unknown>;

const ADDED = Object.freeze({ preemptionPolicy: "PreemptLowerPriority", priority: 0 });

/** How long a pod stays on a node in these states, unless it says so itself. */
const NODE_TOLERATIONS = ["not-ready", "unreachable"].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
}));

export function admitPodSpec(spec: Fields): Fields {
  const own = Array.isArray(spec.tolerations) ? spec.tolerations.filter(isRecord) : [];
  const added = NODE_TOLERATIONS.filter((wanted) => !own.some((given) => tolerates(given, wanted.key)));
  return { ...ADDED, ...spec, tolerations: [...own, ...added] };
}

const tolerates = (toleration: Fields, key: string): boolean =>
  (toleration.key === key || toleration.key === undefined) &&
  (toleration.effect === "NoExecute" || toleration.effect === undefined);

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
