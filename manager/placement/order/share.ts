import type { Amounts } from "@jobferry/shared/job/requests.ts";

/** A queue that has Jobs to place. */
export interface Turn {
  /** Its next Job is within what the queue is guaranteed. */
  readonly owed: boolean;
  readonly share: number;
}

/**
 * How much of the fleet a queue holds: of the resource of which it holds the largest part, that part, divided by its weight.
 * `reach`: what the clusters have that the queue may use; of a resource that they no longer have, it holds all there is.
 */
export function dominantShare(held: Amounts, reach: Amounts, weight: number): number {
  let largest = 0;
  for (const [resource, amount] of held) {
    if (amount <= 0) continue;
    const whole = reach.get(resource) ?? 0;
    largest = Math.max(largest, whole > 0 ? amount / whole : 1);
  }
  return largest / weight;
}

/** Who goes first: those who are owed something, then who has the least. 0: their Jobs decide. */
export function compareTurns(one: Turn, other: Turn): number {
  if (one.owed !== other.owed) return one.owed ? -1 : 1;
  return one.share - other.share;
}
