import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import { type Amounts, resourceUnits } from "@jobferry/shared/job/requests.ts";
import { compileSelector, type LabelMatcher } from "@jobferry/shared/job/selector.ts";
import type { OnClusterLost } from "@jobferry/shared/protocol/delivery.ts";
import { DEFAULT_QUEUE } from "@jobferry/shared/protocol/marks.ts";
import type { CopiedKind } from "@jobferry/shared/references/contents.ts";
import type { QueueView } from "./eligibility.ts";
import type { Ledger } from "./ledger.ts";
import { goesBefore } from "./line/job-heap.ts";
import type { WaitingClass } from "./line/waiting-line.ts";

type Labels = Readonly<Record<string, string>> | undefined;

export interface QueuesOptions {
  queueNamed(name: string): JobQueue | undefined;
  labelsOfNamespace(name: string): Labels;
  ledger: Pick<Ledger, "loadOf">;
}

/** What a JobQueue says, read once for each version of it. */
interface Rules {
  readonly paused: boolean;
  readonly placement: QueueView["placement"];
  readonly acceptsLabels: LabelMatcher;
  readonly matchesCluster: LabelMatcher;
  readonly maxJobs: number | undefined;
  readonly quota: Amounts;
}

/** The queues of the hub. `default` exists also when nobody wrote it down. */
export class Queues {
  readonly #options: QueuesOptions;
  readonly #rules = new WeakMap<JobQueue, Rules>();

  constructor(options: QueuesOptions) {
    this.#options = options;
  }

  /** Undefined: no such queue. */
  view(name: string): QueueView | undefined {
    const queue = this.#options.queueNamed(name);
    if (queue === undefined && name !== DEFAULT_QUEUE) return undefined;
    const { paused, placement, acceptsLabels, matchesCluster, maxJobs, quota } = this.#rulesOf(queue ?? UNWRITTEN);
    const { jobs: running, used } = this.#options.ledger.loadOf(name);
    const acceptsNamespace = (namespace: string): boolean =>
      acceptsLabels === everything || acceptsLabels(this.#options.labelsOfNamespace(namespace));
    return { name, paused, placement, acceptsNamespace, matchesCluster, maxJobs, running, quota, used };
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

  /** Whose turn it is of two queues, each with the Job that it would place. */
  goesFirst(one: WaitingClass, other: WaitingClass): boolean {
    const [share, otherShare] = [this.share(one.queue), this.share(other.queue)];
    return share === otherShare ? goesBefore(one.first, other.first) : share < otherShare;
  }

  /** The queues that may go on when this one holds less. */
  sharingWith(name: string): Iterable<string> {
    return [name];
  }

  #rulesOf(queue: JobQueue): Rules {
    const known = this.#rules.get(queue);
    if (known !== undefined) return known;
    const { namespaceSelector, clusterSelector, placement, paused, quota } = queue.spec ?? {};
    const rules = {
      paused: paused === true,
      placement: placement ?? "Spread",
      acceptsLabels: namespaceSelector === undefined ? everything : (compileSelector(namespaceSelector) ?? nothing),
      matchesCluster: clusterSelector === undefined ? everything : (compileSelector(clusterSelector) ?? nothing),
      maxJobs: quota?.jobs,
      quota: quotaOf(quota?.resources),
    };
    this.#rules.set(queue, rules);
    return rules;
  }
}

const UNWRITTEN: JobQueue = { metadata: { name: DEFAULT_QUEUE } };
const everything = (): boolean => true;
const nothing = (): boolean => false;

const quotaOf = (resources: Readonly<Record<string, string | number>> = {}): Amounts =>
  new Map(Object.entries(resources).map(([resource, quantity]) => [resource, resourceUnits(resource, quantity)]));
