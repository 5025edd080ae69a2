/** One line about one hub Job. */
import { findCondition, isComplete, isConditionTrue, isFailed } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { CLUSTER, MESSAGE } from "@jobferry/shared/protocol/marks.ts";

export interface Row {
  readonly job: string;
  readonly cluster: string;
  readonly state: string;
  /** Complete of all; for an Indexed Job also which. */
  readonly indexes: string;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** When it ended, if it has. */
  readonly ended: number | undefined;
}

export function rowOf(job: Job): Row {
  const { metadata, status } = job;
  const terminal = findCondition(status?.conditions, isFailed(job) ? "Failed" : "Complete");
  return {
    job: metadata.name ?? "",
    cluster: metadata.annotations?.[CLUSTER] ?? "-",
    state: stateOf(job),
    indexes: indexesOf(job),
    message: terminal?.message ?? metadata.annotations?.[MESSAGE] ?? "",
    created: Date.parse(metadata.creationTimestamp ?? ""),
    ended: terminal === undefined ? undefined : Date.parse(terminal.lastTransitionTime ?? ""),
  };
}

export function stateOf(job: Job): string {
  const { metadata, spec, status } = job;
  if (isComplete(job)) return "Complete";
  if (isFailed(job)) return "Failed";
  if (isConditionTrue(status?.conditions, "FailureTarget")) return "Failing";
  if (isConditionTrue(status?.conditions, "SuccessCriteriaMet")) return "Completing";
  if (spec.suspend === true)
    return isConditionTrue(status?.conditions, "Suspended") && (status?.active ?? 0) === 0 ? "Suspended" : "Suspending";
  if (metadata.annotations?.[CLUSTER] === undefined) return "Waiting";
  return (status?.active ?? 0) > 0 ? "Running" : "Assigned";
}

function indexesOf({ spec, status }: Job): string {
  const count = `${status?.succeeded ?? 0}/${spec.completions ?? 1}`;
  return status?.completedIndexes ? `${count} (${status.completedIndexes})` : count;
}

/** Whole seconds, as kubectl shows young objects. */
export const ageOf = ({ created, ended }: Row, now: number): string =>
  `${Math.max(0, Math.round(((ended ?? now) - created) / 1000))}s`;
