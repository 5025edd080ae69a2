/** What manager and agent see of the way between them: typed messages, sealed and opened here, over any Bus. */
import { z } from "zod";
import { openDelivery, openReport, sealDelivery, sealReport } from "../protocol/codec.ts";
import type { Delivery } from "../protocol/delivery.ts";
import { ProtocolError } from "../protocol/errors.ts";
import { parseJson } from "../protocol/json.ts";
import type { OwnKeys, PeerKeys, PublicKey } from "../protocol/keys.ts";
import { type ClusterName, type HubUid, hubUid } from "../protocol/names.ts";
import type { Report } from "../protocol/report.ts";
import { Sealer } from "../protocol/sealer.ts";
import type { Bus, ConsumeOptions, Subscription } from "./bus.ts";

/** BullMQ's range; 0 is the most urgent. */
export const MAX_PRIORITY = 2_097_151;

/** Not sealed, since the manager alone can reach it: so it holds nothing of the Job but how urgent it is. */
const intakeEntry = z.strictObject({
  uid: hubUid,
  priority: z.int().min(0).max(MAX_PRIORITY),
});
/** A claimed hub Job that awaits placement. */
type IntakeEntry = z.infer<typeof intakeEntry>;

type Options = Partial<ConsumeOptions>;

export interface ManagerTransport {
  /** Rejects with TransportError (full, unreachable): the state stays on the hub and is delivered later. */
  sendDelivery(cluster: ClusterName, delivery: Delivery): Promise<void>;
  /** Only reports sealed with this cluster's key get here; whether they are its Jobs and news, the handler decides. */
  onReport(cluster: ClusterName, handler: (report: Report) => Promise<void>, options?: Options): Subscription;
  /** One entry per Job: while it waits, a second one is dropped. To change its priority, withdraw it first. */
  enqueueIntake(entry: IntakeEntry): Promise<void>;
  withdrawIntake(uid: HubUid): Promise<void>;
  onIntake(handler: (entry: IntakeEntry) => Promise<void>, options?: Options): Subscription;
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
    async sendDelivery(cluster, delivery) {
      const [key] = clusterKeys(cluster);
      if (key === undefined) throw new ProtocolError("protocol/key", `WorkerCluster ${cluster} has none`);
      await bus.send({ cluster, box: "deliveries" }, sealDelivery(delivery, cluster, sealer, key));
    },
    onReport: (cluster, handler, options) =>
      bus.consume(
        { cluster, box: "reports" },
        async (text) => handler(openReport(text, cluster, sealer, clusterKeys(cluster))),
        options,
      ),
    async enqueueIntake(entry) {
      const text = JSON.stringify(checkedEntry(entry));
      await bus.send({ box: "intake" }, text, { id: intakeId(entry.uid), priority: entry.priority });
    },
    withdrawIntake: (uid) => bus.withdraw({ box: "intake" }, intakeId(uid)),
    onIntake: (handler, options) =>
      bus.consume({ box: "intake" }, async (text) => handler(checkedEntry(parseJson(text))), options),
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

/** BullMQ takes ids that consist of digits for its own. */
const intakeId = (uid: HubUid): string => `job-${uid}`;

function checkedEntry(entry: unknown): IntakeEntry {
  const result = intakeEntry.safeParse(entry);
  if (!result.success) throw new ProtocolError("protocol/schema", result.error.issues[0]?.path.join("."));
  return result.data;
}
