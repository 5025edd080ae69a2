/** Section 17: what the Job's pod failure policy says about one pod. */
import type {
  ContainerStatus,
  Job,
  Pod,
  PodFailurePolicyAction,
  PodFailurePolicyRule,
} from "@jobferry/shared/job/types.ts";
import { type ExitCodeRange, exitCodeRangesOf, isInRanges } from "./exit-code-ranges.ts";
import type { PodFacts } from "./types.ts";

export interface PolicyMatch {
  readonly action: PodFailurePolicyAction;
  /** Zero-based position of the rule. */
  readonly rule: number;
  /** What matched, as PF-13 tells it. */
  readonly cause: string;
}

const ACTIONS: ReadonlySet<string> = new Set(["FailJob", "FailIndex", "Ignore", "Count"]);

/** PF-2: the first rule with a known action whose requirement matches; the caller knows the pod failed (PF-1). */
export function matchFailurePolicy(job: Job, pod: Pod): PolicyMatch | undefined {
  const ranges = exitCodeRangesOf(job);
  for (const [rule, definition] of (job.spec.podFailurePolicy?.rules ?? []).entries()) {
    if (!ACTIONS.has(definition.action)) continue;
    const cause = causeOf(definition, ranges.get(rule), pod);
    if (cause !== undefined) return { action: definition.action, rule, cause };
  }
  return undefined;
}

/** PF-3, PF-11: everything but Ignore counts as a failure. */
export const countsAsFailure = (match: PolicyMatch | undefined): boolean => match?.action !== "Ignore";

/** PF-12, PF-13: scans counted pods, too, because the one that fails the Job may have lost its finalizer. */
export function failJobMessage(job: Job, pods: readonly PodFacts[]): string | undefined {
  if (job.spec.podFailurePolicy === undefined) return undefined;
  for (const facts of pods) {
    const match = facts.failed ? matchFailurePolicy(job, facts.pod) : undefined;
    if (match?.action === "FailJob") return `${match.cause} matching FailJob rule at index ${match.rule}`;
  }
  return undefined;
}

/** PF-10: exit codes come first. */
function causeOf(
  rule: PodFailurePolicyRule,
  ranges: readonly ExitCodeRange[] | undefined,
  pod: Pod,
): string | undefined {
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
  if (rule.onExitCodes !== undefined) {
    const status = containerStatuses(pod).find((candidate) => matchesExitCode(rule.onExitCodes, ranges, candidate));
    const code = status?.state?.terminated?.exitCode;
    return status && `Container ${status.name} for pod ${name} failed with exit code ${code}`;
  }
  const condition = pod.status?.conditions?.find((present) =>
    rule.onPodConditions?.some((pattern) => pattern.type === present.type && pattern.status === present.status),
  );
  return condition && `Pod ${name} has condition ${condition.type}`;
}

/** PF-4 */
const containerStatuses = (pod: Pod): ContainerStatus[] => [
  ...(pod.status?.containerStatuses ?? []),
  ...(pod.status?.initContainerStatuses ?? []),
];

/** PF-5 to PF-8 */
function matchesExitCode(
  requirement: PodFailurePolicyRule["onExitCodes"],
  ranges: readonly ExitCodeRange[] | undefined,
  status: ContainerStatus,
): boolean {
  const exitCode = status.state?.terminated?.exitCode;
  if (requirement === undefined || exitCode === undefined || exitCode === 0) return false;
  if (requirement.containerName !== undefined && requirement.containerName !== status.name) return false;
  const isListed = requirement.values.includes(exitCode) || isInRanges(exitCode, ranges);
  switch (requirement.operator) {
    case "In":
      return isListed;
    case "NotIn":
      return !isListed;
    default:
      return false;
  }
}
