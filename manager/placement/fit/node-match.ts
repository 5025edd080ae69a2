import { meetsRequirement, type NodeRequirement, type Taint, tolerates } from "@jobferry/shared/job/node-rules.ts";
import type { NodeShape } from "@jobferry/shared/protocol/node-shapes.ts";
import type { NodeRules } from "./job-needs.ts";

const HOSTNAME = "kubernetes.io/hostname";

/** Taints that come and go with the state of a node: they stand in the way now, not for ever. */
const PASSING = new Set([
  "node.kubernetes.io/unschedulable",
  "node.kubernetes.io/not-ready",
  "node.kubernetes.io/unreachable",
  "node.kubernetes.io/memory-pressure",
  "node.kubernetes.io/disk-pressure",
  "node.kubernetes.io/pid-pressure",
  "node.kubernetes.io/network-unavailable",
  "node.cloudprovider.kubernetes.io/uninitialized",
]);

export const isPassing = ({ key }: Taint): boolean => PASSING.has(key);

/** A name that was not reported: whatever is asked of it may be true. */
export const UNKNOWN = Symbol("unknown name");
export type NodeName = string | typeof UNKNOWN;

/**
 * Whether the nodes of this shape have the labels that the pods ask for. What is asked of a label that the report does not
 * show (hidden, or not common to the members of a merged shape) does not count as met.
 */
export function matchesLabels(rules: NodeRules, shape: NodeShape, hidden: readonly string[], name: NodeName): boolean {
  const { nodeName, nodeSelector, affinity } = rules;
  if (nodeName !== undefined && name !== UNKNOWN && name !== nodeName) return false;
  const meets = (requirement: NodeRequirement): boolean => {
    const { key } = requirement;
    if (key === HOSTNAME) return name === UNKNOWN || meetsRequirement(requirement, name);
    if (Object.hasOwn(shape.labels, key)) return meetsRequirement(requirement, shape.labels[key]);
    return !shape.merged && !hidden.includes(key) && meetsRequirement(requirement, undefined);
  };
  for (const [key, value] of Object.entries(nodeSelector))
    if (!meets({ key, operator: "In", values: [value] })) return false;
  if (affinity === undefined) return true;
  return affinity.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    const meetsField = (field: NodeRequirement): boolean =>
      field.key === "metadata.name" && (name === UNKNOWN || meetsRequirement(field, name));
    return matchExpressions.every(meets) && matchFields.every(meetsField);
  });
}

/** Taints of the shape that keep the pods away. A pod that is bound by hand meets only the kubelet, which looks at NoExecute. */
export const blockingTaints = ({ nodeName, tolerations }: NodeRules, { taints }: NodeShape): Taint[] =>
  taints.filter((taint) => (nodeName === undefined || taint.effect === "NoExecute") && !tolerates(tolerations, taint));

/** How many nodes at most have the names that are asked for; undefined: names do not matter. */
export function namedNodes({ nodeName, nodeSelector, affinity }: NodeRules): number | undefined {
  if (nodeName !== undefined || Object.hasOwn(nodeSelector, HOSTNAME)) return 1;
  const names = (affinity ?? []).map(({ matchExpressions = [], matchFields = [] }) => {
    const aboutNames = [...matchExpressions.filter(({ key }) => key === HOSTNAME), ...matchFields];
    if (aboutNames.length === 0) return undefined;
    const lists = aboutNames.filter(({ operator }) => operator === "In").map(({ values = [] }) => values.length);
    return Math.min(Number.POSITIVE_INFINITY, ...lists);
  });
  if (names.every((count) => count === undefined)) return undefined;
  return names.reduce<number>((sum, count) => sum + (count ?? Number.POSITIVE_INFINITY), 0);
}
