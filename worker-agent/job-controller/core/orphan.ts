/** Section 21: may the tracking finalizer be taken from a pod that no sync will account? */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { hasTrackingFinalizer } from "@jobferry/shared/job/pods.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { type Claim, isClaimed } from "./admit.ts";
import { controllerOf } from "./claim.ts";

/** OR-2. `owner`: the Job that the pod's controller reference names, if one with that name and UID exists. */
export function isOrphanToRelease(pod: Pod, owner: Job | undefined, claim: Claim): boolean {
  if (!hasTrackingFinalizer(pod)) return false;
  const reference = controllerOf(pod);
  if (reference === undefined) return true;
  if (reference.apiVersion !== "batch/v1" || reference.kind !== "Job") return false;
  if (owner === undefined) return true;
  return isClaimed(owner, claim) && isFinished(owner);
}
