import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import { type Amounts, resourceUnits, unitsOf } from "@jobferry/shared/job/requests.ts";
import { compileSelector, type LabelMatcher } from "@jobferry/shared/job/selector.ts";
import type { OnClusterLost } from "@jobferry/shared/protocol/delivery.ts";
import { DEFAULT_QUEUE } from "@jobferry/shared/protocol/marks.ts";
import type { CopiedKind } from "@jobferry/shared/references/contents.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { parseDuration } from "@jobferry/shared/runtime/duration.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { OnReferenceChange } from "../hub/wishes.ts";
import { askedBy, type QueueView } from "./eligibility.ts";
import type { Ledger } from "./ledger.ts";
import { goesBefore } from "./line/job-heap.ts";
import type { WaitingClass } from "./line/waiting-line.ts";
import { isWithinGuarantee, type QueueQuota } from "./order/quota.ts";
import { compareTurns, dominantShare, type Turn } from "./order/share.ts";
import type { PreemptionRules } from "./preempt/victims.ts";

type Labels = Readonly<Record<string, string>> | undefined;

export interface QueuesOptions {
  queueNamed(name: string): JobQueue | undefined;
  labelsOfNamespace(name: string): Labels;
  ledger: Pick<Ledger, "loadOf" | "version">;
  /** All that were written down. Cohorts need them. */
  all?: () => Iterable<JobQueue>;
  /** The clusters, for the queues' shares of them. */
  clusters?: Iterable<Pick<Cluster, "object" | "capacity">>;
  clock?: Pick<Clock, "monotonic">;
  /** Why the queue's budget lets no further Job start; undefined: it does. */
  spent?(name: string): string | undefined;
}

/** What the clusters have in all changes seldom. */
const REACH_MS = 5_000;

/** Long enough for a cluster that grows on demand. */
const UNSCHEDULABLE_AFTER_MS = 5 * 60_000;

type Cohort = NonNullable<QueueQuota["cohort"]>;

/** What a JobQueue says, read once for each version of it. */
interface Rules {
  readonly paused: boolean;
  readonly unreadable: string | undefined;
  readonly placement: QueueView["placement"];
  readonly acceptsLabels: LabelMatcher;
  readonly matchesCluster: LabelMatcher;
  readonly maxJobs: number | undefined;
  readonly quota: Amounts;
  readonly borrowLimit: Amounts;
  readonly preferred: readonly LabelMatcher[];
}

/** The queues of the hub. `default` exists also when nobody wrote it down. */
export class Queues {
  readonly #options: QueuesOptions;
  readonly #rules = new WeakMap<JobQueue, Rules>();
  readonly #cohorts = new Map<string, { members: readonly JobQueue[]; version: number; cohort: Cohort }>();
  readonly #reach = new WeakMap<JobQueue, { at: number; amounts: Amounts }>();

  constructor(options: QueuesOptions) {
    this.#options = options;
  }

