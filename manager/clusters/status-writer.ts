import { type FleetCondition, type WorkerCluster, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { type Clock, timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { Clusters } from "./registry.ts";

type Status = NonNullable<WorkerCluster["status"]>;
type Why = Required<Pick<FleetCondition, "reason" | "message">>;

/** Figures that change all the time are written this often at most; a changed condition is written at once. */
const REFRESH_MS = 30_000;

/** Shows on each WorkerCluster what its agent said last and whether it can be reached. */
export class ClusterStatusWriter {
  readonly #api: KubeApi;
  readonly #clock: Clock;
  readonly #clusters: Clusters;
  readonly #refreshed = new Map<string, number>();
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(api: KubeApi, clock: Clock, clusters: Clusters) {
    this.#api = api;
    this.#clock = clock;
    this.#clusters = clusters;
  }

  /** Resolves when the object says what is so now. One write at a time: the later decision must not arrive first. */
  write(name: string): Promise<void> {
    const before = this.#underWay.get(name) ?? Promise.resolve();
    const after = before.catch(() => {}).then(() => this.#write(name));
    this.#underWay.set(name, after);
    return after.finally(() => {
      if (this.#underWay.get(name) === after) this.#underWay.delete(name);
    });
  }

  async #write(name: string): Promise<void> {
    const object = this.#clusters.object(name);
    if (object === undefined) return;
    const status = this.#statusOf(name, object);
    const due = this.#clock.monotonic() - (this.#refreshed.get(name) ?? Number.NEGATIVE_INFINITY) >= REFRESH_MS;
    if (!due && sameConditions(status.conditions, object.status?.conditions)) return;
    if (JSON.stringify(status) === JSON.stringify(object.status)) return;
    const body = { metadata: { uid: object.metadata.uid }, status };
    const patch = { type: "merge" as const, body };
    this.#clusters.upsert(await this.#api.patch(workerClusters, { name }, patch, { subresource: "status" }));
    this.#refreshed.set(name, this.#clock.monotonic());
  }

  forget(name: string): void {
    this.#refreshed.delete(name);
  }

  #statusOf(name: string, object: WorkerCluster): Status {
    const clusters = this.#clusters;
    const health = clusters.health(name);
    const connected = clusters.isConnected(name);
    const conditions = [
      this.#condition(object, "Connected", connected, this.#contact(name, connected)),
      this.#condition(object, "Ready", connected && !clusters.isRebuilt(name), this.#readiness(name, connected)),
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
      ...(connected ? { lastContactTime: timestamp(this.#clock.now()) } : {}),
      runningJobs: clusters.jobsOn(name).size,
      silentSeconds: Math.floor(clusters.silentMs(name) / 1000),
      conditions,
    };
  }

  #isOurFault(): boolean {
    return this.#clusters.frozen && this.#clusters.names().length > 1;
  }

  #contact(name: string, connected: boolean): Why {
    if (connected) return { reason: "Heartbeats", message: "The agent is heard" };
    const distrust = this.#distrust(name);
    if (distrust !== undefined) return distrust;
    const refusal = this.#clusters.refusal(name);
    if (refusal !== undefined)
      return { reason: "MessagesRefused", message: `What the agent sends is refused: ${refusal}` };
    if (this.#isOurFault())
      return {
        reason: "MostClustersSilent",
        message: "Most clusters look lost at once: the fault is taken to be on the hub's side, and no loss timer runs",
      };
    const silentSeconds = Math.floor(this.#clusters.silentMs(name) / 1000);
    return { reason: "Silent", message: `Nothing heard; ${silentSeconds} s count towards lostAfter` };
  }

  #readiness(name: string, connected: boolean): Why {
    if (this.#clusters.isRebuilt(name))
      return {
        reason: "Rebuilt",
        message:
          "The agent speaks for another cluster than the one enrolled; enrol it again with `jobferry cluster add`",
      };
    if (connected) return { reason: "Accepting", message: "Jobs can be placed here" };
    return this.#distrust(name) ?? { reason: "NotConnected", message: "The agent is not connected" };
  }

  #distrust(name: string): Why | undefined {
    if (!this.#clusters.distrustsUs(name)) return undefined;
    const fix = `put ${this.#clusters.managerKey} under manager-key in the Secret jobferry-agent of that cluster and restart the agent`;
    return {
      reason: "OtherManagerKey",
      message: `The agent is heard, but refuses whatever this manager sends: it trusts another manager's key; ${fix}`,
    };
  }

  /** The message alone does not move the transition time. */
  #condition(object: WorkerCluster, type: string, holds: boolean, why: Why): FleetCondition {
    const status = holds ? "True" : "False";
    const before = object.status?.conditions?.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : timestamp(this.#clock.now());
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
