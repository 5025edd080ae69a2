import type { ConditionStatus, Job, JobCondition, JobConditionType } from "./types.ts";

type Conditions = readonly JobCondition[] | undefined;

/** The first entry of this type, whatever its status. */
export function findCondition(conditions: Conditions, type: JobConditionType): JobCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function hasCondition(conditions: Conditions, type: JobConditionType, status: ConditionStatus): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === status) ?? false;
}

export const isConditionTrue = (conditions: Conditions, type: JobConditionType): boolean =>
  hasCondition(conditions, type, "True");

export const isComplete = (job: Job): boolean => isConditionTrue(job.status?.conditions, "Complete");
export const isFailed = (job: Job): boolean => isConditionTrue(job.status?.conditions, "Failed");
/** CL-7: interim conditions do not finish a Job. */
export const isFinished = (job: Job): boolean => isComplete(job) || isFailed(job);

export interface ConditionChange {
  type: JobConditionType;
  status: ConditionStatus;
  reason: string;
  message: string;
}

/** CD-3: both timestamps are the moment of the change. */
export function newCondition(change: ConditionChange, now: string): JobCondition {
  const { type, status, reason, message } = change;
  return { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message };
}

/**
 * SU-9: the list with `change` applied: replaced in place if anything differs, appended only if it is not False. The same
 * array comes back when nothing changed.
 */
export function withCondition(
  conditions: readonly JobCondition[],
  change: ConditionChange,
  now: string,
): readonly JobCondition[] {
  const position = conditions.findIndex((condition) => condition.type === change.type);
  const existing = conditions[position];
  if (existing === undefined) {
    return change.status === "False" ? conditions : [...conditions, newCondition(change, now)];
  }
  const same =
    existing.status === change.status &&
    (existing.reason ?? "") === change.reason &&
    (existing.message ?? "") === change.message;
  return same ? conditions : conditions.with(position, newCondition(change, now));
}
