import { picturedStatus } from "@jobferry/shared/job/pod-status.ts";
import { completionIndex } from "@jobferry/shared/job/pods.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import { MAX_CONDITIONS, MAX_POD_CONTAINERS, MAX_POD_TEXT_CHARS } from "@jobferry/shared/protocol/limits.ts";
import type { ReportedPod } from "@jobferry/shared/protocol/pod-report.ts";

/** Of all pods of one report as JSON: well below what a message may have. */
const MAX_CHARS = 1_000_000;

export interface PodsReport {
  readonly pods: ReportedPod[];
  /** There are others. */
  readonly more: boolean;
}

/**
 * The pods of one mirror that are told. Where they are more than `most`, the failed ones are, because somebody will look at them,
 * and then the oldest: that choice stays the same while new pods come.
 */
export function podsReport(pods: readonly Pod[], most: number): PodsReport {
  const chosen = pods.length <= most ? [...pods] : pods.toSorted(byInterest).slice(0, most);
  const told = chosen.toSorted(byAge).map(reportedPodOf);
  let kept = told.length;
  while (JSON.stringify(told.slice(0, kept)).length > MAX_CHARS) kept = Math.floor(kept / 2);
  return { pods: told.slice(0, kept), more: kept < pods.length };
}

export function reportedPodOf(pod: Pod): ReportedPod {
  const { name = "", uid = "", deletionTimestamp } = pod.metadata;
  const index = completionIndex(pod);
  return {
    name,
    uid,
    ...(pod.spec.nodeName === undefined ? {} : { node: pod.spec.nodeName }),
    ...(index === undefined ? {} : { index }),
    ...(deletionTimestamp === undefined ? {} : { leaving: true as const }),
    status: bounded(picturedStatus(pod.status)),
  };
}

function bounded(status: ReportedPod["status"]): ReportedPod["status"] {
  const { conditions, containerStatuses, initContainerStatuses } = status;
  return cut({
    ...status,
    ...(conditions && { conditions: conditions.slice(0, MAX_CONDITIONS) }),
    ...(containerStatuses && { containerStatuses: containerStatuses.slice(0, MAX_POD_CONTAINERS) }),
    ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.slice(0, MAX_POD_CONTAINERS) }),
  });
}

/** Every text in it, however deep. */
function cut<T>(value: T): T {
  if (typeof value === "string")
    return (value.length <= MAX_POD_TEXT_CHARS ? value : `${value.slice(0, MAX_POD_TEXT_CHARS - 3)}...`) as T;
  if (Array.isArray(value)) return value.map(cut) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, cut(part)])) as T;
}

const hasFailed = ({ status }: Pod): number => (status?.phase === "Failed" ? 0 : 1);

const byAge = ({ metadata: one }: Pod, { metadata: other }: Pod): number =>
  compare(one.creationTimestamp, other.creationTimestamp) || compare(one.name, other.name);

const byInterest = (one: Pod, other: Pod): number => hasFailed(one) - hasFailed(other) || byAge(one, other);

const compare = (one = "", other = ""): number => (one < other ? -1 : one > other ? 1 : 0);
