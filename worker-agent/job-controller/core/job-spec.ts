/** What the spec says about how a Job is run; the API server has applied its defaults (AP-1). */
import type { Job } from "@jobferry/shared/job/types.ts";

export const isIndexed = (job: Job): boolean => job.spec.completionMode === "Indexed";
export const isSuspended = (job: Job): boolean => job.spec.suspend === true;
/** BI-1 */
export const hasPerIndexLimit = (job: Job): boolean => isIndexed(job) && job.spec.backoffLimitPerIndex !== undefined;
export const isBeingDeleted = (job: Job): boolean => job.metadata.deletionTimestamp !== undefined;
/** ME-3 */
export const completionMode = (job: Job): "Indexed" | "NonIndexed" => (isIndexed(job) ? "Indexed" : "NonIndexed");
export const backoffLimit = (job: Job): number => job.spec.backoffLimit ?? 6;
export const parallelism = (job: Job): number => job.spec.parallelism ?? 1;
/** Indexed Jobs always have completions (VC-14). */
export const indexCount = (job: Job): number => job.spec.completions ?? 0;
