import type { NodeRequirement, NodeSelectorTerm, Toleration } from "@jobferry/shared/job/node-rules.ts";
import type { Random } from "../differential/random.ts";

/** What a generated node is like. */
export interface Facts {
  readonly labels: Record<string, string>;
  readonly unschedulable: boolean;
  readonly taints: { key: string; value?: string; effect: string }[];
  readonly allocatable: Record<string, string>;
}

interface Options {
  taints: boolean;
  labels: boolean;
  names: readonly string[];
  /** Which of the nodes the pod should go to, or nearly. */
  target: number;
  facts: readonly Facts[];
}

const CORDON = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** The fields by which a pod chooses its nodes. */
export function podChoices(random: Random, { taints, labels, names, target, facts }: Options): Record<string, unknown> {
  const aim = facts[target];
  if (aim === undefined) return {};
  const onNode = aim.unschedulable ? [...aim.taints, CORDON] : aim.taints;
  const hostPort = labels && random.chance(0.15);
  return {
    ...(taints
      ? { tolerations: onNode.filter(() => random.chance(0.9)).map((taint) => toleration(random, taint)) }
      : {}),
    ...(labels ? selectors(random, { ...aim.labels, "kubernetes.io/hostname": names[target] ?? "" }, names) : {}),
    ...(hostPort
      ? { containers: [{ name: "main", image: "busybox", ports: [{ containerPort: 80, hostPort: 80 }] }] }
      : {}),
  };
}

/** One that tolerates the taint, or has one thing changed. */
function toleration(
  random: Random,
  { key, value, effect }: { key: string; value?: string; effect: string },
): Toleration {
  const equal = {
    key,
    ...(random.chance(0.5) ? { operator: "Equal" } : {}),
    ...(value === undefined ? {} : { value }),
  };
  const exists = { key, operator: "Exists" };
  const base = random.chance(0.5) ? equal : exists;
  const exact = random.chance(0.5) ? { ...base, effect } : base;
  return random.weighted<Toleration>([
    [5, exact],
    [1, { ...exact, key: "other" }],
    [2, { ...equal, value: "c" }],
    [1, { key, effect }],
    [1, { ...base, effect: random.pick(["NoSchedule", "NoExecute", "PreferNoSchedule"]) }],
    [1, { operator: "Exists", ...(random.chance(0.5) ? { effect } : {}) }],
  ]);
}

function selectors(random: Random, labels: Readonly<Record<string, string>>, names: readonly string[]): object {
  const count = random.weighted([
    [1, 0],
    [5, 1],
    [2, 2],
  ]);
  const terms = Array.from({ length: count }, () => term(random, labels, names));
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  const [key, value] = random.pick(Object.entries(labels) as [[string, string], ...[string, string][]]);
  return {
    ...(terms.length > 0 ? { affinity: { nodeAffinity } } : {}),
    ...(count === 0 || random.chance(0.1) ? { nodeSelector: { [key]: random.chance(0.7) ? value : "x" } } : {}),
  };
}

function term(random: Random, labels: Readonly<Record<string, string>>, names: readonly string[]): NodeSelectorTerm {
  const matchFields: NodeRequirement[] = [
    { key: "metadata.name", operator: random.pick(["In", "NotIn"]), values: [random.pick(["nowhere", ...names])] },
  ];
  return random.weighted<NodeSelectorTerm>([
    [1, {}],
    [2, { matchFields }],
    [1, { matchFields, matchExpressions: [expression(random, labels)] }],
    [8, { matchExpressions: [expression(random, labels)] }],
    [2, { matchExpressions: [expression(random, labels), expression(random, labels)] }],
  ]);
}

/** About a label that the node has, more often than not what it has. */
function expression(random: Random, labels: Readonly<Record<string, string>>): NodeRequirement {
  const operator = random.pick(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]);
  const generation = labels["example.com/generation"] ?? "2";
  if (operator === "Gt" || operator === "Lt") {
    const near = /^\d+$/.test(generation) ? [generation, String(Math.max(0, Number(generation) - 1))] : [];
    return { key: "example.com/generation", operator, values: [random.pick(["5", ...near])] };
  }
  const key = random.pick(["example.com/absent", ...Object.keys(labels)]);
  if (operator === "Exists" || operator === "DoesNotExist") return { key, operator };
  const value = random.chance(0.6) ? (labels[key] ?? "x") : "x";
  return { key, operator, values: random.chance(0.3) ? ["other", value] : [value] };
}
