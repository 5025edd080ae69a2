import type { Container, PodSpec } from "@jobferry/shared/job/types.ts";
import type { Random } from "../differential/random.ts";

/** With an overhead of its own; `RuntimeClass` admission wants it to exist. */
export const RUNTIME_CLASS = { name: "heavy", overhead: { cpu: "250m", memory: "128Mi" } };

/** A pod that the API server takes, and what it asks for: a little of the usual, or anything. */
export function podAmounts(random: Random, anything: boolean): PodSpec {
  const whole = anything && random.chance(0.3);
  const make = (name: string): Container => container(random, name, { small: whole || !anything, special: anything });
  const containers = Array.from({ length: random.int(1, 2) }, (_, i) => make(`app-${i}`));
  const initContainers = Array.from({ length: anything ? random.int(0, 3) : 0 }, (_, i) => ({
    ...make(`init-${i}`),
    ...(random.chance(0.5) ? { restartPolicy: "Always" } : {}),
  }));
  const { name, overhead } = RUNTIME_CLASS;
  return {
    restartPolicy: "Never",
    terminationGracePeriodSeconds: 0,
    containers,
    ...(initContainers.length > 0 ? { initContainers } : {}),
    ...(whole ? { resources: podResources(random) } : {}),
    ...(anything && random.chance(0.3) ? { runtimeClassName: name, overhead } : {}),
  };
}

/** `small`: within what the pod asks for as a whole, which the API server wants. */
function container(random: Random, name: string, { small, special }: { small: boolean; special: boolean }): Container {
  const requests: Record<string, string> = {};
  const limits: Record<string, string> = {};
  if (random.chance(0.7)) requests.cpu = random.pick(small ? ["100m"] : ["100m", "250m", "0.5", "1", "1900m"]);
  else if (random.chance(0.6)) limits.cpu = random.pick(small ? ["200m"] : ["500m", "1"]);
  if (random.chance(0.5)) requests.memory = random.pick(small ? ["64Mi"] : ["64Mi", "1Gi", "2Gi", "3900000Ki"]);
  else if (random.chance(0.45)) limits.memory = random.pick(small ? ["128Mi"] : ["512Mi", "1G"]);
  if (special && random.chance(0.1)) requests["ephemeral-storage"] = random.pick(["1Gi", "9Gi"]);
  if (special && random.chance(0.1)) limits["nvidia.com/gpu"] = random.pick(["0", "1", "2"]);
  if (special && random.chance(0.15)) {
    limits["hugepages-2Mi"] = random.pick(["32Mi", "64Mi"]);
    // They want memory beside them.
    if (limits.memory === undefined) requests.memory ??= "64Mi";
  }
  return { name, image: "busybox", resources: { requests, limits } };
}

const podResources = (random: Random): object =>
  random.weighted([
    [2, { requests: { cpu: "1500m", memory: "1Gi" }, limits: { cpu: "3", memory: "3Gi" } }],
    [2, { requests: { cpu: "2" } }],
    [2, { limits: { cpu: "2", memory: "2Gi" } }],
    [1, { limits: { memory: "3Gi" } }],
    [3, { limits: { "hugepages-2Mi": "512Mi", memory: "2Gi" } }],
  ]);
