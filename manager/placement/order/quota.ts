/**
 * What a queue may hold. On its own, its quota is what it is guaranteed and all it gets. In a cohort the quota is what it is
 * guaranteed; beyond that it borrows, up to its borrow limit, what the guarantees of the others leave idle. The number
 * of Jobs is counted like a resource, under the name `jobs`.
 */
import type { Amounts } from "@jobferry/shared/job/requests.ts";
import { amountWords } from "../fit/obstacle.ts";

export interface QueueQuota {
  readonly name: string;
  /** A resource that is not named is not limited, unless a queue of the cohort names it. */
  readonly quota: Amounts;
  /** A resource that is not named may be borrowed without limit. */
  readonly borrowLimit: Amounts;
  readonly used: Amounts;
  readonly cohort: Cohort | undefined;
}

/** All queues of a cohort together, this one included. */
interface Cohort {
  readonly name: string;
  readonly members: ReadonlySet<string>;
  readonly quota: Amounts;
  readonly used: Amounts;
}

export interface QuotaObstacle {
  readonly reason: string;
  readonly resource: string;
  /** Only an edit can help, waiting cannot. */
  readonly never: boolean;
}

/** Why the queue cannot hold this much more now; undefined when it can. */
export function quotaObstacle(asked: Amounts, queue: QueueQuota): QuotaObstacle | undefined {
  const limits = queue.cohort === undefined ? queue.quota : queue.cohort.quota;
  for (const resource of limits.keys()) {
    const found = resourceObstacle(resource, asked.get(resource) ?? 0, queue);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Nobody else's claim stands before these: the queue is owed them, whatever the others have borrowed. */
export function isWithinGuarantee(asked: Amounts, { quota, used }: QueueQuota): boolean {
  if (quota.size === 0) return false;
  for (const [resource, limit] of quota)
    if ((used.get(resource) ?? 0) + (asked.get(resource) ?? 0) > limit) return false;
  return true;
}

/** How much of what the queue holds belongs to others. */
export function borrowed({ quota, used, cohort }: QueueQuota): Amounts {
  const excess = new Map<string, number>();
  if (cohort === undefined) return excess;
  for (const resource of cohort.quota.keys()) {
    const over = (used.get(resource) ?? 0) - (quota.get(resource) ?? 0);
    if (over > 0) excess.set(resource, over);
  }
  return excess;
}

function resourceObstacle(resource: string, asks: number, queue: QueueQuota): QuotaObstacle | undefined {
  const { name, quota, borrowLimit, used, cohort } = queue;
  const own = quota.get(resource) ?? 0;
  const holds = used.get(resource) ?? 0;
  // What is not asked for cannot be counted: its pods would run beside every limit.
  if (asks === 0 && quota.has(resource) && resource !== "jobs")
    return { reason: `queue ${name} limits ${resource}: the Job must request it`, resource, never: true };
  if (asks === 0 || holds + asks <= own) return undefined;
  const words = (units: number): string => amountWords(resource, units);
  const says = (limit: string, never: boolean): QuotaObstacle => ({
    reason: `quota of queue ${name} (${resource}: asks ${words(asks)}, holds ${words(holds)}, ${limit})`,
    resource,
    never,
  });
  if (cohort === undefined) return says(`may hold ${words(own)}`, asks > own);
  const most = own + (borrowLimit.get(resource) ?? Number.POSITIVE_INFINITY);
  if (holds + asks > most) return says(`may hold ${words(own)} and borrow ${words(most - own)}`, asks > most);
  const all = cohort.quota.get(resource) ?? 0;
  const idle = Math.max(0, all - (cohort.used.get(resource) ?? 0));
  if (asks <= idle) return undefined;
  return says(
    `may hold ${words(own)}, and ${words(idle)} of ${words(all)} are idle in cohort ${cohort.name}`,
    asks > all,
  );
}
