import { type FleetCondition, type WorkerCluster, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import { type Clock, timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { Cluster } from "./cluster.ts";
import type { Clusters } from "./clusters.ts";

type Status = NonNullable<WorkerCluster["status"]>;
type Patched = Omit<Status, "setAside"> & { setAside?: Status["setAside"] | null };
type Why = Required<Pick<FleetCondition, "reason" | "message">>;

/** Figures that change all the time are written this often at most; a changed condition is written at once. */
const REFRESH_MS = 30_000;
const MAX_REASON = 1024;

export interface StatusWriterOptions {
  readonly api: Pick<KubeApi, "patch">;
  readonly clock: Clock;
  readonly clusters: Clusters;
  /** Unfinished Jobs that are this cluster's by what the hub stores. */
  runningJobs(cluster: ClusterName): number;
}

/** Shows on each WorkerCluster what its agent said last and whether it can be reached. */
export class ClusterStatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #refreshed = new WeakMap<Cluster, number>();
  readonly #underWay = new WeakMap<Cluster, Promise<void>>();

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /** Resolves when the object says what is so now. One write at a time: the later decision must not arrive first. */
  write(cluster: Cluster): Promise<void> {
    const before = this.#underWay.get(cluster) ?? Promise.resolve();
    const after = before.catch(() => {}).then(() => this.#write(cluster));
    this.#underWay.set(cluster, after);
    return after;
  }

  async #write(cluster: Cluster): Promise<void> {
    const { api, clock } = this.#options;
    const { object, name } = cluster;
    const status = this.#statusOf(cluster);
    const due = clock.monotonic() - (this.#refreshed.get(cluster) ?? Number.NEGATIVE_INFINITY) >= REFRESH_MS;
    if (!due && sameConditions(status.conditions, object.status?.conditions)) return;
    if (JSON.stringify(status) === JSON.stringify(object.status)) return;
    // Locked: a manager that was frozen, and is no longer the leader, must not store a silence of long ago.
    const { uid, resourceVersion } = object.metadata;
    const patch = { type: "merge" as const, body: { metadata: { uid, resourceVersion }, status } };
    cluster.update(await api.patch(workerClusters, { name }, patch, { subresource: "status" }));
    this.#refreshed.set(cluster, clock.monotonic());
  }

  #statusOf(cluster: Cluster): Patched {
    const { object, health, isConnected } = cluster;
    const conditions = [
      this.#condition(object, "Connected", isConnected, this.#contact(cluster)),
      this.#condition(
        object,
        "Ready",
        isConnected && !cluster.isRebuilt && !cluster.breaker.isSetAside,
        this.#readiness(cluster),
      ),
    ];
    return {
      ...object.status,
      ...(health === undefined
        ? {}
        : {
            capacity: health.capacity,
            free: health.free,
            largestFreeNode: health.largestFreeNode,
            largestNode: health.largestNode,
            agentVersion: health.agentVersion,
            kubernetesVersion: health.kubernetesVersion,
            clusterID: object.status?.clusterID ?? health.clusterID,
          }),
      ...(isConnected ? { lastContactTime: timestamp(this.#options.clock.now()) } : {}),
      runningJobs: this.#options.runningJobs(cluster.name),
      silentSeconds: Math.floor(cluster.silence.silentMs / 1000),
      ...this.#setAside(cluster),
      conditions,
    };
  }

  /** What a manager that starts anew reads. In a merge patch, null takes it away. */
  #setAside({ breaker, object }: Cluster): { setAside?: Status["setAside"] | null } {
    const { clock } = this.#options;
    const stored = object.status?.setAside;
    if (!breaker.isSetAside) return stored === undefined ? {} : { setAside: null };
    if (stored?.times === breaker.times) return { setAside: stored };
    const until = timestamp(clock.now() + breaker.leftMs(clock.monotonic()));
    return { setAside: { until, times: breaker.times, reason: breaker.why.slice(0, MAX_REASON) } };
  }

  #isOurFault(): boolean {
    return this.#options.clusters.frozen && this.#options.clusters.size > 1;
  }

  #contact(cluster: Cluster): Why {
    if (cluster.isConnected && cluster.isDoubled)
      return {
        reason: "TwoAgents",
        message:
          "Two agents speak under this name with the same keys: end the one that should not be; if it is not yours, its Secret was stolen, and `jobferry cluster add --renew` gives the cluster new keys",
      };
    if (cluster.isConnected) return { reason: "Heartbeats", message: "The agent is heard" };
    const distrust = this.#distrust(cluster);
    if (distrust !== undefined) return distrust;
    const { refusal } = cluster;
    if (refusal !== undefined)
      return { reason: "MessagesRefused", message: `What the agent sends is refused: ${refusal}` };
    if (this.#isOurFault())
      return {
        reason: "MostClustersSilent",
        message: "Most clusters look lost at once: the fault is taken to be on the hub's side, and no loss timer runs",
      };
    const silentSeconds = Math.floor(cluster.silence.silentMs / 1000);
    if (cluster.silence.isBlind)
      return {
        reason: "QueueUnreachable",
        message: `Redis does not answer for this cluster's queue: its loss timer stands at ${silentSeconds} s`,
      };
    return { reason: "Silent", message: `Nothing heard; ${silentSeconds} s count towards lostAfter` };
  }

  #readiness(cluster: Cluster): Why {
    if (cluster.isRebuilt)
      return {
        reason: "Rebuilt",
        message:
          "The agent speaks for another cluster than the one enrolled; enrol it again with `jobferry cluster add`",
      };
    const { breaker } = cluster;
    if (cluster.isConnected && breaker.isSetAside)
      return breaker.isOpen(this.#options.clock.monotonic())
        ? { reason: "SetAside", message: `No Jobs are placed here for a while: ${breaker.why}` }
        : { reason: "OnTrial", message: `One Job at a time is placed here, until one starts well: ${breaker.why}` };
    if (cluster.isConnected) return { reason: "Accepting", message: "Jobs can be placed here" };
    return this.#distrust(cluster) ?? { reason: "NotConnected", message: "The agent is not connected" };
  }

  #distrust(cluster: Cluster): Why | undefined {
    if (!cluster.distrustsUs) return undefined;
    const fix = `put ${this.#options.clusters.managerKey} under manager-key in the Secret jobferry-agent of that cluster and restart the agent`;
    return {
      reason: "OtherManagerKey",
      message: `The agent is heard, but refuses whatever this manager sends: it trusts another manager's key; ${fix}`,
    };
  }

  /** The message alone does not move the transition time. */
  #condition(object: WorkerCluster, type: string, holds: boolean, why: Why): FleetCondition {
    const status = holds ? "True" : "False";
    const before = object.status?.conditions?.find((condition) => condition.type === type);
    const lastTransitionTime =
      before?.status === status ? before.lastTransitionTime : timestamp(this.#options.clock.now());
    return { type, status, ...why, ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }) };
  }
}

const sameConditions = (
  one: readonly FleetCondition[] | undefined,
  other: readonly FleetCondition[] | undefined,
): boolean => {
  const brief = (conditions: readonly FleetCondition[] = []) =>
    conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`).join();
  return brief(one) === brief(other);
};
