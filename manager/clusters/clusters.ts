import type { WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { type Random, realRandom } from "@jobferry/shared/runtime/random.ts";
import { Cluster } from "./cluster.ts";
import { isOurFault } from "./silence.ts";

/** The worker clusters that are enrolled. */
export class Clusters {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #clusters = new Map<ClusterName, Cluster>();
  /** The public half of the manager's own key. */
  readonly managerKey: string;
  #countedUpTo: number;

  constructor(clock: Clock, managerKey: string, random: Random = realRandom) {
    this.#clock = clock;
    this.#random = random;
    this.managerKey = managerKey;
    this.#countedUpTo = clock.monotonic();
  }

  upsert(name: ClusterName, object: WorkerCluster): Cluster {
    const known = this.#clusters.get(name);
    if (known !== undefined) {
      known.update(object);
      return known;
    }
    const cluster = new Cluster(name, object, this.#clock, this.#random, this.managerKey);
    this.#clusters.set(name, cluster);
    return cluster;
  }

  get(name: ClusterName): Cluster | undefined {
    return this.#clusters.get(name);
  }

  remove(name: ClusterName): void {
    this.#clusters.delete(name);
  }

  get size(): number {
    return this.#clusters.size;
  }

  [Symbol.iterator](): Iterator<Cluster> {
    return this.#clusters.values();
  }

  /** Counts the time since the last call; call it every few seconds. `reachable`: Redis answered for its queue. */
  countSilence(reachable: (cluster: ClusterName) => boolean): void {
    const now = this.#clock.monotonic();
    const sinceMs = now - this.#countedUpTo;
    this.#countedUpTo = now;
    for (const { name, silence } of this) silence.isBlind = !reachable(name);
    if (this.frozen) return;
    for (const { silence } of this) silence.count(now, sinceMs);
  }

  /** Most clusters are silent at once: none of them is counted as lost. */
  get frozen(): boolean {
    const silences = [...this].map(({ silence }) => silence);
    return isOurFault(silences, this.#clock.monotonic());
  }
}
