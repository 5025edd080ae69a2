/**
 * Which Jobs would have to leave a cluster so that a waiting one can start there. Pure: nothing is displaced here.
 *
 * A queue takes back what it is guaranteed (`reclaim`) from queues that hold more than they are; within a queue the more
 * important Job may take the place of others (`withinQueue`). The set is the cheapest: the fewest, then the least important, then
 * those that lose the least. After it the Job has room and its queue lets it go, or there is no set.
 */
import type { Amounts } from "@jobferry/shared/job/requests.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import type { JobNeeds } from "../fit/job-needs.ts";
import { isWithinGuarantee, type QueueQuota, quotaObstacle } from "../order/quota.ts";
import { RoomAfter } from "./room-after.ts";

export interface PreemptionRules {
  readonly reclaim: "Never" | "LowerPriority" | "Any";
  readonly withinQueue: "Never" | "LowerPriority";
}

/** A Job that has a cluster. */
export interface Holder {
  readonly uid: HubUid;
  readonly queue: string;
  readonly priority: number;
  readonly needs: JobNeeds;
  /** Its pods that surely are on a node: only they make room. */
  readonly running: number;
  /** What would be lost: pods times the time they have run. */
  readonly loss: number;
  /** It is on its way out already. */
  readonly leaving: boolean;
  /** It was displaced lately, and is left alone for a while. */
  readonly spared: boolean;
}

export interface Preemptor {
  readonly queue: string;
  readonly priority: number;
  readonly needs: JobNeeds;
  /** All that it asks for, itself as one of `jobs`. */
  readonly asked: Amounts;
  readonly rules: PreemptionRules;
}

export interface Place {
  readonly cluster: ClusterName;
  readonly nodes: NodesReport;
  readonly holders: readonly Holder[];
}

export interface Displacement {
  readonly cluster: ClusterName;
  readonly victims: readonly Holder[];
  /** Those that leave there in any case, and were counted on. */
  readonly going: readonly Holder[];
}

/** More are never displaced for one Job. */
const MAX_VICTIMS = 32;

/** `quotaOf`: what each queue may hold and holds now. Undefined: displacing others there would not help, or is not allowed. */
export function victimsOn(
  place: Place,
  preemptor: Preemptor,
  quotaOf: (queue: string) => QueueQuota,
): Displacement | undefined {
  const search = new Search(preemptor, place, quotaOf);
  let best: Displacement | undefined;
  for (const order of [search.bySize, search.byImportance]) {
    const victims = search.cheapest(order);
    if (victims === undefined) continue;
    const found = { cluster: place.cluster, victims, going: search.going };
    if (best === undefined || isCheaper(found, best)) best = found;
  }
  return best;
}

export function isCheaper(one: Displacement, other: Displacement): boolean {
  const order =
    one.victims.length - other.victims.length ||
    highest(one) - highest(other) ||
    lossOf(one) - lossOf(other) ||
    (one.cluster < other.cluster ? -1 : 1);
  return order < 0;
}

const highest = ({ victims }: Displacement): number => Math.max(0, ...victims.map(({ priority }) => priority));
const lossOf = ({ victims }: Displacement): number => victims.reduce((sum, { loss }) => sum + loss, 0);

type Order = (one: Holder, other: Holder) => number;

/** One cluster. */
class Search {
  readonly #preemptor: Preemptor;
  readonly #place: Place;
  readonly #quotaOf: (queue: string) => QueueQuota;
  readonly #room: RoomAfter;
  readonly going: readonly Holder[];

  constructor(preemptor: Preemptor, place: Place, quotaOf: (queue: string) => QueueQuota) {
    this.#preemptor = preemptor;
    this.#place = place;
    this.#quotaOf = quotaOf;
    this.#room = new RoomAfter(preemptor.needs, place.nodes);
    this.going = place.holders.filter(({ leaving }) => leaving);
  }

  readonly byImportance: Order = (one, other) =>
    one.priority - other.priority || one.loss - other.loss || (one.uid < other.uid ? -1 : 1);

  readonly bySize: Order = (one, other) => this.#helpOf(other) - this.#helpOf(one) || this.byImportance(one, other);