  /** Undefined: no such queue. */
  view(name: string): QueueView | undefined {
    const queue = this.#options.queueNamed(name);
    if (queue === undefined && name !== DEFAULT_QUEUE) return undefined;
    const rules = this.#rulesOf(queue ?? UNWRITTEN);
    const { paused, unreadable, placement, acceptsLabels, matchesCluster, maxJobs, quota, preferred } = rules;
    const { jobs: running, used } = this.#options.ledger.loadOf(name);
    const acceptsNamespace = (namespace: string): boolean =>
      acceptsLabels === everything || acceptsLabels(this.#options.labelsOfNamespace(namespace));
    const rankOf = (labels: Readonly<Record<string, string>>): number => {
      const rank = preferred.findIndex((matches) => matches(labels));
      return rank < 0 ? preferred.length : rank;
    };
    const borrowing = queue?.spec?.cohort === undefined ? undefined : this.quotaOf(name);
    const { maxPriority } = queue?.spec ?? {};
    return {
      ...{ name, paused, unreadable, placement, rankOf, maxPriority, acceptsNamespace, matchesCluster },
      ...{ maxJobs, running, quota, used, borrowing, spent: this.#options.spent?.(name) },
    };
  }

  onClusterLost(name: string): OnClusterLost {
    return this.#options.queueNamed(name)?.spec?.onClusterLost ?? "Redispatch";
  }

  /** The highest priority that its Jobs can have; undefined: any. */
  maxPriority(name: string): number | undefined {
    return this.#options.queueNamed(name)?.spec?.maxPriority;
  }

  /** Whether deleting a Job may leave its pods running. */
  allowsOrphans(name: string): boolean {
    return this.#options.queueNamed(name)?.spec?.allowOrphans === true;
  }

  /** How long pods of its Jobs may find no node before they are moved. */
  unschedulableAfterMs(name: string): number {
    return parseDuration(this.#options.queueNamed(name)?.spec?.unschedulableAfter ?? "") ?? UNSCHEDULABLE_AFTER_MS;
  }

  /** Whom its Jobs may displace. */
  preemption(name: string): PreemptionRules {
    const { reclaim = "Never", withinQueue = "Never" } = this.#options.queueNamed(name)?.spec?.preemption ?? {};
    return { reclaim, withinQueue };
  }

  /** After how long room is kept for a Job that has none; undefined: never. */
  reserveAfterMs(name: string): number | undefined {
    return parseDuration(this.#options.queueNamed(name)?.spec?.reserveAfter ?? "");
  }

  /** Its Jobs may get room kept for them. */
  makesClaims(name: string): boolean {
    const { preemption, reserveAfter } = this.#options.queueNamed(name)?.spec ?? {};
    return preemption !== undefined || reserveAfter !== undefined;
  }

  /** Whether pods of its Jobs are shown on the hub. */
  pods(name: string): "Shadow" | "None" {
    return this.#options.queueNamed(name)?.spec?.pods ?? "Shadow";
  }

  /** What becomes of a Job that moves when what it took along has changed. */
  onReferenceChange(name: string): OnReferenceChange {
    return this.#options.queueNamed(name)?.spec?.references?.onChange ?? "Use";
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

  /**
   * How much the queue has of what it should have: among queues that compete, the one with the least goes first. Of the resource
   * of which it holds the largest part of its clusters, that part by weight; of Jobs, while no cluster has said what it has.
   */
  share(name: string): number {
    const queue = this.#options.queueNamed(name) ?? UNWRITTEN;
    const { jobs, used } = this.#options.ledger.loadOf(name);
    const weight = queue.spec?.weight ?? 1;
    const reach = this.#reachOf(queue);
    return reach.size === 0 ? jobs / weight : dominantShare(used, reach, weight);
  }

  /** Whose turn it is of two queues, each with the Job that it would place. */
  goesFirst(one: WaitingClass, other: WaitingClass): boolean {
    const turn = (group: WaitingClass): Turn => ({ owed: this.#isOwed(group), share: this.share(group.queue) });
    const order = compareTurns(turn(one), turn(other));
    return order === 0 ? goesBefore(one.first, other.first) : order < 0;
  }

  /** The queues that may go on when this one holds less. */
  sharingWith(name: string): Iterable<string> {
    const cohort = this.#options.queueNamed(name)?.spec?.cohort;
    return cohort === undefined ? [name] : this.#inCohort(cohort).map(({ metadata }) => metadata.name ?? "");
  }

  /** What the queue may hold and holds, Jobs counted as a resource. */
  quotaOf(name: string): QueueQuota {
    const queue = this.#options.queueNamed(name) ?? UNWRITTEN;
    const { maxJobs, quota, borrowLimit } = this.#rulesOf(queue);
    const { cohort } = queue.spec ?? {};
    return {
      name,
      quota: withJobs(quota, maxJobs),
      borrowLimit,
      used: this.#held(name),
      cohort: cohort === undefined ? undefined : this.#cohort(cohort),
    };
  }

  /** What the queue is guaranteed covers this Job, too. */
  #isOwed({ queue, candidate }: WaitingClass): boolean {
    return isWithinGuarantee(askedBy(candidate), this.quotaOf(queue));
  }

  #held(name: string): Amounts {
    const { jobs, used } = this.#options.ledger.loadOf(name);
    return withJobs(used, jobs);
  }

  #inCohort(cohort: string): JobQueue[] {
    return [...(this.#options.all?.() ?? [])].filter(({ spec }) => spec?.cohort === cohort);
  }

  /** Of very many queues each is asked for its turn at every placement: their sums are made once for all of them. */
  #cohort(name: string): Cohort {
    const members = this.#inCohort(name);
    const { version } = this.#options.ledger;
    const known = this.#cohorts.get(name);
    if (known?.version === version && isSameList(known.members, members)) return known.cohort;
    const cohort = this.#sumUp(name, members);
    this.#cohorts.set(name, { members, version, cohort });
    return cohort;
  }

  #sumUp(name: string, queues: readonly JobQueue[]): Cohort {
    const [quota, used] = [new Map<string, number>(), new Map<string, number>()];
    const members = new Set<string>();
    for (const member of queues) {
      members.add(member.metadata.name ?? "");
      const rules = this.#rulesOf(member);
      addAll(quota, withJobs(rules.quota, rules.maxJobs));
      addAll(used, this.#held(member.metadata.name ?? ""));
    }
    return { name, members, quota, used };
  }

  /** What the clusters have in all that the queue may use. */
  #reachOf(queue: JobQueue): Amounts {
    const { clusters = [], clock } = this.#options;
    const now = clock?.monotonic() ?? 0;
    const known = this.#reach.get(queue);
    if (known !== undefined && now - known.at < REACH_MS) return known.amounts;
    const { matchesCluster } = this.#rulesOf(queue);
    const amounts = new Map<string, number>();
    for (const { object, capacity } of clusters)
      if (matchesCluster(object.metadata.labels ?? {})) addAll(amounts, capacity.whole);
    this.#reach.set(queue, { at: now, amounts });
    return amounts;
  }

  #rulesOf(queue: JobQueue): Rules {
    const known = this.#rules.get(queue);
    if (known !== undefined) return known;
    const { namespaceSelector, clusterSelector, placement, paused, quota, borrowLimit } = queue.spec ?? {};
    const { preferredClusters = [] } = queue.spec ?? {};
    const rules: Rules = {
      paused: paused === true,
      unreadable: unreadableIn({ ...quota?.resources }) ?? unreadableIn({ ...borrowLimit?.resources }),
      placement: placement ?? "Spread",
      acceptsLabels: namespaceSelector === undefined ? everything : (compileSelector(namespaceSelector) ?? nothing),
      matchesCluster: clusterSelector === undefined ? everything : (compileSelector(clusterSelector) ?? nothing),
      maxJobs: quota?.jobs,
      quota: quotaOf(quota?.resources),
      borrowLimit: withJobs(quotaOf(borrowLimit?.resources), borrowLimit?.jobs),
      preferred: placement === "Ordered" ? preferredClusters.map((one) => compileSelector(one) ?? nothing) : [],
    };
    this.#rules.set(queue, rules);
    return rules;
  }
}

const isSameList = (one: readonly JobQueue[], other: readonly JobQueue[]): boolean =>
  one.length === other.length && one.every((queue, i) => queue === other[i]);

const UNWRITTEN: JobQueue = { metadata: { name: DEFAULT_QUEUE } };
const everything = (): boolean => true;
const nothing = (): boolean => false;

const withJobs = (amounts: Amounts, jobs: number | undefined): Amounts =>
  jobs === undefined ? amounts : new Map([...amounts, ["jobs", jobs]]);

function addAll(sums: Map<string, number>, amounts: Amounts): void {
  for (const [resource, amount] of amounts) sums.set(resource, (sums.get(resource) ?? 0) + amount);
}

/** The schema lets any text in. Read as nothing it would look like a quota that is used up. */
function unreadableIn(resources: Readonly<Record<string, string | number>>): string | undefined {
  for (const [resource, quantity] of Object.entries(resources))
    if (unitsOf(quantity) === undefined) return `${resource}: ${JSON.stringify(quantity)} is not a quantity`;
  return undefined;
}

const quotaOf = (resources: Readonly<Record<string, string | number>> = {}): Amounts =>
  new Map(Object.entries(resources).map(([resource, quantity]) => [resource, resourceUnits(resource, quantity)]));
