/** What manager and agent see of the way between them: typed messages, sealed and opened here, over any Bus. */
import type { KeyObject } from "node:crypto";
import { z } from "zod";
import { openDelivery, openReport, sealDelivery, sealReport } from "../protocol/codec.ts";
import type { Delivery } from "../protocol/delivery.ts";
import { ProtocolError } from "../protocol/errors.ts";
import { parseJson } from "../protocol/json.ts";
import { type ClusterName, type HubUid, hubUid } from "../protocol/names.ts";
import type { Report } from "../protocol/report.ts";
import type { Bus, ConsumeOptions, Subscription } from "./bus.ts";

/** BullMQ's range; 0 is the most urgent. */
export const MAX_PRIORITY = 2_097_151;

const intakeEntry = z.strictObject({
  uid: hubUid,
  namespace: z.string().min(1).max(63),
  name: z.string().min(1).max(253),
  /** The JobQueue. */
  queue: z.string().min(1).max(253),
  priority: z.int().min(0).max(MAX_PRIORITY),
});
/** A claimed hub Job that awaits placement. */
type IntakeEntry = z.infer<typeof intakeEntry>;

type Options = Partial<ConsumeOptions>;

export interface ManagerTransport {
  /** Rejects with TransportError (full, unreachable): the state stays on the hub and is delivered later. */
  sendDelivery(cluster: ClusterName, delivery: Delivery): Promise<void>;
  /** Only reports signed by this cluster's key get here; whether they are its Jobs and news, the handler decides. */
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
  readonly signingKey: KeyObject;
  /** Keys a cluster may sign with at this moment; none for a cluster that is not enrolled. */
  readonly clusterKeys: (cluster: ClusterName) => readonly KeyObject[];
}

export function managerTransport({ bus, signingKey, clusterKeys }: ManagerTransportOptions): ManagerTransport {
  return {
    async sendDelivery(cluster, delivery) {
      await bus.send({ cluster, box: "deliveries" }, sealDelivery(delivery, cluster, signingKey));
    },
    onReport: (cluster, handler, options) =>
      bus.consume(
        { cluster, box: "reports" },
        async (text) => handler(openReport(text, cluster, clusterKeys(cluster))),
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
  readonly signingKey: KeyObject;
  /** The pinned keys of the manager: the present one, and during a rotation the next. */
  readonly managerKeys: readonly KeyObject[];
}

export function agentTransport({ bus, cluster, signingKey, managerKeys }: AgentTransportOptions): AgentTransport {
  return {
    async sendReport(report) {
      await bus.send({ cluster, box: "reports" }, sealReport(report, cluster, signingKey));
    },
    onDelivery: (handler, options) =>
      bus.consume(
        { cluster, box: "deliveries" },
        async (text) => handler(openDelivery(text, cluster, managerKeys)),
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
