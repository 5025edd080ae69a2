import { MAX_NODE_LABELS } from "@jobferry/shared/protocol/limits.ts";

/** Labels by which people choose nodes on every cluster. What tells single hosts apart is not among them. */
const WELL_KNOWN = [
  "kubernetes.io/arch",
  "kubernetes.io/os",
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
  "node.kubernetes.io/windows-build",
  "node-role.kubernetes.io/*",
  "nvidia.com/*",
  "amd.com/*",
  "gpu.intel.com/*",
  "habana.ai/*",
  "cloud.google.com/gke-accelerator",
  "cloud.google.com/gke-nodepool",
  "cloud.google.com/gke-spot",
  "cloud.google.com/gke-tpu-accelerator",
  "cloud.google.com/gke-tpu-topology",
  "eks.amazonaws.com/capacityType",
  "eks.amazonaws.com/nodegroup",
  "k8s.amazonaws.com/accelerator",
  "kubernetes.azure.com/accelerator",
  "kubernetes.azure.com/agentpool",
  "kubernetes.azure.com/scalesetpriority",
  "karpenter.sh/capacity-type",
  "karpenter.sh/nodepool",
];

/** Of the families above: what differs from host to host, or from minute to minute. */
const TOO_FINE = new Set(["nvidia.com/gfd.timestamp", "nvidia.com/mig.config.state", "nvidia.com/gpu.uuid"]);

export type LabelFilter = (key: string) => boolean;

/** `more`: keys, or families of them as `example.com/*`. */
export function labelFilter(more: readonly string[] = []): LabelFilter {
  const patterns = [...WELL_KNOWN, ...more];
  const keys = new Set(patterns.filter((pattern) => !pattern.endsWith("*")));
  const families = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1));
  return (key) => keys.has(key) || (!TOO_FINE.has(key) && families.some((family) => key.startsWith(family)));
}

/** The labels that are shown, in one order, and the keys of those that are not. */
export function splitLabels(
  labels: Readonly<Record<string, string>>,
  shows: LabelFilter,
): { shown: [string, string][]; hidden: string[] } {
  const entries = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
  const wanted = entries.filter(([key]) => shows(key));
  const shown = wanted.slice(0, MAX_NODE_LABELS);
  const hidden = entries.filter(([key]) => !shows(key)).map(([key]) => key);
  return { shown, hidden: [...hidden, ...wanted.slice(MAX_NODE_LABELS).map(([key]) => key)] };
}
