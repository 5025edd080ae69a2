import { compileSelector } from "@jobferry/shared/job/selector.ts";
import type { JobQueue } from "@jobferry/shared/kube/fleet-resources.ts";
import type { OnClusterLost } from "@jobferry/shared/protocol/delivery.ts";
import { DEFAULT_QUEUE } from "@jobferry/shared/protocol/marks.ts";
import type { QueueView } from "./eligibility.ts";

type Labels = Readonly<Record<string, string>> | undefined;

/** The queues of the hub. `default` exists also when nobody wrote it down. */
export class Queues {
  readonly #queueNamed: (name: string) => JobQueue | undefined;
  readonly #labelsOfNamespace: (name: string) => Labels;
  readonly #running = new Map<string, Set<string>>();

  constructor(queueNamed: (name: string) => JobQueue | undefined, labelsOfNamespace: (name: string) => Labels) {
    this.#queueNamed = queueNamed;
    this.#labelsOfNamespace = labelsOfNamespace;
  }

  /** Undefined: no such queue. */
  view(name: string): QueueView | undefined {
    const queue = this.#queueNamed(name);
    if (queue === undefined && name !== DEFAULT_QUEUE) return undefined;
    const { namespaceSelector, clusterSelector, placement, paused, quota } = queue?.spec ?? {};
    const acceptsLabels =
      namespaceSelector === undefined ? undefined : (compileSelector(namespaceSelector) ?? (() => false));
    return {
      name,
      paused: paused === true,
      placement: placement ?? "Spread",
      acceptsNamespace: (namespace) => acceptsLabels?.(this.#labelsOfNamespace(namespace)) ?? true,
      matchesCluster: clusterSelector === undefined ? () => true : (compileSelector(clusterSelector) ?? (() => false)),
      maxJobs: quota?.jobs,
      running: this.running(name),
    };
  }

  onClusterLost(name: string): OnClusterLost {
    return this.#queueNamed(name)?.spec?.onClusterLost ?? "Redispatch";
  }

  running(name: string): number {
    return this.#running.get(name)?.size ?? 0;
  }

  /** A Job of this queue is assigned to some cluster. */
  holds(name: string, uid: string): void {
    const running = this.#running.get(name);
    if (running === undefined) this.#running.set(name, new Set([uid]));
    else running.add(uid);
  }

  letGo(uid: string): void {
    for (const [name, running] of this.#running)
      if (running.delete(uid) && running.size === 0) this.#running.delete(name);
  }
}
