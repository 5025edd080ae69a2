import { classNameOf, priorityOf } from "@jobferry/manager/placement/order/priority.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs, priorityClasses } from "@jobferry/shared/kube/resources.ts";
import {
  CLUSTER,
  DEFAULT_QUEUE,
  HUB_MANAGED_BY,
  MESSAGE,
  PRIORITY,
  QUEUE_LABEL,
} from "@jobferry/shared/protocol/marks.ts";

export interface WaitingJob {
  readonly uid: string;
  readonly queue: string;
  readonly priority: number;
  readonly created: string;
  readonly message: string;
}

/** The page of a list: a hub may have many Jobs, and only those that wait are kept. */
const PAGE = 500;

/** Jobs that wait for a cluster, those that go first within their queue first. */
export async function waitingJobs(api: KubeApi): Promise<WaitingJob[]> {
  const found: WaitingJob[] = [];
  const classes = await classValues(api);
  let next: string | undefined;
  do {
    const page = await api.list(jobs, { limit: PAGE, ...(next === undefined ? {} : { continue: next }) });
    for (const job of page.items) if (isWaiting(job)) found.push(waitingJob(job, classes));
    next = page.metadata?.continue || undefined;
  } while (next !== undefined);
  return found.sort((one, other) => other.priority - one.priority || (one.created < other.created ? -1 : 1));
}

export const isDispatched = (job: Job): boolean => job.spec.managedBy === HUB_MANAGED_BY;

export const isWaiting = (job: Job): boolean =>
  isDispatched(job) &&
  !isFinished(job) &&
  job.spec.suspend !== true &&
  job.metadata.deletionTimestamp === undefined &&
  job.metadata.annotations?.[CLUSTER] === undefined;

export const queueOf = ({ metadata }: Job): string => metadata.labels?.[QUEUE_LABEL] ?? DEFAULT_QUEUE;

/** Of the hub's PriorityClasses; of those that the reader may not see, nothing is known. */
export async function classValues(api: KubeApi): Promise<ReadonlyMap<string, number>> {
  try {
    const { items } = await api.list(priorityClasses);
    return new Map(items.map(({ metadata, value }) => [metadata.name ?? "", value]));
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return new Map();
    throw error;
  }
}

export function priorityIn(job: Job, classes: ReadonlyMap<string, number>): number {
  const text = job.metadata.annotations?.[PRIORITY];
  const asked = text === undefined ? undefined : Number(text) || 0;
  return priorityOf({ asked, ofClass: classes.get(classNameOf(job)), most: undefined });
}

const waitingJob = (job: Job, classes: ReadonlyMap<string, number>): WaitingJob => ({
  uid: job.metadata.uid ?? "",
  queue: queueOf(job),
  priority: priorityIn(job, classes),
  created: job.metadata.creationTimestamp ?? "",
  message: job.metadata.annotations?.[MESSAGE] ?? "not considered yet",
});
