import type { Amounts } from "@jobferry/shared/job/requests.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { Clusters } from "../clusters/clusters.ts";
import { type Candidate, type ClusterView, isInReach, isOpen, type QueueView } from "./eligibility.ts";
import { hasRoom } from "./fit/fits.ts";
import { freeRooms, MAX_ROOMS } from "./fit/free-rooms.ts";
import type { JobNeeds } from "./fit/job-needs.ts";
import { hasPlace, type ResourceNumbers, type Vector } from "./fit/vectors.ts";
import type { Ledger } from "./ledger.ts";

/** A cluster as placement sees it now, with what was worked out of its figures as long as they stay the same. */
export class Site implements ClusterView {
  readonly name: ClusterName;
  readonly #cluster: Cluster;
  readonly #ledger: Pick<Ledger, "runningOn">;
  readonly #rooms = new Map<string, readonly Vector[]>();
  #roomsOf: { figures: NodesReport | number; resources: number } | undefined;
  #namespaces: { list: readonly string[]; set: ReadonlySet<string> } | undefined;

  constructor(cluster: Cluster, ledger: Pick<Ledger, "runningOn">) {
    this.name = cluster.name;
    this.#cluster = cluster;
    this.#ledger = ledger;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#cluster.object.metadata.labels ?? {};
  }

  get connected(): boolean {
    return this.#cluster.isConnected;
  }

  get notReady(): string | undefined {
    return this.#cluster.notReady;
  }

  get cordoned(): boolean {
    const { cordoned, drain } = this.#cluster.object.spec;
    return cordoned === true || drain === true;
  }

  get maxJobs(): number | undefined {
    return this.#cluster.object.spec.maxJobs;
  }

  get namespaces(): ReadonlySet<string> | undefined {
    const list = this.#cluster.object.spec.namespaces;
    if (list === undefined) return undefined;
    if (this.#namespaces?.list !== list) this.#namespaces = { list, set: new Set(list) };
    return this.#namespaces.set;
  }

  get running(): number {
    return this.#ledger.runningOn(this.name);
  }

  get free(): Amounts | undefined {
    return this.#cluster.capacity.free;
  }

  get largestFreeNode(): Amounts | undefined {
    return this.#cluster.capacity.largestFreeNode;
  }

  get largestNode(): Amounts | undefined {
    return this.#cluster.capacity.largestNode;
  }

  get nodes(): NodesReport | undefined {
    return this.#cluster.capacity.nodes;
  }

  readonly isKeptFrom = ({ rules }: JobNeeds): boolean => this.#cluster.capacity.isKeptFrom(rules, undefined);

  readonly leavesRoomFor = (needs: JobNeeds): boolean => this.#cluster.capacity.unseenLeaveRoomFor(needs);

  /** Room for one pod each, on nodes where pods with these rules may go; undefined: not limited. */
  rooms({ where, rules }: Candidate, numbers: ResourceNumbers): readonly Vector[] | undefined {
    const { capacity } = this.#cluster;
    if (!capacity.isKnown) return undefined;
    const { nodes } = this;
    const figures = nodes ?? capacity.version;
    if (this.#roomsOf?.figures !== figures || this.#roomsOf.resources !== numbers.size) {
      this.#rooms.clear();
      this.#roomsOf = { figures, resources: numbers.size };
    }
    let rooms = this.#rooms.get(where);
    if (rooms === undefined) {
      rooms = nodes === undefined ? this.#figures(numbers) : freeRooms(rules, nodes, numbers);
      this.#rooms.set(where, rooms);
    }
    return rooms;
  }

  /** The same as an obstacle that is not there, without words. */
  canTake(group: Asking, queue: QueueView, numbers: ResourceNumbers): boolean {
    const { candidate, asks, key } = group;
    if (!this.isOpenFor(candidate, queue, key)) return false;
    return this.hasRoomFor(candidate, asks, numbers) || this.hasHeldRoomFor(candidate, key);
  }

  /** Room that is kept for this class. */
  hasHeldRoomFor(candidate: Candidate, key: string): boolean {
    const nodes = this.nodesFor(key);
    return nodes !== undefined && hasRoom(candidate, nodes) && this.leavesRoomFor(candidate);
  }

  /** The nodes as this class sees them, if room is kept for it. */
  nodesFor(key: string): NodesReport | undefined {
    return this.#cluster.capacity.nodesFor(key);
  }

  hold(key: string, needs: JobNeeds): void {
    this.#cluster.capacity.hold(key, needs);
  }

  keep(key: string, needs: JobNeeds): void {
    this.#cluster.capacity.keep(key, needs);
  }

  /** Nothing is held or kept for it any more. */
  release(key: string): void {
    this.#cluster.capacity.release(key);
  }

  hasRoomFor(candidate: Candidate, asks: Vector, numbers: ResourceNumbers): boolean {
    const rooms = this.rooms(candidate, numbers);
    if (!hasPlace(asks, rooms)) return false;
    if (this.nodes === undefined) return true;
    const isExact = candidate.simple && (rooms?.length ?? 0) < MAX_ROOMS;
    return (isExact || hasRoom(candidate, this.nodes)) && this.leavesRoomFor(candidate);
  }

  /** Whether it takes Jobs like this one at all now, room aside. A class whose key is given may have been promised something. */
  isOpenFor(candidate: Candidate, queue: QueueView, key?: string): boolean {
    return this.isUsableBy(candidate, queue) && !this.#cluster.capacity.isKeptFrom(candidate.rules, key);
  }

  /** The same, whatever is kept for others. */
  isUsableBy(candidate: Candidate, queue: QueueView): boolean {
    return isOpen(candidate, queue, this);
  }

  /** Whether its nodes may be kept for this class, if they are not kept for another one. */
  isKeepableFor({ candidate, key }: Asking, queue: QueueView): boolean {
    return isInReach(candidate, queue, this) && !this.#cluster.capacity.isKeptFrom(candidate.rules, key);
  }

  /** Of an agent that does not report its nodes. */
  #figures(numbers: ResourceNumbers): readonly Vector[] {
    const [free, onOneNode] = [this.free ?? new Map(), this.largestFreeNode ?? new Map()];
    const room = Array.from({ length: numbers.size }, () => 0);
    for (const [resource, amount] of free) {
      const at = numbers.get(resource);
      if (at !== undefined) room[at] = Math.min(amount, onOneNode.get(resource) ?? 0);
    }
    return [room];
  }
}

/** A class of Jobs that looks for room. */
interface Asking {
  readonly key: string;
  readonly candidate: Candidate;
  readonly asks: Vector;
}

export class Sites {
  readonly #clusters: Clusters;
  readonly #ledger: Pick<Ledger, "runningOn">;
  readonly #sites = new WeakMap<Cluster, Site>();

  constructor(clusters: Clusters, ledger: Pick<Ledger, "runningOn">) {
    this.#clusters = clusters;
    this.#ledger = ledger;
  }

  get size(): number {
    return this.#clusters.size;
  }

  get(name: ClusterName): Site | undefined {
    const cluster = this.#clusters.get(name);
    return cluster === undefined ? undefined : this.#siteOf(cluster);
  }

  *[Symbol.iterator](): Generator<Site> {
    for (const cluster of this.#clusters) yield this.#siteOf(cluster);
  }

  #siteOf(cluster: Cluster): Site {
    const known = this.#sites.get(cluster);
    if (known !== undefined) return known;
    const site = new Site(cluster, this.#ledger);
    this.#sites.set(cluster, site);
    return site;
  }
}
