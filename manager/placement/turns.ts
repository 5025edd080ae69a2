import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { preferred } from "./choose.ts";
import { type QueueView, queueObstacle } from "./eligibility.ts";
import { goesBefore } from "./line/job-heap.ts";
import type { QueueLine, WaitingClass, WaitingLine } from "./line/waiting-line.ts";
import type { Queues } from "./queues.ts";
import type { Site, Sites } from "./sites.ts";

/** The first Job of this class can go there now. */
export interface Offer {
  readonly group: WaitingClass;
  readonly site: Site;
}

export interface TurnsOptions {
  readonly line: WaitingLine;
  readonly sites: Sites;
  readonly queues: Queues;
  readonly clock: Pick<Clock, "monotonic">;
  /** Room that is kept, and for which class. */
  promises?(): Iterable<readonly [key: string, cluster: ClusterName]>;
}

/**
 * Finds whose turn it is, by looking at what has changed alone: at clusters that have, for classes that are settled; at classes
 * that came or that their queue held back, with all clusters. When nothing is left to be looked at, no Job waits that could go.
 */
export class Turns {
  readonly #options: TurnsOptions;
  /** Clusters that may have room for Jobs that are settled. */
  readonly #changed = new Set<ClusterName>();
  /** Queues with classes that may have to be looked at with all clusters. */
  readonly #due = new Set<string>();
  /** What was found for each queue, and may still hold; null: nothing, and that holds until something changes. */
  readonly #offers = new Map<string, Offer | null>();

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  clusterChanged(cluster: ClusterName): void {
    this.#changed.add(cluster);
    this.#offers.clear();
  }

  /** The queue has a class that was not looked at yet. */
  look(queue: string): void {
    this.#due.add(queue);
    this.#offers.delete(queue);
  }

  /** The queue holds less than before, or was edited. */
  booksChanged(queue: string): void {
    const line = this.#options.line.queue(queue);
    if (line === undefined) return;
    line.version++;
    this.look(queue);
  }

  /** Nobody has looked at it yet: it is not known whether it has to wait. */
  isDue(group: WaitingClass): boolean {
    const line = this.#options.line.queue(group.queue);
    return !group.settled && group.heldAt !== line?.version && this.#due.has(group.queue) && this.#exists(group.queue);
  }

  #exists(queue: string): boolean {
    return this.#options.queues.view(queue) !== undefined;
  }

  /** Who goes next, and where. `later`: `until` has passed before all were looked at. Undefined: nobody can go. */
  next(until: number): Offer | "later" | undefined {
    const { line, queues } = this.#options;
    for (;;) {
      let best: { offer: Offer; line: QueueLine } | undefined;
      for (const queue of line.queues()) {
        const offer = this.#offerOf(queue, until);
        if (offer === "later") return "later";
        if (offer === undefined) continue;
        const isFirst = best === undefined || queues.goesFirst(offer.group, best.offer.group);
        if (isFirst) best = { offer, line: queue };
      }
      if (best === undefined) {
        this.#changed.clear();
        this.#due.clear();
        this.#offers.clear();
        return undefined;
      }
      this.#offers.delete(best.line.name);
      if (this.#holds(best.offer)) return best.offer;
    }
  }

  #offerOf(line: QueueLine, until: number): Offer | "later" | undefined {
    const known = this.#offers.get(line.name);
    if (known !== undefined) return known ?? undefined;
    if (this.#changed.size === 0 && !this.#due.has(line.name)) return undefined;
    const view = this.#options.queues.view(line.name);
    if (view === undefined) return undefined;
    const settled = this.#ofSettled(line, view);
    const offer = this.#due.has(line.name) ? this.#ofPending(line, view, settled, until) : settled;
    if (offer === "later") return offer;
    this.#offers.set(line.name, offer ?? null);
    return offer;
  }

  /** The first of the settled classes that has room on a cluster that changed. */
  #ofSettled(line: QueueLine, view: QueueView): Offer | undefined {
    const { numbers } = this.#options.line;
    const sites = this.#changedSites();
    const held = new Set<WaitingClass>();
    let best: WaitingClass | undefined;
    for (const site of sites)
      for (const { candidate, classes } of line.bins.values()) {
        if (!site.isOpenFor(candidate, view)) continue;
        const take = (group: WaitingClass): boolean => {
          if (!site.hasRoomFor(group.candidate, group.asks, numbers)) return false;
          const isHeld = queueObstacle(group.candidate, view) !== undefined;
          if (isHeld) held.add(group);
          else best = group;
          return !isHeld;
        };
        classes.visit(site.rooms(candidate, numbers), () => best?.first, take);
      }
    for (const { group, site } of this.#promised(line)) {
      const isFirst = best === undefined || goesBefore(group.first, best.first);
      if (isFirst && sites.includes(site) && this.#mayGo(group, view) && site.canTake(group, view, numbers))
        best = group;
    }
    for (const group of held) this.#hold(group, line);
    return best === undefined ? undefined : this.#offer(best, view, sites);
  }

  /** The first of the pending classes that its queue lets go, if it comes before `other`. Those that fit nowhere are settled. */
  #ofPending(line: QueueLine, view: QueueView, other: Offer | undefined, until: number): Offer | "later" | undefined {
    const { clock, sites } = this.#options;
    const { pending, version } = line;
    for (let i = 0; i < pending.length; ) {
      const group = pending[i];
      if (group === undefined || (other !== undefined && !goesBefore(group.first, other.group.first))) break;
      if (group.heldAt === version) {
        i++;
        continue;
      }
      if (queueObstacle(group.candidate, view) !== undefined) {
        group.heldAt = version;
        i++;
        continue;
      }
      const offer = this.#offer(group, view, sites);
      if (offer !== undefined) return offer;
      this.#options.line.settle(group);
      if (clock.monotonic() >= until) return "later";
    }
    return other;
  }

  #offer(group: WaitingClass, view: QueueView, sites: Iterable<Site>): Offer | undefined {
    const { numbers } = this.#options.line;
    const fitting: Site[] = [];
    for (const site of sites) if (site.canTake(group, view, numbers)) fitting.push(site);
    const site = preferred(group.candidate, view, fitting);
    return site === undefined ? undefined : { group, site };
  }

  /** Its queue does not let it go where it fits: once it does, it is looked at with every cluster. */
  #hold(group: WaitingClass, line: QueueLine): void {
    this.#options.line.unsettle(group);
    group.heldAt = line.version;
  }

  /** What was found before others went may be gone. */
  #holds({ group, site }: Offer): boolean {
    const { line, queues } = this.#options;
    const view = queues.view(group.queue);
    return (
      view !== undefined &&
      group.jobs.size > 0 &&
      queueObstacle(group.candidate, view) === undefined &&
      site.canTake(group, view, line.numbers)
    );
  }

  /** Settled classes of this queue that room is kept for: the others do not see it, and it is not found by asking for it. */
  *#promised({ name }: QueueLine): Generator<Offer> {
    for (const [key, cluster] of this.#options.promises?.() ?? []) {
      const group = this.#options.line.classNamed(key);
      const site = this.#options.sites.get(cluster);
      if (group?.queue === name && group.settled && site !== undefined) yield { group, site };
    }
  }

  #mayGo({ candidate }: WaitingClass, view: QueueView): boolean {
    return queueObstacle(candidate, view) === undefined;
  }

  #changedSites(): Site[] {
    const found: Site[] = [];
    for (const name of this.#changed) {
      const site = this.#options.sites.get(name);
      if (site?.connected === true && !site.cordoned) found.push(site);
    }
    return found;
  }
}
