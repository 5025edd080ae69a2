import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
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
  let next: string | undefined;
  do {
    const page = await api.list(jobs, { limit: PAGE, ...(next === undefined ? {} : { continue: next }) });
    for (const job of page.items) if (isWaiting(job)) found.push(waitingJob(job));
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

const waitingJob = (job: Job): WaitingJob => ({
  uid: job.metadata.uid ?? "",
  queue: queueOf(job),
  priority: Number(job.metadata.annotations?.[PRIORITY]) || 0,
  created: job.metadata.creationTimestamp ?? "",
  message: job.metadata.annotations?.[MESSAGE] ?? "not considered yet",
});
