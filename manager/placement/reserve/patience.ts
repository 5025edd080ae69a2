/**
 * How long a cluster is kept for a Job that would starve. What runs there has to end first, and how long that takes nobody knows.
 * So a cluster on which nothing became free for a while is given up for another one, each time after a longer while: in the end
 * one is kept for long enough. A cluster that had nothing left in the way and still no room is not tried again for long.
 */
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";

const SHORTEST_MS = 10 * 60_000;
/** Nothing of ours is in the way: within this time the reports would say so. */
const EMPTY_MS = 2 * 60_000;
const FIRST_PAUSE_MS = 3_600_000;
const LONGEST_PAUSE_MS = 24 * 3_600_000;

/** One cluster that is kept, and what became of it so far. */
interface Stay {
  readonly cluster: ClusterName;
  /** The most that was free, in pods of the Job; and when it became so. */
  reached: number;
  at: number;
  /** Since when nothing of ours is in the way. */
  emptySince: number | undefined;
}

export interface Sight {
  /** What is free on the nodes that the Job may have, in pods of the Job. */
  readonly free: number;
  /** Jobs of ours run that may be on these nodes. */
  readonly isInUse: boolean;
}

export class Patience {
  readonly #tried = new Map<ClusterName, { at: number; closedUntil: number; pauses: number }>();
  #moves = 0;
  #stay: Stay | undefined;

  /** Clusters that may be kept now, those first that were not tried, or longest ago. */
  order<T extends { readonly name: ClusterName }>(sites: readonly T[], now: number): T[] {
    const lastOf = ({ name }: T): number => this.#tried.get(name)?.at ?? Number.NEGATIVE_INFINITY;
    return sites
      .filter(({ name }) => (this.#tried.get(name)?.closedUntil ?? Number.NEGATIVE_INFINITY) <= now)
      .sort((one, other) => Math.sign(lastOf(one) - lastOf(other)) || 0);
  }

  start(cluster: ClusterName, now: number): void {
    const before = this.#tried.get(cluster);
    this.#tried.set(cluster, { at: now, closedUntil: now, pauses: before?.pauses ?? 0 });
    this.#stay = { cluster, reached: 0, at: now, emptySince: undefined };
  }

  /** Whether the cluster is to be given up. `isElsewhere`: another one could be kept instead. */
  isOver({ free, isInUse }: Sight, isElsewhere: () => boolean, shortestMs: number, now: number): boolean {
    const stay = this.#stay;
    if (stay === undefined) return false;
    stay.emptySince = isInUse ? undefined : (stay.emptySince ?? now);
    if (stay.emptySince !== undefined && now - stay.emptySince >= EMPTY_MS) {
      this.#close(stay.cluster, now);
      return true;
    }
    if (free > stay.reached) [stay.reached, stay.at] = [free, now];
    const patienceMs = Math.max(SHORTEST_MS, shortestMs) * 2 ** Math.min(this.#moves, 20);
    if (now - stay.at < patienceMs || !isElsewhere()) return false;
    this.#moves++;
    return true;
  }

  #close(cluster: ClusterName, now: number): void {
    const { at = now, pauses = 0 } = this.#tried.get(cluster) ?? {};
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(pauses, 20));
    this.#tried.set(cluster, { at, closedUntil: now + pauseMs, pauses: pauses + 1 });
  }
}
