import type {
  Container,
  JobSpec,
  PodFailurePolicyAction,
  PodFailurePolicyRule,
  PodTemplate,
  SuccessPolicy,
} from "@jobferry/shared/job/types.ts";
import type { Random } from "./random.ts";

/** The node every bound pod stands on; PodGC would collect pods of a node that does not exist. */
export const NODE = "differential";

/** Few codes, so that rules and failures meet. */
export const EXIT_CODES = [1, 2, 42, 137] as const;
export const POD_CONDITIONS = ["DisruptionTarget", "ConfigIssue"] as const;

type Family = "fixed" | "queue" | "indexed" | "elastic" | "per-index";

/** A valid Job of one of five families, with each optional feature thrown in often. */
export function generateSpec(random: Random): JobSpec {
  const family = random.weighted<Family>([
    [20, "fixed"],
    [10, "queue"],
    [18, "indexed"],
    [20, "elastic"],
    [32, "per-index"],
  ]);
  const indexed = family === "indexed" || family === "elastic" || family === "per-index";
  const failurePolicy = random.chance(family === "per-index" ? 0.5 : 0.3);
  const template = generateTemplate(random, failurePolicy || random.chance(0.75) ? "Never" : "OnFailure");
  const spec: JobSpec = {
    ...generateSize(random, family),
    template,
    completionMode: indexed ? "Indexed" : "NonIndexed",
  };
  if (random.chance(0.6))
    spec.backoffLimit = random.weighted([
      [2, 0],
      [3, 1],
      [3, 2],
      [1, 6],
    ]);
  if (family === "per-index") addPerIndexLimits(random, spec);
  if (failurePolicy) spec.podFailurePolicy = { rules: generateFailureRules(random, spec, template) };
  if (failurePolicy || random.chance(0.25)) spec.podReplacementPolicy = "Failed";
  if (indexed && (spec.completions ?? 0) > 0 && random.chance(0.3)) {
    spec.successPolicy = generateSuccessPolicy(random, spec.completions ?? 1);
  }
  if (random.chance(0.12)) spec.suspend = true;
  if (random.chance(0.12))
    spec.activeDeadlineSeconds = random.weighted([
      [1, 0],
      [5, 25],
      [3, 3600],
    ]);
  if (random.chance(0.08)) selectByHand(spec);
  return spec;
}

function generateSize(random: Random, family: Family): { completions?: number; parallelism?: number } {
  if (family === "queue") return { parallelism: random.int(1, 3) };
  const completions = random.chance(0.03) ? 0 : random.int(1, 5);
  if (family === "elastic") return { completions, parallelism: completions };
  return { completions, parallelism: random.chance(0.03) ? 0 : random.int(1, 4) };
}

function generateTemplate(random: Random, restartPolicy: "Never" | "OnFailure"): PodTemplate {
  const containers: Container[] = [{ name: "main", image: "example.test/main" }];
  if (random.chance(0.3)) containers.push({ name: "helper", image: "example.test/helper" });
  const initContainers: Container[] = random.chance(0.25) ? [{ name: "setup", image: "example.test/setup" }] : [];
  return {
    ...(random.chance(0.3) ? { metadata: { labels: { team: "blue" }, annotations: { note: "kept" } } } : {}),
    spec: {
      restartPolicy,
      containers,
      ...(initContainers.length > 0 ? { initContainers } : {}),
      // Without a node the kubelet of this test binds the pod when it first touches it.
      ...(random.chance(0.8) ? { nodeName: NODE } : {}),
    },
  };
}

function addPerIndexLimits(random: Random, spec: JobSpec): void {
  spec.backoffLimitPerIndex = random.weighted([
    [5, 0],
    [4, 1],
    [1, 2],
  ]);
  if (random.chance(0.5)) spec.maxFailedIndexes = random.int(0, Math.min(1, spec.completions ?? 0));
  // An explicit global limit beside the per-index one is legal but ends most scripts early (BL-7).
  if (random.chance(0.7)) delete spec.backoffLimit;
}

function generateFailureRules(random: Random, spec: JobSpec, template: PodTemplate): PodFailurePolicyRule[] {
  const count = random.weighted([
    [1, 0],
    [5, 1],
    [5, 2],
    [3, 3],
  ]);
  return Array.from({ length: count }, () => {
    const action = random.weighted<PodFailurePolicyAction>([
      [4, "Ignore"],
      [2, "Count"],
      [3, "FailJob"],
      [spec.backoffLimitPerIndex === undefined ? 0 : 5, "FailIndex"],
    ]);
    if (random.chance(0.4)) {
      const type = random.weighted([
        [3, POD_CONDITIONS[0]],
        [1, POD_CONDITIONS[1]],
      ]);
      return { action, onPodConditions: [{ type, status: random.chance(0.85) ? "True" : "False" }] };
    }
    const names = [...template.spec.containers, ...(template.spec.initContainers ?? [])].map(({ name }) => name);
    const containerName = names[random.int(0, names.length - 1)] ?? "main";
    const values = random.shuffled(EXIT_CODES).slice(0, random.int(1, 3));
    return {
      action,
      onExitCodes: {
        ...(random.chance(0.3) ? { containerName } : {}),
        operator: random.chance(0.7) ? "In" : "NotIn",
        values: values.sort((a, b) => a - b),
      },
    };
  });
}

function generateSuccessPolicy(random: Random, completions: number): SuccessPolicy {
  const rules = Array.from({ length: random.int(1, 2) }, () => {
    const indexes = Array.from({ length: completions }, (_, i) => i).filter(() => random.chance(0.4));
    const succeededIndexes = indexes.join(",");
    if (indexes.length === 0)
      return random.chance(0.2) ? { succeededIndexes } : { succeededCount: random.int(1, completions) };
    return random.chance(0.3)
      ? { succeededIndexes, succeededCount: random.int(1, indexes.length) }
      : { succeededIndexes };
  });
  return { rules };
}

function selectByHand(spec: JobSpec): void {
  const labels = { ...spec.template.metadata?.labels, chosen: "by-hand" };
  spec.manualSelector = true;
  spec.selector = { matchLabels: { chosen: "by-hand" } };
  spec.template = { ...spec.template, metadata: { ...spec.template.metadata, labels } };
}
