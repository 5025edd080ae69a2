/** S-4 to S-9: what a sync finds before it touches anything. */

import type { Job, JobStatus, Pod } from "@jobferry/shared/job/types.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import { isSuspended } from "./job-spec.ts";
import { countsAsFailure, matchFailurePolicy } from "./pod-failure-policy.ts";
import type { Rules } from "./rules.ts";
import type { BackoffRecord, Limits, Pass, PodFacts } from "./types.ts";

export interface AssessInput {
  readonly job: Job;
  /** Claimed pods. */
  readonly pods: readonly Pod[];
  readonly now: number;
  readonly limits: Limits;
  readonly satisfied: boolean;
  readonly awaited: ReadonlySet<string>;
  readonly backoff: BackoffRecord;
  /** When the Job began, if that is not written yet. */
  readonly startTime: string | undefined;
}

export function assess(rules: Rules, input: AssessInput): Pass {
  const { job, now, limits, satisfied } = input;
  const status = startingStatus(job, input.startTime ?? timestamp(now));
  const pods = input.pods.map((pod) => rules.factsOf(job, pod, input.awaited));
  const active = pods.filter((facts) => facts.active);
  const uncounted = rules.uncountedOf(status);
  const finished = rules.newlyFinished(job, pods, uncounted);
  const indexes = rules.indexState(job, status, pods);
  const failed =
    (status.failed ?? 0) + finished.failed.filter((facts) => isNotIgnored(job, facts)).length + uncounted.failed.size;
  const succeeded =
    indexes === undefined
      ? (status.succeeded ?? 0) + finished.succeeded.length + uncounted.succeeded.size
      : indexes.succeeded.size;
  const outcome = rules.decideOutcome({ job, status, pods, failed, indexes, now });
  return {
    job,
    status,
    now,
    limits,
    satisfied,
    pods,
    active,
    ready: count(active, (facts) => facts.ready),
    terminating: count(pods, (facts) => facts.terminating),
    uncounted,
    newSucceeded: finished.succeeded,
    newFailed: finished.failed,
    succeeded,
    failed,
    indexes,
    backoff: rules.nextBackoff(input.backoff, finished.succeeded, finished.failed, now),
    outcome,
    deadlineInMs: outcome === undefined ? rules.timeToDeadline({ job, status, now }) : undefined,
  };
}

/** S-1, S-6 */
function startingStatus(job: Job, startTime: string): JobStatus {
  const status = job.status ?? {};
  return {
    ...status,
    uncountedTerminatedPods: status.uncountedTerminatedPods ?? {},
    ...(status.startTime === undefined && !isSuspended(job) && { startTime }),
  };
}

/** CT-8 */
const isNotIgnored = (job: Job, facts: PodFacts): boolean =>
  job.spec.podFailurePolicy === undefined || countsAsFailure(matchFailurePolicy(job, facts.pod));

function count(pods: readonly PodFacts[], filter: (facts: PodFacts) => boolean): number {
  let total = 0;
  for (const facts of pods) if (filter(facts)) total++;
  return total;
}
