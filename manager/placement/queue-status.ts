import { isDeepStrictEqual } from "node:util";
import { type JobQueue, jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import type { Amounts } from "@jobferry/shared/job/requests.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { StoredBudget } from "./order/budget.ts";

export interface QueueFigures {
  readonly pending: number;
  readonly running: number;
  readonly usage: Amounts;
  readonly borrowed: Amounts;
  readonly share: number;
  readonly waiting: Readonly<Record<string, number>>;
  readonly budget: StoredBudget | undefined;
}

/** Shows on each JobQueue how many of its Jobs wait and run, and what they hold. Call every few seconds; what has not changed is not written. */
export async function writeQueueStatus(
  api: KubeApi,
  queues: readonly JobQueue[],
  figuresOf: (queue: string) => QueueFigures,
): Promise<void> {
  for (const { metadata, status: { conditions: _, ...shown } = {} } of queues) {
    const name = metadata.name ?? "";
    const { pending, running, usage, borrowed, share, waiting, budget } = figuresOf(name);
    const status = {
      pending,
      running,
      usage: quantities(usage),
      borrowed: quantities(borrowed),
      share: share.toFixed(3),
      waiting: Object.fromEntries(Object.entries(waiting).filter(([, jobs]) => jobs > 0)),
      ...(budget === undefined ? {} : { budget }),
    };
    if (isDeepStrictEqual(shown, status)) continue;
    // What is no longer held must not stay: a merge keeps what it does not name.
    const gone = (before: object = {}, after: object = {}): object => ({
      ...Object.fromEntries(Object.keys(before).map((key) => [key, null])),
      ...after,
    });
    const body = {
      status: {
        ...status,
        usage: gone(shown.usage, status.usage),
        borrowed: gone(shown.borrowed, status.borrowed),
        waiting: gone(shown.waiting, status.waiting),
        budget: budget === undefined ? null : { ...budget, hours: gone(shown.budget?.hours, budget.hours) },
      },
    };
    try {
      await api.patch(jobQueues, { name }, { type: "merge", body }, { subresource: "status" });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

const quantities = (amounts: Amounts): Record<string, string> =>
  Object.fromEntries(
    [...amounts]
      .filter(([, units]) => units > 0)
      .map(([resource, units]) => [resource, resource === "cpu" ? `${units}m` : String(units)]),
  );
