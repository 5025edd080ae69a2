/**
 * What a queue may spend in a rolling window: a resource times the hours for which its Jobs hold it. Counted in buckets of an
 * hour, which the JobQueue's status keeps; an hour that is older than the window no longer counts.
 */
import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import { type Amounts, resourceUnits } from "@jobferry/shared/job/requests.ts";
import { parseDuration } from "@jobferry/shared/runtime/duration.ts";
import { amountWords } from "../fit/obstacle.ts";

const HOUR_MS = 3_600_000;
const DEFAULT_WINDOW_HOURS = 30 * 24;
/** Of quantities times hours, as the status shows them. */
const DECIMALS = 4;

export interface BudgetRules {
  readonly windowHours: number;
  /** Units of each resource, times hours. */
  readonly limits: Amounts;
}

export type StoredBudget = NonNullable<NonNullable<JobQueue["status"]>["budget"]>;

export function budgetRules({ spec }: JobQueue): BudgetRules | undefined {
  const { resourceHours, window = "" } = spec?.budget ?? {};
  if (resourceHours === undefined) return undefined;
  const hours = (parseDuration(window) ?? 0) / HOUR_MS;
  return {
    windowHours: hours >= 1 ? Math.floor(hours) : DEFAULT_WINDOW_HOURS,
    limits: new Map(Object.entries(resourceHours).map(([resource, text]) => [resource, resourceUnits(resource, text)])),
  };
}

export class Budget {
  /** Unit-hours by hour since 1970 and resource. */
  readonly #buckets = new Map<number, Map<string, number>>();
  #countedTo: number | undefined;

  /** From what the JobQueue says; what is wrong in it counts for nothing. */
  constructor(stored?: StoredBudget) {
    for (const [hour, spent] of Object.entries(stored?.hours ?? {}))
      this.#buckets.set(
        Number(hour),
        new Map(Object.entries(spent).map(([resource, amount]) => [resource, toUnits(resource, Number(amount) || 0)])),
      );
    this.#countedTo = Date.parse(stored?.countedTo ?? "") || undefined;
  }

  /** The queue has held this much since the last time: also while no manager was there to look. */
  count(held: Amounts, now: number, { windowHours, limits }: BudgetRules): void {
    const from = Math.max(this.#countedTo ?? now, now - windowHours * HOUR_MS);
    this.#countedTo = now;
    for (let at = from; at < now; ) {
      const hour = Math.floor(at / HOUR_MS);
      const until = Math.min(now, (hour + 1) * HOUR_MS);
      const bucket = this.#buckets.get(hour) ?? new Map<string, number>();
      for (const resource of limits.keys()) {
        const amount = ((held.get(resource) ?? 0) * (until - at)) / HOUR_MS;
        if (amount > 0) bucket.set(resource, (bucket.get(resource) ?? 0) + amount);
      }
      if (bucket.size > 0) this.#buckets.set(hour, bucket);
      at = until;
    }
    const first = Math.floor(now / HOUR_MS) - windowHours + 1;
    for (const hour of this.#buckets.keys()) if (hour < first) this.#buckets.delete(hour);
  }

  spent(resource: string): number {
    let sum = 0;
    for (const bucket of this.#buckets.values()) sum += bucket.get(resource) ?? 0;
    return sum;
  }

  /** Why no further Job may start, and when one may at the earliest; undefined: there is something left. */
  obstacle({ limits, windowHours }: BudgetRules): string | undefined {
    for (const [resource, limit] of limits) {
      const spent = this.spent(resource);
      if (spent < limit) continue;
      const words = (units: number): string => amountWords(resource, Math.round(units));
      const again = new Date(this.#againAt(resource, limit, windowHours)).toISOString().replace(":00.000Z", "Z");
      return `${words(spent)} of ${words(limit)} ${resource}-hours in ${windowHours} hours are spent; it can go on at ${again} at the earliest`;
    }
    return undefined;
  }

  /** When enough hours have left the window, if nothing more is spent. */
  #againAt(resource: string, limit: number, windowHours: number): number {
    let left = this.spent(resource);
    const hours = [...this.#buckets.keys()].sort((one, other) => one - other);
    for (const hour of hours) {
      left -= this.#buckets.get(hour)?.get(resource) ?? 0;
      if (left < limit) return (hour + windowHours) * HOUR_MS;
    }
    return (Math.max(0, ...hours) + windowHours) * HOUR_MS;
  }

  toStored({ limits }: BudgetRules): StoredBudget {
    const shown = (resource: string, units: number): string => fromUnits(resource, units).toFixed(DECIMALS);
    return {
      spent: Object.fromEntries(
        [...limits.keys()].map((resource) => [resource, shown(resource, this.spent(resource))]),
      ),
      countedTo: new Date(this.#countedTo ?? 0).toISOString(),
      hours: Object.fromEntries(
        [...this.#buckets].map(([hour, bucket]) => [
          String(hour),
          Object.fromEntries([...bucket].map(([resource, units]) => [resource, shown(resource, units)])),
        ]),
      ),
    };
  }
}

/** CPU is counted in thousandths, all else in units. */
const toUnits = (resource: string, amount: number): number => (resource === "cpu" ? amount * 1000 : amount);
const fromUnits = (resource: string, units: number): number => (resource === "cpu" ? units / 1000 : units);
