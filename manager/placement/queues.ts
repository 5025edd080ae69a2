import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import { type Amounts, resourceUnits } from "@jobferry/shared/job/requests.ts";
import { compileSelector } from "@jobferry/shared/job/selector.ts";
import type { OnClusterLost } from "@jobferry/shared/protocol/delivery.ts";
import { DEFAULT_QUEUE } from "@jobferry/shared/protocol/marks.ts";
import type { QueueView } from "./eligibility.ts";
import type { Needs } from "./needs.ts";

type Labels = Readonly<Record<string, string>> | undefined;

/** The queues of the hub. `default` exists also when nobody wrote it down. */
export class Queues {
  readonly #queueNamed: (name: string) => JobQueue | undefined;
  readonly #labelsOfNamespace: (name: string) => Labels;
  /** What each assigned Job takes, by UID. */
  readonly #held = new Map<string, { queue: string; amounts: Amounts }>();
  /** The sums of that, by queue. */
  readonly #loads = new Map<string, { jobs: number; used: Map<string, number> }>();

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
      quota: quotaOf(quota?.resources),
      used: this.#loads.get(name)?.used ?? NOTHING,
    };
  }

  onClusterLost(name: string): OnClusterLost {
    return this.#queueNamed(name)?.spec?.onClusterLost ?? "Redispatch";
  }

  running(name: string): number {
    return this.#loads.get(name)?.jobs ?? 0;
  }

  /** How much the queue has of what it should have: among queues that compete, the one with the least goes first. */
  share(name: string): number {
    return this.running(name) / (this.#queueNamed(name)?.spec?.weight ?? 1);
  }

  /** A Job of this queue is assigned to some cluster. */
  holds(name: string, uid: string, { perPod, pods }: Needs): void {
    this.letGo(uid);
    const amounts = new Map([...perPod].map(([resource, amount]) => [resource, amount * pods]));
    this.#held.set(uid, { queue: name, amounts });
    this.#load(name, amounts, 1);
  }

  letGo(uid: string): void {
    const held = this.#held.get(uid);
    if (held === undefined) return;
    this.#held.delete(uid);
    this.#load(held.queue, held.amounts, -1);
  }

  #load(name: string, amounts: Amounts, sign: 1 | -1): void {
    const load = this.#loads.get(name) ?? { jobs: 0, used: new Map<string, number>() };
    load.jobs += sign;
    for (const [resource, amount] of amounts) load.used.set(resource, (load.used.get(resource) ?? 0) + sign * amount);
    if (load.jobs === 0) this.#loads.delete(name);
    else this.#loads.set(name, load);
  }
}

const NOTHING: Amounts = new Map();

const quotaOf = (resources: Readonly<Record<string, string | number>> = {}): Amounts =>
  new Map(Object.entries(resources).map(([resource, quantity]) => [resource, resourceUnits(resource, quantity)]));