  cheapest(order: Order): readonly Holder[] | undefined {
    const chosen: Holder[] = [];
    if (this.#isEnough(chosen)) return chosen;
    const able = this.#place.holders.filter((holder) => this.#maySomeday(holder)).sort(order);
    // With more of them gone there is never less room.
    if (!this.#isEnough(able)) return undefined;
    for (const holder of able) {
      if (!this.#mayDisplace(holder, chosen)) continue;
      chosen.push(holder);
      if (chosen.length > MAX_VICTIMS) return undefined;
      if (this.#isEnough(chosen)) return this.#withoutNeedless(chosen);
    }
    return undefined;
  }

  /** Those that were taken early may have become needless by those that came later. */
  #withoutNeedless(chosen: readonly Holder[]): readonly Holder[] {
    let left = chosen;
    for (const holder of [...chosen].sort(this.byImportance).reverse()) {
      const others = left.filter((other) => other !== holder);
      if (this.#isAllowed(others) && this.#isEnough(others)) left = others;
    }
    return left;
  }

  #isAllowed(chosen: readonly Holder[]): boolean {
    return chosen.every((holder, i) => this.#mayDisplace(holder, chosen.slice(0, i)));
  }

  #helpOf({ needs, running }: Holder): number {
    return running * this.#room.inPlaceOf(needs);
  }

  #maySomeday({ queue, priority, leaving, spared }: Holder): boolean {
    const { queue: own, priority: mine, rules } = this.#preemptor;
    if (leaving || spared) return false;
    if (queue === own) return rules.withinQueue === "LowerPriority" && priority < mine;
    return rules.reclaim === "Any" || (rules.reclaim === "LowerPriority" && priority < mine);
  }

  /** Its own queue's, or one of a queue that holds more than it is guaranteed, once the others are gone. */
  #mayDisplace(holder: Holder, before: readonly Holder[]): boolean {
    const { queue: own, asked } = this.#preemptor;
    if (holder.queue === own) return true;
    const gone = [...this.going, ...before];
    return (
      isWithinGuarantee(asked, without(this.#quotaOf(own), gone)) &&
      holdsTooMuch(without(this.#quotaOf(holder.queue), gone), asked)
    );
  }

  #isEnough(chosen: readonly Holder[]): boolean {
    const { needs, asked, queue } = this.#preemptor;
    const gone = [...this.going, ...chosen];
    if (quotaObstacle(asked, without(this.#quotaOf(queue), gone)) !== undefined) return false;
    const room = this.#room.of(gone.map(leavingOf));
    return room >= (needs.gang ? needs.pods : 1);
  }
}

/** Pods that are on no node make no room. One object for each Job, so that its kind is worked out once. */
function leavingOf({ needs, running }: Holder): JobNeeds {
  if (running === needs.pods) return needs;
  const known = partlyRunning.get(needs);
  if (known?.pods === running) return known;
  const leaving = { ...needs, pods: running };
  partlyRunning.set(needs, leaving);
  return leaving;
}

const partlyRunning = new WeakMap<JobNeeds, JobNeeds>();

/** More than its guarantee, of something that is asked for; without a quota nothing is guaranteed. */
function holdsTooMuch({ quota, used }: QueueQuota, asked: Amounts): boolean {
  if (quota.size === 0) return true;
  for (const [resource, limit] of quota)
    if ((asked.get(resource) ?? 0) > 0 && (used.get(resource) ?? 0) > limit) return true;
  return false;
}

/** The books as they are when these have left. */
function without(queue: QueueQuota, gone: readonly Holder[]): QueueQuota {
  const { cohort } = queue;
  const own = gone.filter(({ queue: name }) => name === queue.name);
  if (gone.length === 0) return queue;
  return {
    ...queue,
    used: less(queue.used, own),
    cohort:
      cohort === undefined
        ? undefined
        : {
            ...cohort,
            used: less(
              cohort.used,
              gone.filter(({ queue: name }) => cohort.members.has(name)),
            ),
          },
  };
}

function less(used: Amounts, gone: readonly Holder[]): Amounts {
  const left = new Map(used);
  for (const { needs } of gone) {
    left.set("jobs", (left.get("jobs") ?? 0) - 1);
    for (const [resource, amount] of needs.perPod) left.set(resource, (left.get(resource) ?? 0) - amount * needs.pods);
  }
  return left;
}
