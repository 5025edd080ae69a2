import type { NodeSelectorTerm, Toleration } from "@jobferry/shared/job/node-rules.ts";
import { type Amounts, podRequests } from "@jobferry/shared/job/requests.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";

/** Everything about a pod that decides where it fits; pods with the same `signature` fit on the same nodes. */
export interface PodNeeds {
  readonly requests: Amounts;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Alternatives: one of them must match. Undefined: anywhere. */
  readonly affinity: readonly NodeSelectorTerm[] | undefined;
  readonly tolerations: readonly Toleration[];
  readonly priority: number;
}

interface SchedulingFields {
  nodeSelector?: Record<string, string>;
  affinity?: { nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: unknown } } };
  tolerations?: Toleration[];
  priority?: number;
}

function requiredTerms(spec: SchedulingFields): NodeSelectorTerm[] | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined ? undefined : ((required.nodeSelectorTerms ?? []) as NodeSelectorTerm[]);
}

export function needsOf(pod: Pod): PodNeeds {
  const spec = pod.spec as SchedulingFields;
  return {
    requests: podRequests(pod.spec),
    nodeSelector: spec.nodeSelector ?? {},
    affinity: requiredTerms(spec),
    tolerations: spec.tolerations ?? [],
    priority: spec.priority ?? 0,
  };
}

export function signatureOf(needs: PodNeeds): string {
  const { requests, nodeSelector, affinity, tolerations, priority } = needs;
  return JSON.stringify([priority, [...requests], nodeSelector, affinity, tolerations]);
}
