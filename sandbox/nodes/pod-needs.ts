import type { Container, Pod } from "@jobferry/shared/job/types.ts";
import { resourceUnits } from "./quantity.ts";

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

export interface NodeSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[];
  matchFields?: NodeSelectorRequirement[];
}

/** Units by resource name (quantity.ts). */
export type Amounts = ReadonlyMap<string, number>;

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
  overhead?: Record<string, string>;
}

function requiredTerms(spec: SchedulingFields): NodeSelectorTerm[] | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined ? undefined : ((required.nodeSelectorTerms ?? []) as NodeSelectorTerm[]);
}

export function needsOf(pod: Pod): PodNeeds {
  const spec = pod.spec as SchedulingFields;
  return {
    requests: podRequests(pod),
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

/**
 * What a node must have free: the app containers and sidecars together, or the hungriest init container with the sidecars
 * started before it, whichever is more. The pod itself takes one of the node's `pods`.
 */
export function podRequests(pod: Pod): Amounts {
  const total = new Map<string, number>([["pods", 1]]);
  for (const container of pod.spec.containers) addAll(total, containerRequests(container));
  const sidecars = new Map<string, number>();
  let peak: Map<string, number> | undefined;
  for (const container of pod.spec.initContainers ?? []) {
    const requests = containerRequests(container);
    if (container.restartPolicy === "Always") {
      addAll(sidecars, requests);
      addAll(total, requests);
    } else {
      peak ??= new Map();
      for (const [resource, amount] of requests) raise(peak, resource, amount + (sidecars.get(resource) ?? 0));
    }
  }
  for (const [resource, amount] of peak ?? []) raise(total, resource, amount);
  for (const [resource, quantity] of Object.entries((pod.spec as SchedulingFields).overhead ?? {}))
    add(total, resource, resourceUnits(resource, quantity));
  return total;
}

/** A limit without a request is also the request. */
function containerRequests(container: Container): [string, number][] {
  const { requests, limits } = container.resources ?? {};
  if (requests === undefined && limits === undefined) return [];
  return Object.entries({ ...limits, ...requests }).map(([resource, quantity]) => [
    resource,
    resourceUnits(resource, quantity),
  ]);
}

const add = (sums: Map<string, number>, resource: string, amount: number): void => {
  sums.set(resource, (sums.get(resource) ?? 0) + amount);
};

const raise = (peaks: Map<string, number>, resource: string, amount: number): void => {
  peaks.set(resource, Math.max(peaks.get(resource) ?? 0, amount));
};

function addAll(sums: Map<string, number>, amounts: Iterable<readonly [string, number]>): void {
  for (const [resource, amount] of amounts) add(sums, resource, amount);
}
