/** Section 22: the shape of a status on the wire, and what a write moved. */

import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { IndexSet } from "./index-set.ts";
import { hasPerIndexLimit, indexCount, isIndexed } from "./job-spec.ts";

/** SW-4: zero counters and empty strings are left out, except those whose absence means "unknown". */
export function shapeStatus(status: JobStatus): JobStatus {
  const { active, succeeded, failed, completedIndexes, ...rest } = status;
  return {
    ...rest,
    ...(active && { active }),
    ...(succeeded && { succeeded }),
    ...(failed && { failed }),
    ...(completedIndexes && { completedIndexes }),
  };
}

/** SW-1: a PUT of the whole object with its resourceVersion; the server keeps its own spec and managed fields. */
export function withStatus(job: Job, status: JobStatus): Job {
  const { managedFields: _, ...metadata } = job.metadata;
  return { apiVersion: "batch/v1", kind: "Job", metadata, spec: job.spec, status: shapeStatus(status) };
}

/** Section 24: what `job_pods_finished_total` and `job_finished_indexes_total` grow by after a write. */
export interface FinishedDelta {
  readonly succeeded: number;
  readonly failed: number;
  readonly failedIndexes: number;
}

export function finishedDelta(job: Job, before: JobStatus, after: JobStatus): FinishedDelta {
  const grown = (was: number | undefined, is: number | undefined): number => Math.max(0, (is ?? 0) - (was ?? 0));
  return {
    // Out-of-range indexes are forgotten after an elastic scale-down (IX-11): compare what both strings say now.
    succeeded: isIndexed(job)
      ? grownIndexes(job, before.completedIndexes, after.completedIndexes)
      : grown(before.succeeded, after.succeeded),
    failed: grown(before.failed, after.failed),
    failedIndexes: hasPerIndexLimit(job) ? grownIndexes(job, before.failedIndexes, after.failedIndexes) : 0,
  };
}

function grownIndexes(job: Job, before: string | undefined, after: string | undefined): number {
  if (before === after) return 0;
  const size = (text: string | undefined): number => IndexSet.parse(text, indexCount(job)).size;
  return Math.max(0, size(after) - size(before));
}
