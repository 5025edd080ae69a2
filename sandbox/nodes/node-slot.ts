import {
  CORDONED,
  meetsRequirement,
  type NodeSelectorTerm,
  type Toleration,
  tolerates,
} from "@jobferry/shared/job/node-rules.ts";
import { type Amounts, resourceUnits } from "@jobferry/shared/job/requests.ts";
import type { PodNeeds } from "./pod-needs.ts";
import type { KubeNode, Taint } from "./resources.ts";

/** One node as the scheduler sees it: what it offers, and the running sum of what its pods took. */
export class NodeSlot {
  readonly name: string;
  #node: KubeNode;
  #allocatable: ReadonlyMap<string, number>;
  readonly #used = new Map<string, number>();

  constructor(node: KubeNode) {
    this.name = node.metadata.name ?? "";
    this.#node = node;
    this.#allocatable = allocatableOf(node);
  }

  update(node: KubeNode): void {
    this.#node = node;
    this.#allocatable = allocatableOf(node);
  }

  take(requests: Amounts): void {
    for (const [resource, amount] of requests) this.#used.set(resource, (this.#used.get(resource) ?? 0) + amount);
  }

  giveBack(requests: Amounts): void {
    for (const [resource, amount] of requests) this.#used.set(resource, (this.#used.get(resource) ?? 0) - amount);
  }

  /** How full the node is, 0 to 1, by its scarcest common resource. */
  load(): number {
    let fullest = 0;
    for (const resource of ["cpu", "memory", "pods"]) {
      const offered = this.#allocatable.get(resource) ?? 0;
      if (offered > 0) fullest = Math.max(fullest, (this.#used.get(resource) ?? 0) / offered);
    }
    return fullest;
  }

  /** Why the pod cannot go here, in the scheduler's words; empty when it can. */
  misfits(needs: PodNeeds): string[] {
    if (this.#node.spec?.unschedulable && !tolerates(needs.tolerations, CORDONED))
      return ["node(s) were unschedulable"];
    const taint = untolerated(this.#node.spec?.taints ?? [], needs.tolerations);
    if (taint !== undefined) return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`];
    if (!this.#matchesSelectors(needs)) return ["node(s) didn't match Pod's node affinity/selector"];
    return this.#shortages(needs.requests);
  }

  #matchesSelectors(needs: PodNeeds): boolean {
    const labels = this.#node.metadata.labels ?? {};
    for (const [key, value] of Object.entries(needs.nodeSelector)) if (labels[key] !== value) return false;
    return needs.affinity === undefined || needs.affinity.some((term) => this.#matchesTerm(term, labels));
  }

  /** An empty term matches nothing. */
  #matchesTerm(term: NodeSelectorTerm, labels: Readonly<Record<string, string>>): boolean {
    const { matchExpressions = [], matchFields = [] } = term;
    if (matchExpressions.length + matchFields.length === 0) return false;
    return (
      matchExpressions.every((requirement) => meetsRequirement(requirement, labels[requirement.key])) &&
      matchFields.every((field) => meetsRequirement(field, field.key === "metadata.name" ? this.name : undefined))
    );
  }

  #shortages(requests: Amounts): string[] {
    const shortages: string[] = [];
    for (const [resource, amount] of requests) {
      const free = (this.#allocatable.get(resource) ?? 0) - (this.#used.get(resource) ?? 0);
      if (amount > 0 && amount > free)
        shortages.push(resource === "pods" ? "Too many pods" : `Insufficient ${resource}`);
    }
    return shortages;
  }
}

function allocatableOf(node: KubeNode): Map<string, number> {
  const offered = node.status?.allocatable ?? node.status?.capacity ?? {};
  return new Map(Object.entries(offered).map(([resource, quantity]) => [resource, resourceUnits(resource, quantity)]));
}

function untolerated(taints: readonly Taint[], tolerations: readonly Toleration[]): Taint | undefined {
  return taints.find((taint) => taint.effect !== "PreferNoSchedule" && !tolerates(tolerations, taint));
}
