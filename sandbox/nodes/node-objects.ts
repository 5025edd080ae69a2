import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { KubeNode, NodeCondition, Taint } from "./resources.ts";

export interface NodeSpec {
  name?: string;
  /** Quantities; a node without them offers 8 CPUs, 32 GiB and 110 pods. */
  cpu?: string;
  memory?: string;
  pods?: number;
  /** GPUs and the like. */
  extended?: Record<string, string>;
  labels?: Record<string, string>;
  taints?: Taint[];
}

export function nodeObject(spec: NodeSpec, name: string, ip: string, nowMs: number): KubeNode {
  const offered = {
    cpu: spec.cpu ?? "8",
    memory: spec.memory ?? "32Gi",
    pods: String(spec.pods ?? 110),
    ...spec.extended,
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/arch": process.arch === "x64" ? "amd64" : process.arch,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": process.platform,
        ...spec.labels,
      },
    },
    ...(spec.taints === undefined ? {} : { spec: { taints: spec.taints } }),
    status: {
      capacity: offered,
      allocatable: offered,
      conditions: nodeConditions(true, nowMs),
      addresses: [
        { type: "InternalIP", address: ip },
        { type: "Hostname", address: name },
      ],
      nodeInfo: {
        architecture: process.arch === "x64" ? "amd64" : process.arch,
        bootID: "",
        containerRuntimeVersion: "sandbox://1",
        kernelVersion: "",
        kubeProxyVersion: "",
        kubeletVersion: "v1.36.0+sandbox",
        machineID: "",
        operatingSystem: process.platform,
        osImage: "Jobferry sandbox",
        systemUUID: "",
      },
    },
  };
}

const PRESSURES = [
  ["MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
] as const;

/** As the kubelet reports them, or as the node controller marks a node that fell silent. */
export function nodeConditions(reporting: boolean, nowMs: number): NodeCondition[] {
  const times = { lastHeartbeatTime: timestamp(nowMs), lastTransitionTime: timestamp(nowMs) };
  if (!reporting) {
    const silent = { reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status.", ...times };
    return [...PRESSURES.map(([type]) => type), "Ready"].map((type) => ({ type, status: "Unknown", ...silent }));
  }
  const pressures = PRESSURES.map(([type, reason, message]) => ({
    type,
    status: "False" as const,
    reason,
    message,
    ...times,
  }));
  const ready = { reason: "KubeletReady", message: "kubelet is posting ready status", ...times };
  return [...pressures, { type: "Ready", status: "True", ...ready }];
}

/** What the node controller puts on a node that fell silent. */
export const UNREACHABLE_TAINTS: readonly Taint[] = [
  { key: "node.kubernetes.io/unreachable", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unreachable", effect: "NoExecute" },
];
