/** What must be true of a Job in the end, whatever happened to the fleet. Pure. */
import { isComplete, isFailed } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";

/** A Job as it was planned. */
export interface Planned {
  readonly name: string;
  readonly kind: "plain" | "indexed" | "failing" | "resumed" | "paused" | "scaled" | "deleted";
  readonly completions: number;
}

/** A pod on a worker, as it was last seen. */
export interface SeenPod {
  readonly index: number | undefined;
  readonly phase: string;
}

/** What is wrong with its outcome; empty when nothing is. `pods`: all that ever came to be for this Job, on all clusters. */
export function problemsOf(
  { name, kind, completions }: Planned,
  job: Job | undefined,
  pods: readonly SeenPod[],
): string[] {
  const say = (what: string): string => `${name} (${kind}): ${what}`;
  if (kind === "deleted") return job === undefined ? [] : [say("is still there")];
  if (job === undefined) return [say("is gone")];
  const problems: string[] = [];
  const { status = {}, metadata } = job;
  const { succeeded = 0, failed = 0 } = status;
  // Nothing stopped its pods: it never moved, and nobody suspended or scaled it.
  const isUndisturbed = metadata.annotations?.["jobferry.dev/epoch"] === "1" && !["paused", "scaled"].includes(kind);
  const ended = (phase: string): SeenPod[] => pods.filter((pod) => pod.phase === phase);
  if (kind === "failing") {
    if (!isFailed(job)) problems.push(say("has not failed"));
    if (failed !== 1 || succeeded !== 0) problems.push(say(`counts ${failed} failed, ${succeeded} succeeded`));
    if (ended("Failed").length < 1 || ended("Succeeded").length > 0) problems.push(say("its pods ended otherwise"));
  } else {
    if (!isComplete(job)) problems.push(say("is not complete"));
    if (succeeded !== completions || failed !== 0)
      problems.push(say(`counts ${succeeded} of ${completions} succeeded, ${failed} failed`));
    // A pod that is stopped may succeed in its last moment, and its work is then done again.
    const good = ended("Succeeded").length;
    if (good < completions || (isUndisturbed && good > completions))
      problems.push(say(`${good} pods succeeded, not ${completions}`));
  }
  const wanted = kind === "failing" ? 1 : completions;
  if (isUndisturbed && pods.length !== wanted) problems.push(say(`${pods.length} pods were created, not ${wanted}`));
  if ((metadata.finalizers ?? []).includes("jobferry.dev/withdraw")) problems.push(say("keeps our finalizer"));
  return problems;
}
