import type { PodSpec } from "@jobferry/shared/job/types.ts";
import type { Case } from "./generate.ts";

type Chooses = PodSpec & {
  nodeSelector?: object;
  tolerations?: { operator?: string; key?: string }[];
  affinity?: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: Term[] } } };
};
interface Term {
  matchExpressions?: { operator: string }[];
  matchFields?: { operator: string }[];
}

/** What a case contains, and what came of it. */
export function featuresOf({ nodes, loads, pod, pods }: Case, bound: number): string[] {
  const spec = pod as Chooses;
  const terms = spec.affinity?.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms ?? [];
  const resources = (one: PodSpec): string[] =>
    [...one.containers, ...(one.initContainers ?? [])].flatMap(({ resources: { requests, limits } = {} }) =>
      Object.keys({ ...requests, ...limits }),
    );
  return [
    ...new Set([
      `verdict: ${bound === 0 ? "none bound" : bound < pods ? "some bound" : "all bound"}`,
      `nodes: ${nodes.length}`,
      ...nodes.flatMap((node) => (node.spec?.taints ?? []).map(({ effect }) => `node: taint ${effect}`)),
      ...nodes.flatMap((node) => (node.spec?.unschedulable ? ["node: cordoned"] : [])),
      ...(loads.length > 0 ? ["node: has pods already"] : []),
      ...Object.keys(spec.nodeSelector ?? {}).map((key) => `pod: nodeSelector ${key}`),
      ...(terms.length > 1 ? ["pod: affinity with several terms"] : []),
      ...terms.flatMap(({ matchExpressions, matchFields }) =>
        matchExpressions || matchFields ? [] : ["pod: affinity with an empty term"],
      ),
      ...terms.flatMap(({ matchExpressions = [] }) =>
        matchExpressions.map(({ operator }) => `pod: affinity ${operator}`),
      ),
      ...terms.flatMap(({ matchFields = [] }) => matchFields.map(({ operator }) => `pod: name ${operator}`)),
      ...(spec.tolerations ?? []).map(
        ({ operator = "by default", key }) => `pod: toleration ${operator}${key === undefined ? " of all" : ""}`,
      ),
      ...resources(pod).map((resource) => `pod: ${resource}`),
      ...(spec.initContainers ?? []).map(({ restartPolicy }) =>
        restartPolicy ? "pod: sidecar" : "pod: init container",
      ),
      ...(spec.overhead ? ["pod: overhead"] : []),
      ...(spec.resources ? ["pod: resources of the whole pod"] : []),
      ...(spec.containers.some(({ ports }) => ports) ? ["pod: host port"] : []),
    ]),
  ];
}
