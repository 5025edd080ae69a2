import { isComplete, isFailed, isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { CronJob, ObjectReference } from "./resources.ts";

const DEFAULT_SUCCESSFUL = 3;
const DEFAULT_FAILED = 1;

/** Finished Jobs beyond the history limits, oldest first (CJ-4). */
export function beyondHistory(cronJob: CronJob, children: readonly Job[]): Job[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec;
  return [
    ...surplus(children.filter(isComplete), successfulJobsHistoryLimit ?? DEFAULT_SUCCESSFUL),
    ...surplus(
      children.filter((job) => isFailed(job) && !isComplete(job)),
      failedJobsHistoryLimit ?? DEFAULT_FAILED,
    ),
  ];
}

function surplus(jobs: readonly Job[], limit: number): Job[] {
  return [...jobs].sort(byStart).slice(0, Math.max(0, jobs.length - limit));
}

/** Without a start time last; ties by name. */
function byStart(a: Job, b: Job): number {
  const [left, right] = [a, b].map((job) => job.status?.startTime ?? "9999");
  if (left !== right) return (left ?? "") < (right ?? "") ? -1 : 1;
  return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
}

export interface ActiveReview {
  active: ObjectReference[];
  lastSuccessfulTime: string | undefined;
  /** Jobs that left the active list because they finished. */
  finished: Job[];
  /** Unfinished Jobs of ours that the list does not know. */
  unexpected: Job[];
  /** Entries without a Job in the cache. */
  missing: ObjectReference[];
}

/** Compares the list of active Jobs with the Jobs there are (CJ-2, CJ-3). */
export function reviewActive(cronJob: CronJob, children: readonly Job[]): ActiveReview {
  const listed = cronJob.status?.active ?? [];
  const byUid = new Map(children.map((job) => [job.metadata.uid, job]));
  const known = new Set(listed.map((reference) => reference.uid));
  let lastSuccessfulTime = cronJob.status?.lastSuccessfulTime;
  for (const job of children) {
    const completed = isComplete(job) ? job.status?.completionTime : undefined;
    if (completed !== undefined && (lastSuccessfulTime === undefined || completed > lastSuccessfulTime))
      lastSuccessfulTime = completed;
  }
  const isDone = ({ uid }: ObjectReference): boolean => {
    const job = byUid.get(uid);
    return job !== undefined && isFinished(job);
  };
  return {
    active: listed.filter((reference) => !isDone(reference)),
    lastSuccessfulTime,
    finished: children.filter((job) => known.has(job.metadata.uid) && isFinished(job)),
    unexpected: children.filter((job) => !known.has(job.metadata.uid) && !isFinished(job)),
    missing: listed.filter(({ uid }) => !byUid.has(uid)),
  };
}
