/** S-8 and sections 14, 15: has the fate of the Job been decided? The first rule that holds wins. */
import { restartCount } from "@jobferry/shared/job/pods.ts";
import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { backoffLimit, indexCount, isSuspended } from "./job-spec.ts";
import { failJobMessage } from "./pod-failure-policy.ts";
import { successPolicyMessage } from "./success-policy.ts";
import type { IndexState, Outcome, PodFacts } from "./types.ts";

export interface OutcomeInput {
  readonly job: Job;
  /** With startTime as S-6 leaves it. */
  readonly status: JobStatus;
  readonly pods: readonly PodFacts[];
  readonly failed: number;
  readonly indexes: IndexState | undefined;
  readonly now: number;
}

const failure = (reason: string, message: string): Outcome => ({
  interim: "FailureTarget",
  reason,
  message,
  recorded: false,
});

const success = (reason: string, message: string): Outcome => ({
  interim: "SuccessCriteriaMet",
  reason,
  message,
  recorded: false,
});

/** S-12 */
export const completionsReached = success("CompletionsReached", "Reached expected number of succeeded pods");

export function decideOutcome(input: OutcomeInput): Outcome | undefined {
  return (
    recordedOutcome(input.status) ??
    policyFailure(input) ??
    (exceedsBackoffLimit(input)
      ? failure("BackoffLimitExceeded", "Job has reached the specified backoff limit")
      : undefined) ??
    (isPastDeadline(input)
      ? failure("DeadlineExceeded", "Job was active longer than specified deadline")
      : undefined) ??
    indexFailure(input) ??
    policySuccess(input)
  );
}

/** S-8.1, S-8.2: a published fate is final (VS-46). An entry that is not True was put there by someone else (CD-7). */
function recordedOutcome({ conditions }: JobStatus): Outcome | undefined {
  for (const interim of ["SuccessCriteriaMet", "FailureTarget"] as const) {
    const condition = conditions?.find((entry) => entry.type === interim && entry.status === "True");
    if (condition !== undefined)
      return { interim, reason: condition.reason ?? "", message: condition.message ?? "", recorded: true };
  }
  return undefined;
}

/** S-8.3 */
function policyFailure({ job, pods }: OutcomeInput): Outcome | undefined {
  const message = failJobMessage(job, pods);
  return message === undefined ? undefined : failure("PodFailurePolicy", message);
}

/** BL-1, BL-4 */
function exceedsBackoffLimit({ job, pods, failed }: OutcomeInput): boolean {
  const limit = backoffLimit(job);
  if (failed > limit) return true;
  if (job.spec.template.spec.restartPolicy !== "OnFailure") return false;
  let restarts = 0;
  for (const { pod } of pods) {
    const phase = pod.status?.phase;
    if (phase === "Running" || phase === "Pending") restarts += restartCount(pod);
  }
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** DL-1, DL-3: undefined when no deadline applies. */
export function timeToDeadline({ job, status, now }: Pick<OutcomeInput, "job" | "status" | "now">): number | undefined {
  const seconds = job.spec.activeDeadlineSeconds;
  if (seconds === undefined || status.startTime === undefined || isSuspended(job)) return undefined;
  return seconds * 1000 - (now - Date.parse(status.startTime));
}

const isPastDeadline = (input: OutcomeInput): boolean => (timeToDeadline(input) ?? 1) <= 0;

/** BI-9, BI-10 */
function indexFailure({ job, indexes }: OutcomeInput): Outcome | undefined {
  if (indexes?.failed === undefined) return undefined;
  const failed = indexes.failed.size;
  const { maxFailedIndexes } = job.spec;
  if (maxFailedIndexes !== undefined && failed > maxFailedIndexes)
    return failure("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
  if (failed > 0 && failed + indexes.succeeded.size >= indexCount(job))
    return failure("FailedIndexes", "Job has failed indexes");
  return undefined;
}

/** S-8.9 */
function policySuccess({ job, indexes }: OutcomeInput): Outcome | undefined {
  const message = indexes && successPolicyMessage(job, indexes.succeeded);
  return message === undefined ? undefined : success("SuccessPolicy", message);
}

/** S-12: `active` as it is after this sync's creations and deletions. */
export function isPlainlyComplete(job: Job, succeeded: number, active: number): boolean {
  const { completions } = job.spec;
  return active === 0 && (completions === undefined ? succeeded > 0 : succeeded >= completions);
}
