import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

export interface KubeNode extends KubeObject {
  spec?: { unschedulable?: boolean; taints?: Taint[]; podCIDR?: string; [field: string]: unknown };
  status?: {
    capacity?: Record<string, string>;
    allocatable?: Record<string, string>;
    conditions?: NodeCondition[];
    [field: string]: unknown;
  };
}

export interface NodeCondition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastHeartbeatTime?: string;
  lastTransitionTime?: string;
}

export const nodes: Resource<KubeNode> = {
  group: "",
  version: "v1",
  plural: "nodes",
  kind: "Node",
  namespaced: false,
};

interface Binding extends KubeObject {
  target: { apiVersion: string; kind: string; name: string };
}
/** Only to be created: assigns a pod to a node. */
export const bindings: Resource<Binding> = {
  group: "",
  version: "v1",
  plural: "bindings",
  kind: "Binding",
  namespaced: true,
};
