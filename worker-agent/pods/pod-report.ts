import { picturedStatus } from "@jobferry/shared/job/pod-status.ts";
import { completionIndex } from "@jobferry/shared/job/pods.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeEvent } from "@jobferry/shared/kube/resources.ts";
import {
  MAX_CONDITIONS,
  MAX_POD_CONTAINERS,
  MAX_POD_EVENTS,
  MAX_POD_TEXT_CHARS,
} from "@jobferry/shared/protocol/limits.ts";
import type { PodEvent, ReportedPod } from "@jobferry/shared/protocol/pod-report.ts";

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
export function podsReport(
  pods: readonly Pod[],
  most: number,
  eventsOf: (pod: Pod) => readonly KubeEvent[] = () => [],
): PodsReport {
  const chosen = pods.length <= most ? [...pods] : pods.toSorted(byInterest).slice(0, most);
  const told = chosen.toSorted(byAge).map((pod) => reportedPodOf(pod, eventsOf(pod)));
  let kept = told.length;
  while (JSON.stringify(told.slice(0, kept)).length > MAX_CHARS) kept = Math.floor(kept / 2);
  return { pods: told.slice(0, kept), more: kept < pods.length };
}

export function reportedPodOf(pod: Pod, events: readonly KubeEvent[] = []): ReportedPod {
  const { name = "", uid = "", deletionTimestamp } = pod.metadata;
  const index = completionIndex(pod);
  const told = podEvents(events);
  return {
    name,
    uid,
    ...(pod.spec.nodeName === undefined ? {} : { node: pod.spec.nodeName }),
    ...(index === undefined ? {} : { index }),
    ...(deletionTimestamp === undefined ? {} : { leaving: true as const }),
    status: bounded(picturedStatus(pod.status)),
    ...(told.length === 0 ? {} : { events: told }),
  };
}

/** In the order they were last seen. Where they are too many, warnings stay before others, and then the newest. */
function podEvents(events: readonly KubeEvent[]): PodEvent[] {
  const told = events.map(podEventOf);
  const byTime = (one: PodEvent, other: PodEvent): number => compare(one.at, other.at);
  const weight = ({ type }: PodEvent): number => (type === "Warning" ? 0 : 1);
  const chosen = told.toSorted((one, other) => weight(one) - weight(other) || -byTime(one, other));
  return chosen.slice(0, MAX_POD_EVENTS).toSorted(byTime);
}

/** Newer reporters leave the old fields for counts and times empty. */
function podEventOf({
  type,
  reason,
  message,
  count,
  lastTimestamp,
  firstTimestamp,
  eventTime,
  series,
  metadata,
}: KubeEvent) {
  const at = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp;
  return {
    type: type === "Warning" ? ("Warning" as const) : ("Normal" as const),
    reason: (reason ?? "").slice(0, 128) || "Unknown",
    message: cut(message ?? ""),
    count: Math.max(1, series?.count ?? count ?? 1),
    at: `${(at ?? "1970-01-01T00:00:00").slice(0, 19)}Z`,
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

/** At a glance: the one has come as far as the other. */
export const looksAlike = (one: Pod, other: Pod): boolean =>
  one.metadata.uid === other.metadata.uid &&
  one.status?.phase === other.status?.phase &&
  one.metadata.deletionTimestamp === other.metadata.deletionTimestamp;
