import type { Pod } from "@jobferry/shared/job/types.ts";
import { needsOf, type PodNeeds, signatureOf } from "./pod-needs.ts";

/** Pods that fit on the same nodes wait together: when the first of them fits nowhere, none does. */
export interface PendingGroup {
  readonly signature: string;
  readonly needs: PodNeeds;
  readonly arrival: number;
  /** By UID, oldest first. */
  readonly pods: Map<string, Pod>;
  /** UIDs of those that do not yet say on the server that they fit nowhere. */
  readonly untold: Set<string>;
  /** Why the group fits nowhere; undefined while it may be tried. */
  blocked: string | undefined;
}

/** Pods without a node. Every operation costs the same however many wait, as long as their needs are not all different. */
export class PendingPods {
  readonly #groups = new Map<string, PendingGroup>();
  readonly #groupOf = new Map<string, PendingGroup>();
  #arrivals = 0;

  get size(): number {
    return this.#groupOf.size;
  }

  /** Adds the pod, or takes note of its new state; says which group it is in. */
  put(pod: Pod): PendingGroup {
    const uid = pod.metadata.uid ?? "";
    const needs = needsOf(pod);
    const signature = signatureOf(needs);
    const known = this.#groupOf.get(uid);
    if (known !== undefined && known.signature !== signature) this.remove(uid);
    let group = this.#groups.get(signature);
    if (group === undefined) {
      group = { signature, needs, arrival: this.#arrivals++, pods: new Map(), untold: new Set(), blocked: undefined };
      this.#groups.set(signature, group);
    }
    group.pods.set(uid, pod);
    if (saysUnschedulable(pod)) group.untold.delete(uid);
    else group.untold.add(uid);
    this.#groupOf.set(uid, group);
    return group;
  }

  remove(uid: string): void {
    const group = this.#groupOf.get(uid);
    if (group === undefined) return;
    this.#groupOf.delete(uid);
    group.pods.delete(uid);
    group.untold.delete(uid);
    if (group.pods.size === 0) this.#groups.delete(group.signature);
  }

  groupOf(uid: string): PendingGroup | undefined {
    return this.#groupOf.get(uid);
  }

  /** Groups that may be tried: the most important first, then the one that has waited longest. */
  ready(): PendingGroup[] {
    return [...this.#groups.values()]
      .filter((group) => group.blocked === undefined)
      .sort((a, b) => b.needs.priority - a.needs.priority || a.arrival - b.arrival);
  }

  /** Lets the blocked groups for which `mayFitNow` holds be tried again. */
  unblock(mayFitNow: (needs: PodNeeds) => boolean): void {
    for (const group of this.#groups.values())
      if (group.blocked !== undefined && mayFitNow(group.needs)) group.blocked = undefined;
  }
}

const saysUnschedulable = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable") ?? false;
