/** Generated nodes, the pods that are on them already, and a Job's pods that ask for a place. */
import { podRequests } from "@jobferry/shared/job/requests.ts";
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import type { Node } from "@jobferry/worker-agent/capacity/shapes.ts";
import { Random } from "../differential/random.ts";
import { type Facts, podChoices } from "./generate-choices.ts";
import { podAmounts } from "./generate-pod.ts";

/** On the nodes and in the node selector of each case: cases share one cluster and do not see each other's nodes. */
const CASE_LABEL = "example.com/case";

export interface Case {
  readonly seed: number;
  readonly nodes: readonly Node[];
  /** Bound when the question is asked. */
  readonly loads: readonly PodSpec[];
  readonly pod: PodSpec;
  /** How many of them there are. */
  readonly pods: number;
}

/**
 * Most cases are about one thing, and are made to fit one of the nodes exactly, or to miss it by one: were each about
 * everything and left to chance, a pod would find no node whatever the rule that is looked at.
 */
export function generateCase(seed: number): Case {
  const random = new Random(seed);
  const topic = random.weighted([
    [3, "taints"],
    [4, "labels"],
    [4, "amounts"],
    [1, "all"],
  ]);
  const about = (one: string): boolean => topic === one || topic === "all";
  const count = random.weighted([
    [5, 1],
    [3, 2],
    [1, 4],
  ]);
  const facts = Array.from({ length: count }, () => nodeFacts(random, about("taints")));
  const names = facts.map((_, i) => `case-${seed}-node-${i}`);
  const target = random.int(0, count - 1);
  const loads = Array.from({ length: about("amounts") ? random.int(0, 2) : 0 }, () => ({
    ...podAmounts(random, true),
    nodeName: names[random.chance(0.7) ? target : 0] ?? "",
  }));
  const pod: PodSpec = {
    ...podAmounts(random, about("amounts")),
    ...podChoices(random, { taints: about("taints"), labels: about("labels"), names, target, facts }),
  };
  const fitted = facts[target];
  const taken = loads.filter(({ nodeName }) => nodeName === names[target]);
  if (about("amounts") && fitted !== undefined) fitAmounts(random, fitted, pod, taken);
  return {
    seed,
    nodes: facts.map((fact, i) => aNode(names[i] ?? "", seed, fact)),
    loads,
    pod: { ...pod, nodeSelector: { [CASE_LABEL]: String(seed), ...(pod.nodeSelector as object | undefined) } },
    pods: random.int(1, 4),
  };
}

function nodeFacts(random: Random, tainted: boolean): Facts {
  const taints = Array.from({ length: tainted ? random.int(1, 2) : 0 }, () => ({
    key: random.pick(["team", "gpu", "node.kubernetes.io/memory-pressure"]),
    ...(random.chance(0.6) ? { value: random.pick(["a", "b"]) } : {}),
    effect: random.pick(["NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"]),
  }));
  const seen = new Set<string>();
  return {
    labels: {
      "kubernetes.io/arch": random.pick(["amd64", "arm64"]),
      "topology.kubernetes.io/zone": random.pick(["a", "b"]),
      ...(random.chance(0.8) ? { "example.com/generation": random.pick(["1", "2", "10", "9", "old", ""]) } : {}),
    },
    unschedulable: tainted && random.chance(0.25),
    taints: taints.filter(({ key, effect }) => !seen.has(`${key}:${effect}`) && seen.add(`${key}:${effect}`)),
    allocatable: {
      cpu: random.pick(["4", "8", "3900m"]),
      memory: random.pick(["8Gi", "16Gi", "8000000Ki"]),
      pods: random.pick(["1", "3", "110", "110"]),
      ...(random.chance(0.6) ? { "ephemeral-storage": random.pick(["10Gi", "20Gi"]) } : {}),
      ...(random.chance(0.4) ? { "nvidia.com/gpu": random.pick(["0", "1", "4"]) } : {}),
      ...(random.chance(0.4) ? { "hugepages-2Mi": random.pick(["0", "64Mi", "256Mi"]) } : {}),
    },
  };
}

/** Makes some pods fit exactly, or all but. */
function fitAmounts(random: Random, { allocatable }: Facts, pod: PodSpec, loads: readonly PodSpec[]): void {
  const pods = random.int(1, 3);
  const short = random.chance(0.4) ? 1 : 0;
  for (const [resource, amount] of podRequests(pod)) {
    if (amount === 0 || random.chance(0.2)) continue;
    const taken = loads.reduce((sum, load) => sum + (podRequests(load).get(resource) ?? 0), 0);
    const huge = resource.startsWith("hugepages-") ? 2 ** 21 : 1;
    const units = Math.max(0, taken + amount * pods - short * huge);
    allocatable[resource] = resource === "cpu" ? `${units}m` : String(units);
  }
}

function aNode(name: string, seed: number, { labels, unschedulable, taints, allocatable }: Facts): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { ...labels, [CASE_LABEL]: String(seed), "kubernetes.io/hostname": name } },
    spec: { ...(unschedulable ? { unschedulable } : {}), taints },
    status: { allocatable, conditions: [{ type: "Ready", status: "True" }] },
  };
}
