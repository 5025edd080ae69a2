/** For whom whole nodes are kept, on which cluster, and when that is given up. */
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { type QueueView, queueObstacle } from "../eligibility.ts";
import { fits } from "../fit/fits.ts";
import { freeInPods, keptShapes, mayGoTo } from "../fit/kept-nodes.ts";
import type { Ledger } from "../ledger.ts";
import type { WaitingClass, WaitingLine } from "../line/waiting-line.ts";
import type { Queues } from "../queues.ts";
import type { Site, Sites } from "../sites.ts";
import { Patience } from "./patience.ts";

export interface ReservationsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly line: Pick<WaitingLine, "classNamed">;
  readonly sites: Sites;
  readonly queues: Pick<Queues, "reserveAfterMs">;
  readonly ledger: Pick<Ledger, "bookedOn">;
  /** Since when the Job waits, on the clock. */
  waitsSince(group: WaitingClass): number | undefined;
}

export class Reservations {
  readonly #options: ReservationsOptions;
  /** By class. */
  readonly #patience = new Map<string, Patience>();

  constructor(options: ReservationsOptions) {
    this.#options = options;
  }

  /** The cluster that is to be kept for this class from now on, of those that are not kept for others. */
  start(group: WaitingClass, view: QueueView, taken: ReadonlySet<ClusterName>): Site | undefined {
    const { clock, queues } = this.#options;
    const after = queues.reserveAfterMs(group.queue);
    const since = this.#options.waitsSince(group);
    const now = clock.monotonic();
    if (after === undefined || since === undefined || now - since < after) return undefined;
    if (queueObstacle(group.candidate, view) !== undefined) return undefined;
    const patience = this.#patience.get(group.key) ?? new Patience();
    const [site] = patience.order(this.#closest(group, view, taken), now);
    if (site === undefined) return undefined;
    this.#patience.set(group.key, patience);
    patience.start(site.name, now);
    return site;
  }

  /** Nothing more is to be expected of keeping this cluster, or more of keeping another one. */
  isOver(group: WaitingClass, site: Site, view: QueueView, taken: ReadonlySet<ClusterName>): boolean {
    const { clock, queues } = this.#options;
    const patience = this.#patience.get(group.key);
    const nodes = site.nodesFor(group.key);
    if (patience === undefined || nodes === undefined || !site.isKeepableFor(group, view)) return true;
    // What its queue does not let go must not keep others away.
    if (queueObstacle(group.candidate, view) !== undefined) return true;
    if (site.hasHeldRoomFor(group.candidate, group.key)) return false;
    const now = clock.monotonic();
    const kept = keptShapes(group.candidate, nodes);
    const sight = {
      free: freeInPods(group.candidate, kept),
      isInUse: this.#isInUse(site, (rules) => mayGoTo(rules, kept, nodes.hiddenLabels)),
    };
    const isElsewhere = (): boolean => patience.order(this.#closest(group, view, taken), now).length > 0;
    return patience.isOver(sight, isElsewhere, queues.reserveAfterMs(group.queue) ?? 0, now);
  }

  /** Classes that nobody waits in any more are forgotten. */
  sweep(): void {
    for (const key of this.#patience.keys())
      if (this.#options.line.classNamed(key) === undefined) this.#patience.delete(key);
  }

  /** Clusters that could take the Job if they were empty: those first that have come closest, then the least busy. */
  #closest(group: WaitingClass, view: QueueView, taken: ReadonlySet<ClusterName>): Site[] {
    const { candidate } = group;
    const needed = candidate.gang ? candidate.pods : 1;
    const found: { site: Site; free: number }[] = [];
    for (const site of this.#options.sites) {
      const { nodes, name } = site;
      if (nodes === undefined || taken.has(name) || !site.isKeepableFor(group, view)) continue;
      const kept = keptShapes(candidate, nodes);
      if (kept.length === 0 || fits(candidate, nodes).ever < needed) continue;
      found.push({ site, free: freeInPods(candidate, kept) / kept.reduce((sum, shape) => sum + shape.nodes, 0) });
    }
    found.sort((one, other) => other.free - one.free || one.site.running - other.site.running);
    return found.map(({ site }) => site);
  }

  #isInUse({ name }: Site, mayBeThere: (rules: WaitingClass["candidate"]["rules"]) => boolean): boolean {
    for (const [, { needs }] of this.#options.ledger.bookedOn(name)) if (mayBeThere(needs.rules)) return true;
    return false;
  }
}
