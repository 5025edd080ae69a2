/**
 * Room that is kept for a Job which could otherwise never start: because Jobs that it may displace are on their way out, or because
 * it has waited for longer than its queue's `reserveAfter` while smaller ones went by. A claim is of a class of Jobs, on one
 * cluster; others do not see the room. It ends when the Job has gone, the cluster no longer takes it, or it turns out to be of no use.
 */
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { askedBy, type QueueView, queueObstacle } from "./eligibility.ts";
import { fits } from "./fit/fits.ts";
import type { Booking, Ledger } from "./ledger.ts";
import type { WaitingClass, WaitingLine } from "./line/waiting-line.ts";
import { isWithinGuarantee } from "./order/quota.ts";
import { Front } from "./preempt/front.ts";
import { type Displacement, type Holder, isCheaper, type Place, type Preemptor, victimsOn } from "./preempt/victims.ts";
import type { Queues } from "./queues.ts";
import { Reservations } from "./reserve/reservations.ts";
import type { Site, Sites } from "./sites.ts";

interface Claim {
  readonly queue: string;
  readonly priority: number;
  readonly cluster: ClusterName;
  /** Who leaves for it; undefined: whole nodes are kept until there is room. */
  readonly leaving: ReadonlySet<HubUid> | undefined;
}

export interface ClaimsOptions {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly line: WaitingLine;
  readonly sites: Sites;
  readonly queues: Queues;
  readonly ledger: Pick<Ledger, "bookedOn">;
  /** What is known of a Job that has a cluster; undefined: it cannot be displaced. */
  holderOf(uid: HubUid, booking: Booking): Holder | undefined;
  /** Since when the Job waits, on the clock. */
  waitsSince(uid: HubUid): number | undefined;
  /** This Job is to leave its cluster, for that reason. */
  displace(uid: HubUid, why: string): void;
  nameOf(uid: HubUid): string;
  /** Room was promised or is free again. */
  changed(cluster: ClusterName): void;
}

/** What came together is looked at once. */
const SETTLE_MS = 200;
const REVIEW_MS = 5_000;
const MAX_CLAIMS_PER_QUEUE = 8;
/** Pods end and the next report comes within this time after the last one has left; else the room is somewhere else. */
const ARRIVAL_MS = 60_000;
/** At most about this long in one turn of the event loop. */
const TURN_MS = 10;
/** After a long look the others have the event loop for this many times as long. */
const REST = 4;

export class Claims {
  readonly #options: ClaimsOptions;
  readonly #claims = new Map<string, Claim>();
  /** Since when all that were to leave for a claim have left. */
  readonly #allGone = new Map<string, number>();
  readonly #front: Front;
  readonly #reservations: Reservations;
  #timer: (() => void) | undefined;
  #restUntil = Number.NEGATIVE_INFINITY;

  constructor(options: ClaimsOptions) {
    this.#options = options;
    this.#front = new Front(options.clock, options.line);
    this.#reservations = new Reservations({ ...options, waitsSince: ({ first }) => options.waitsSince(first.uid) });
  }

