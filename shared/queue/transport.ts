/** What manager and agent see of the way between them: typed messages, sealed and opened here, over any Bus. */
import { openDelivery, openReport, sealDelivery, sealReport } from "../protocol/codec.ts";
import type { Delivery } from "../protocol/delivery.ts";
import { ProtocolError } from "../protocol/errors.ts";
import type { OwnKeys, PeerKeys, PublicKey } from "../protocol/keys.ts";
import type { ClusterName } from "../protocol/names.ts";
import type { Report } from "../protocol/report.ts";
import { Sealer } from "../protocol/sealer.ts";
import type { Address, Bus, ConsumeOptions, Subscription } from "./bus.ts";

/** BullMQ's range. */
export const MAX_PRIORITY = 2_097_151;

type Options = Partial<ConsumeOptions>;

export interface ManagerTransport {
  /**
   * Rejects with TransportError (full, unreachable): the state stays on the hub and is delivered later. Without a priority it
   * goes before those that have one; of those, a lower number goes first.
   */
  sendDelivery(cluster: ClusterName, delivery: Delivery, priority?: number): Promise<void>;
  /** Only reports sealed with this cluster's key get here; whether they are its Jobs and news, the handler decides. */
  onReport(cluster: ClusterName, handler: (report: Report) => Promise<void>, options?: Options): Subscription;
  /** Messages that the cluster has not taken yet. */
  deliveriesWaiting(cluster: ClusterName): Promise<number>;
  /** What the messages in a cluster's boxes take. */
  bytesWaiting(cluster: ClusterName, box: Address["box"]): Promise<number>;
  readonly reachable: boolean;
  onReachable(listener: (reachable: boolean) => void): () => void;
}

export interface AgentTransport {
  sendReport(report: Report): Promise<void>;
  onDelivery(handler: (delivery: Delivery) => Promise<void>, options?: Options): Subscription;
  readonly reachable: boolean;
  onReachable(listener: (reachable: boolean) => void): () => void;
}

export interface ManagerTransportOptions {
  readonly bus: Bus;
  readonly keys: OwnKeys;
  /** Keys of a cluster at this moment: deliveries are for the first, reports may come under any. None: it is not enrolled. */
  readonly clusterKeys: (cluster: ClusterName) => readonly PublicKey[];
}

export function managerTransport({ bus, keys, clusterKeys }: ManagerTransportOptions): ManagerTransport {
  const sealer = new Sealer(keys);
  return {
    async sendDelivery(cluster, delivery, priority) {
      const [key] = clusterKeys(cluster);
      if (key === undefined) throw new ProtocolError("protocol/key", `WorkerCluster ${cluster} has none`);
      const text = sealDelivery(delivery, cluster, sealer, key);
      await bus.send({ cluster, box: "deliveries" }, text, priority === undefined ? {} : { priority });
    },
    onReport: (cluster, handler, options) =>
      bus.consume(
        { cluster, box: "reports" },
        async (text) => handler(openReport(text, cluster, sealer, clusterKeys(cluster))),
        options,
      ),
    deliveriesWaiting: (cluster) => bus.waiting({ cluster, box: "deliveries" }),
    bytesWaiting: (cluster, box) => bus.bytes({ cluster, box }),
    get reachable() {
      return bus.reachable;
    },
    onReachable: (listener) => bus.onReachable(listener),
  };
}

export interface AgentTransportOptions {
  readonly bus: Bus;
  readonly cluster: ClusterName;
  readonly keys: OwnKeys;
  /** The pinned ones. */
  readonly managerKeys: PeerKeys;
}

export function agentTransport({ bus, cluster, keys, managerKeys }: AgentTransportOptions): AgentTransport {
  const sealer = new Sealer(keys);
  return {
    async sendReport(report) {
      await bus.send({ cluster, box: "reports" }, sealReport(report, cluster, sealer, managerKeys[0]));
    },
    onDelivery: (handler, options) =>
      bus.consume(
        { cluster, box: "deliveries" },
        async (text) => handler(openDelivery(text, cluster, sealer, managerKeys)),
        options,
      ),
    get reachable() {
      return bus.reachable;
    },
    onReachable: (listener) => bus.onReachable(listener),
  };
}
