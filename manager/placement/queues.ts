import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import { type Amounts, resourceUnits } from "@jobferry/shared/job/requests.ts";
import { compileSelector } from "@jobferry/shared/job/selector.ts";
import type { OnClusterLost } from "@jobferry/shared/protocol/delivery.ts";
import { DEFAULT_QUEUE } from "@jobferry/shared/protocol/marks.ts";
import type { CopiedKind } from "@jobferry/shared/references/contents.ts";
import type { QueueView } from "./eligibility.ts";
import type { Ledger } from "./ledger.ts";

type Labels = Readonly<Record<string, string>> | undefined;

export interface QueuesOptions {
  queueNamed(name: string): JobQueue | undefined;
  labelsOfNamespace(name: string): Labels;
  ledger: Pick<Ledger, "loadOf">;
}

/** The queues of the hub. `default` exists also when nobody wrote it down. */
export class Queues {
  readonly #options: QueuesOptions;

  constructor(options: QueuesOptions) {
    this.#options = options;
  }

  /** Undefined: no such queue. */
  view(name: string): QueueView | undefined {
    const queue = this.#options.queueNamed(name);
    if (queue === undefined && name !== DEFAULT_QUEUE) return undefined;
    const { namespaceSelector, clusterSelector, placement, paused, quota } = queue?.spec ?? {};
    const load = this.#options.ledger.loadOf(name);
    const acceptsLabels =
      namespaceSelector === undefined ? undefined : (compileSelector(namespaceSelector) ?? (() => false));
    return {
      name,
      paused: paused === true,
      placement: placement ?? "Spread",
      acceptsNamespace: (namespace) => acceptsLabels?.(this.#options.labelsOfNamespace(namespace)) ?? true,
      matchesCluster: clusterSelector === undefined ? () => true : (compileSelector(clusterSelector) ?? (() => false)),
      maxJobs: quota?.jobs,
      running: load.jobs,
      quota: quotaOf(quota?.resources),
      used: load.used,
    };
  }

  onClusterLost(name: string): OnClusterLost {
    return this.#options.queueNamed(name)?.spec?.onClusterLost ?? "Redispatch";
  }

  /** Whether pods of its Jobs are shown on the hub. */
  pods(name: string): "Shadow" | "None" {
    return this.#options.queueNamed(name)?.spec?.pods ?? "Shadow";
  }

  /** Which kinds travel with this queue's Jobs. */
  copies(name: string): ReadonlySet<CopiedKind> {
    const { configMaps = "Copy", secrets = "Expect" } = this.#options.queueNamed(name)?.spec?.references ?? {};
    const kinds: [CopiedKind, string][] = [
      ["ConfigMap", configMaps],
      ["Secret", secrets],
    ];
    return new Set(kinds.filter(([, mode]) => mode === "Copy").map(([kind]) => kind));
  }

  /** How much the queue has of what it should have: among queues that compete, the one with the least goes first. */
  share(name: string): number {
    return this.#options.ledger.loadOf(name).jobs / (this.#options.queueNamed(name)?.spec?.weight ?? 1);
  }
}

const quotaOf = (resources: Readonly<Record<string, string | number>> = {}): Amounts =>
  new Map(Object.entries(resources).map(([resource, quantity]) => [resource, resourceUnits(resource, quantity)]));