  /** By class. */
  *[Symbol.iterator](): Generator<readonly [key: string, cluster: ClusterName]> {
    for (const [key, { cluster }] of this.#claims) yield [key, cluster];
  }

  has(key: string): boolean {
    return this.#claims.has(key);
  }

  /** What a Job of this class is told; undefined: nothing is kept for it. */
  wordsFor({ key, candidate }: WaitingClass): string | undefined {
    const claim = this.#claims.get(key);
    if (claim === undefined) return undefined;
    const { cluster, leaving } = claim;
    if (leaving !== undefined) {
      const names = [...leaving].slice(0, 3).map((uid) => this.#options.nameOf(uid));
      const more = leaving.size > names.length ? ` and ${leaving.size - names.length} more` : "";
      return `room is made for it on ${cluster}: ${names.join(", ")}${more} must leave`;
    }
    const nodes = this.#options.sites.get(cluster)?.nodesFor(key);
    const obstacle = nodes === undefined ? undefined : fits(candidate, nodes).obstacle;
    return `what becomes free on ${cluster} is kept for it${obstacle === undefined ? "" : `: ${obstacle}`}`;
  }

  /** Something changed: those who may claim room are looked at soon. */
  wake(afterMs = SETTLE_MS): void {
    if (this.#timer !== undefined || !this.#isOfUse()) return;
    const { clock } = this.#options;
    const waitMs = Math.max(afterMs, this.#restUntil - clock.monotonic());
    this.#timer = clock.after(waitMs, () => this.#goOn(this.#look(), 0));
  }

  /** A look takes as many turns of the event loop as it needs; what was found early is looked at again before it counts. */
  #goOn(look: Iterator<void>, spentMs: number): void {
    const { clock } = this.#options;
    const began = clock.monotonic();
    for (let step = look.next(); step.done !== true; step = look.next()) {
      const ms = clock.monotonic() - began;
      if (ms < TURN_MS) continue;
      this.#timer = clock.after(0, () => this.#goOn(look, spentMs + ms));
      return;
    }
    this.#timer = undefined;
    const spent = spentMs + clock.monotonic() - began;
    this.#restUntil = clock.monotonic() + REST * spent;
    this.wake(REVIEW_MS);
  }

  /** Nothing is to be kept for this class any more; returns where something was. */
  end(key: string): ClusterName | undefined {
    const claim = this.#claims.get(key);
    if (claim === undefined) return undefined;
    this.#claims.delete(key);
    this.#allGone.delete(key);
    this.#options.sites.get(claim.cluster)?.release(key);
    return claim.cluster;
  }

  stop(): void {
    this.#timer?.();
  }

  *#look(): Generator<void> {
    const { line, queues } = this.#options;
    this.#review();
    this.#reservations.sweep();
    const blocked: WaitingClass[] = [];
    for (const { name } of [...line.queues()]) {
      if (!queues.makesClaims(name)) continue;
      yield* this.#lookAt(name, blocked);
    }
    yield* this.#reserve(blocked);
  }

  #isOfUse(): boolean {
    if (this.#claims.size > 0) return true;
    for (const { name } of this.#options.line.queues()) if (this.#options.queues.makesClaims(name)) return true;
    return false;
  }

  #review(): void {
    const { line, sites, queues } = this.#options;
    for (const [key, claim] of this.#claims) {
      const group = line.classNamed(key);
      const site = sites.get(claim.cluster);
      const view = queues.view(claim.queue);
      const stands =
        group !== undefined &&
        site !== undefined &&
        view !== undefined &&
        (claim.leaving === undefined
          ? !this.#reservations.isOver(group, site, view, this.#taken())
          : site.isOpenFor(group.candidate, view, key) && !this.#isFruitless(key, claim.leaving, claim.cluster));
      if (stands) continue;
      this.end(key);
      this.#options.changed(claim.cluster);
    }
  }

  #isFruitless(key: string, leaving: ReadonlySet<HubUid>, cluster: ClusterName): boolean {
    const now = this.#options.clock.monotonic();
    for (const [uid] of this.#options.ledger.bookedOn(cluster)) if (leaving.has(uid)) return false;
    const since = this.#allGone.get(key) ?? now;
    this.#allGone.set(key, since);
    return now - since >= ARRIVAL_MS;
  }

  /** The first of the queue's Jobs; at most one of them displaces others in one look. Adds those for which nothing is made free. */
  *#lookAt(queue: string, blocked: WaitingClass[]): Generator<void> {
    const claims = [...this.#claims.values()].filter((claim) => claim.queue === queue);
    if (claims.length >= MAX_CLAIMS_PER_QUEUE) return;
    for (const group of this.#front.of(queue)) {
      yield;
      if (!this.#isBlocked(group)) continue;
      if (yield* this.#preempts(group)) return;
      blocked.push(group);
    }
  }

  /** It still waits, nothing is kept for it, and it is not about to go with others merely before it. */
  #isBlocked(group: WaitingClass): boolean {
    const view = this.#options.queues.view(group.queue);
    if (view === undefined || this.#claims.has(group.key)) return false;
    return this.#options.line.classNamed(group.key) === group && !this.#hasRoom(group, view);
  }

  #hasRoom(group: WaitingClass, view: QueueView): boolean {
    if (queueObstacle(group.candidate, view) !== undefined) return false;
    for (const site of this.#options.sites) if (site.canTake(group, view, this.#options.line.numbers)) return true;
    return false;
  }

  *#preempts(group: WaitingClass): Generator<void, boolean> {
    const { queues, sites } = this.#options;
    const { queue, candidate, first } = group;
    const rules = queues.preemption(queue);
    if (rules.reclaim === "Never" && rules.withinQueue === "Never") return false;
    const view = queues.view(queue);
    if (view === undefined || view.paused || view.spent !== undefined || !view.acceptsNamespace(candidate.namespace))
      return false;
    const preemptor: Preemptor = {
      queue,
      priority: first.priority,
      needs: candidate,
      asked: askedBy(candidate),
      rules,
    };
    const victims = (site: Site): Displacement | undefined => {
      const place = this.#placeOf(site, group, view);
      return place === undefined ? undefined : victimsOn(place, preemptor, (name) => queues.quotaOf(name));
    };
    let best: Displacement | undefined;
    for (const site of [...sites]) {
      const found = victims(site);
      if (found !== undefined && (best === undefined || isCheaper(found, best))) best = found;
      yield;
    }
    // Others may have had their turn since: it must still be so.
    const site = best === undefined ? undefined : sites.get(best.cluster);
    const found = site === undefined || !this.#isBlocked(group) ? undefined : victims(site);
    if (found !== undefined) this.#displace(group, found);
    return found !== undefined;
  }

  #placeOf(site: Site, group: WaitingClass, view: QueueView): Place | undefined {
    const { nodes, name } = site;
    if (nodes === undefined || !site.isUsableBy(group.candidate, view)) return undefined;
    if (!site.isOpenFor(group.candidate, view) && !this.#maySeize(group, name)) return undefined;
    const holders: Holder[] = [];
    for (const [uid, booking] of this.#options.ledger.bookedOn(name)) {
      // Who leaves for somebody else makes no room for this one.
      const holder = this.#isPromised(uid) ? undefined : this.#options.holderOf(uid, booking);
      if (holder !== undefined) holders.push(holder);
    }
    return { cluster: name, nodes, holders };
  }

  #isPromised(uid: HubUid): boolean {
    for (const { leaving } of this.#claims.values()) if (leaving?.has(uid) === true) return true;
    return false;
  }

  #displace(group: WaitingClass, { cluster, victims, going }: Displacement): void {
    const { displace, nameOf } = this.#options;
    const preemptor = nameOf(group.first.uid);
    const leaving = new Set([...victims, ...going].map(({ uid }) => uid));
    this.#claim(group, cluster, leaving);
    for (const { uid, queue } of victims) {
      const why =
        queue === group.queue
          ? `${preemptor} of the same queue has a higher priority (${group.first.priority})`
          : `queue ${group.queue} takes back what it is guaranteed, for ${preemptor}`;
      displace(uid, why);
    }
  }

  /** Whoever may displace a Job may also have the nodes that are kept for it. */
  #maySeize({ queue, candidate, first }: WaitingClass, cluster: ClusterName): boolean {
    const { queues } = this.#options;
    const { reclaim, withinQueue } = queues.preemption(queue);
    for (const claim of this.#claims.values()) {
      if (claim.cluster !== cluster || claim.leaving !== undefined) continue;
      const isMoreImportant = first.priority > claim.priority;
      const may =
        claim.queue === queue
          ? withinQueue === "LowerPriority" && isMoreImportant
          : (reclaim === "Any" || (reclaim === "LowerPriority" && isMoreImportant)) &&
            isWithinGuarantee(askedBy(candidate), queues.quotaOf(queue));
      if (!may) return false;
    }
    return true;
  }

  /** One Job of each queue, in the order in which they would go: the nodes that one gets are not free for the others. */
  *#reserve(blocked: readonly WaitingClass[]): Generator<void> {
    const { queues } = this.#options;
    const have = new Set<string>();
    for (const { queue, leaving } of this.#claims.values()) if (leaving === undefined) have.add(queue);
    const inOrder = blocked.filter(({ queue }) => queues.reserveAfterMs(queue) !== undefined);
    inOrder.sort((one, other) => (queues.goesFirst(one, other) ? -1 : 1));
    for (const group of inOrder) {
      if (have.has(group.queue)) continue;
      yield;
      const view = queues.view(group.queue);
      if (view === undefined || !this.#isBlocked(group)) continue;
      const site = this.#reservations.start(group, view, this.#taken());
      if (site === undefined) continue;
      this.#claim(group, site.name, undefined);
      have.add(group.queue);
    }
  }

  #taken(): Set<ClusterName> {
    return new Set([...this.#claims.values()].map(({ cluster }) => cluster));
  }

  #claim({ key, queue, first, candidate }: WaitingClass, cluster: ClusterName, leaving: Claim["leaving"]): void {
    this.#claims.set(key, { queue, priority: first.priority, cluster, leaving });
    const site = this.#options.sites.get(cluster);
    if (leaving === undefined) site?.keep(key, candidate);
    else site?.hold(key, candidate);
    this.#options.changed(cluster);
  }
}
