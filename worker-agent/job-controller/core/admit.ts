/** Section 1: which Jobs are ours, and which of those need no sync. */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { BUILT_IN_CONTROLLER } from "@jobferry/shared/job/keys.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";

/**
 * `unmanaged` takes the place of a built-in controller that is switched off (CL-1). `also` narrows a claim by value (CL-14), and
 * `adopts` which pods without an owner are taken in (AD-4).
 */
export type Claim = "unmanaged" | NarrowClaim;

interface NarrowClaim {
  readonly managedBy: string;
  readonly also?: (job: Job) => boolean;
  readonly adopts?: (job: Job, pod: Pod) => boolean;
}

export const mayAdopt = (job: Job, pod: Pod, claim: Claim): boolean =>
  claim === "unmanaged" || (claim.adopts?.(job, pod) ?? true);

/** Whether its pods are ours to clean up after, synced or not. */
export function isClaimedByValue(job: Job, claim: Claim): boolean {
  const { managedBy } = job.spec;
  if (claim === "unmanaged") return managedBy === undefined || managedBy === BUILT_IN_CONTROLLER;
  return managedBy === claim.managedBy;
}

export function isClaimed(job: Job, claim: Claim): boolean {
  return isClaimedByValue(job, claim) && (claim === "unmanaged" || (claim.also?.(job) ?? true));
}

export type Admission = "sync" | "gone" | "external" | "finished" | "finish-unseen" | "unknown-mode";

/** CL-6, after the stale-cache guard. `finishWritten`: this controller has written the terminal condition (CL-9). */
export function admit(job: Job | undefined, claim: Claim, finishWritten: boolean): Admission {
  if (job === undefined) return "gone";
  if (!isClaimed(job, claim)) return "external";
  if (isFinished(job)) return "finished";
  if (finishWritten) return "finish-unseen";
  const mode: string = job.spec.completionMode ?? "NonIndexed";
  return mode === "NonIndexed" || mode === "Indexed" ? "sync" : "unknown-mode";
}
