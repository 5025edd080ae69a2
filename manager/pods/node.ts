import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { isAlreadyExists, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { type Lease, leases } from "@jobferry/shared/kube/resources.ts";
import { VIRTUAL_TAINT } from "@jobferry/shared/protocol/marks.ts";
import { type Clock, sleep, timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { NODE_NAME } from "./projection.ts";

export interface VirtualNode extends KubeObject {
  spec?: { taints?: { key: string; value?: string; effect: string }[] };
  status?: Record<string, unknown>;
}

export const nodes: Resource<VirtualNode> = {
  group: "",
  version: "v1",
  plural: "nodes",
  kind: "Node",
  namespaced: false,
};

/** Where the API server finds the kubelet of the virtual node. */
export interface KubeletAddress {
  readonly address: string;
  readonly port: number;
}

export interface NodeKeeperOptions {
  readonly api: Pick<KubeApi, "create" | "get" | "patch" | "replace" | "delete">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly identity: string;
  /** Undefined: logs cannot be read through this node. */
  readonly kubelet?: KubeletAddress | undefined;
}

export const LEASE_NAMESPACE = "kube-node-lease";
const LEASE_SECONDS = 40;
const EVERY_MS = 10_000;
/** The status changes rarely; it is written this often, in case that somebody else wrote it. */
const STATUS_EVERY_MS = 60_000;
const NOTHING = { cpu: "0", memory: "0", pods: "0", "ephemeral-storage": "0" };

/** Keeps the virtual node that shadow pods are bound to. It has no room, and is Ready while a manager leads. */
export class NodeKeeper {
  readonly #options: NodeKeeperOptions;
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(options: NodeKeeperOptions) {
    this.#options = options;
  }

  /** Until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    while (!signal.aborted) {
      await this.keep().catch((error: unknown) => logger.warn({ error }, "the virtual node could not be kept"));
      await sleep(clock, EVERY_MS, signal).catch(() => {});
    }
  }

  async keep(): Promise<void> {
    const { clock } = this.#options;
    if (clock.monotonic() - this.#shownAt >= STATUS_EVERY_MS) {
      await this.#ensure();
      await this.#show();
      this.#shownAt = clock.monotonic();
    }
    await this.#renew();
  }

  async #ensure(): Promise<void> {
    const { api } = this.#options;
    try {
      await api.create(nodes, undefined, {
        apiVersion: "v1",
        kind: "Node",
        metadata: {
          name: NODE_NAME,
          labels: { type: "virtual-kubelet", "node.kubernetes.io/exclude-from-external-load-balancers": "true" },
        },
        // Never NoExecute: nothing that stands here may be evicted.
        spec: { taints: [{ key: VIRTUAL_TAINT, value: "true", effect: "NoSchedule" }] },
      });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #show(): Promise<void> {
    const { api, clock, kubelet } = this.#options;
    const now = timestamp(clock.now());
    const conditions = [
      condition("Ready", "True", "ManagerLeads", "shadow pods are kept by Jobferry's manager", now),
      ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) =>
        condition(type, "False", "Virtual", "nothing runs on this node", now),
      ),
    ];
    const status = {
      capacity: NOTHING,
      allocatable: NOTHING,
      conditions,
      nodeInfo: NODE_INFO,
      ...(kubelet === undefined
        ? {}
        : {
            addresses: [{ type: "InternalIP", address: kubelet.address }],
            daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
          }),
    };
    await api.patch(nodes, { name: NODE_NAME }, { type: "merge", body: { status } }, { subresource: "status" });
  }

  async #renew(): Promise<void> {
    const { api, clock, identity } = this.#options;
    const renewTime = `${timestamp(clock.now()).replace(/Z$/, "")}.000000Z`;
    const spec = { holderIdentity: identity, leaseDurationSeconds: LEASE_SECONDS, renewTime };
    const key = { namespace: LEASE_NAMESPACE, name: NODE_NAME };
    try {
      await api.patch(leases, key, { type: "merge", body: { spec } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const lease: Lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: key, spec };
      await api.create(leases, LEASE_NAMESPACE, lease);
    }
  }
}

const condition = (type: string, status: string, reason: string, message: string, now: string) => ({
  type,
  status,
  reason,
  message,
  lastHeartbeatTime: now,
  lastTransitionTime: now,
});

const NODE_INFO = {
  machineID: "",
  systemUUID: "",
  bootID: "",
  kernelVersion: "",
  osImage: "",
  containerRuntimeVersion: "jobferry://",
  kubeletVersion: "jobferry",
  kubeProxyVersion: "",
  operatingSystem: "",
  architecture: "",
};
