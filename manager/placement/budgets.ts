import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import type { Amounts } from "@jobferry/shared/job/requests.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { Budget, budgetRules, type StoredBudget } from "./order/budget.ts";

export interface BudgetsOptions {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  queues(): Iterable<JobQueue>;
  held(queue: string): Amounts;
  /** Whether its Jobs may start is no longer what it was. */
  changed(queue: string): void;
}

/** The status is written this often at most. */
const SHOWN_MS = 60_000;

interface Kept {
  readonly budget: Budget;
  obstacle: string | undefined;
  stored: StoredBudget;
  storedAt: number;
}

/** The budgets of all queues that have one, counted every few seconds. */
export class Budgets {
  readonly #options: BudgetsOptions;
  readonly #kept = new Map<string, Kept>();

  constructor(options: BudgetsOptions) {
    this.#options = options;
  }

  /** Why this queue's Jobs may not start; undefined: they may. */
  obstacle(queue: string): string | undefined {
    return this.#kept.get(queue)?.obstacle;
  }

  /** What the status of the queue should say; undefined: it has no budget. */
  stored(queue: string): StoredBudget | undefined {
    return this.#kept.get(queue)?.stored;
  }

  count(): void {
    const { clock, held, changed } = this.#options;
    const seen = new Set<string>();
    for (const queue of this.#options.queues()) {
      const name = queue.metadata.name ?? "";
      const rules = budgetRules(queue);
      if (rules === undefined) continue;
      seen.add(name);
      const known = this.#kept.get(name);
      const budget = known?.budget ?? new Budget(queue.status?.budget);
      budget.count(held(name), clock.now(), rules);
      const obstacle = budget.obstacle(rules);
      const isDue = known === undefined || clock.monotonic() - known.storedAt >= SHOWN_MS;
      const shown = isDue ? { stored: budget.toStored(rules), storedAt: clock.monotonic() } : known;
      this.#kept.set(name, { budget, obstacle, stored: shown.stored, storedAt: shown.storedAt });
      if ((known?.obstacle === undefined) !== (obstacle === undefined)) changed(name);
    }
    for (const name of this.#kept.keys()) {
      if (seen.has(name)) continue;
      this.#kept.delete(name);
      changed(name);
    }
  }
}
