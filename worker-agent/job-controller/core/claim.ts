/** Section 4: which pods belong to the Job, which are adopted and which released. */
import { TRACKING_FINALIZER } from "@jobferry/shared/job/keys.ts";
import { hasTrackingFinalizer } from "@jobferry/shared/job/pods.ts";
import { compileSelector } from "@jobferry/shared/job/selector.ts";
import type { Job, OwnerReference, Pod } from "@jobferry/shared/job/types.ts";
import { isBeingDeleted } from "./job-spec.ts";

export interface ClaimPlan {
  readonly claimed: readonly Pod[];
  readonly adopt: readonly Pod[];
  readonly release: readonly Pod[];
}

export const controllerOf = (pod: Pod): OwnerReference | undefined =>
  pod.metadata.ownerReferences?.find((owner) => owner.controller === true);

/** AD-2 to AD-4. `owned`: the controller owner has the Job's UID (AD-8). `orphans`: pods of the namespace without one. */
export function planClaim(job: Job, owned: readonly Pod[], orphans: readonly Pod[]): ClaimPlan {
  const matches = compileSelector(job.spec.selector);
  if (matches === undefined) throw new Error("the Job's label selector is malformed: correct spec.selector");
  const deleting = isBeingDeleted(job);
  const release: Pod[] = [];
  const claimed = owned.filter((pod) => {
    if (matches(pod.metadata.labels)) return true;
    if (!deleting) release.push(pod);
    return false;
  });
  const adopt = deleting
    ? []
    : orphans.filter((pod) => pod.metadata.deletionTimestamp === undefined && matches(pod.metadata.labels));
  return { claimed, adopt, release };
}

/** AD-5: the Job as the server has it now, read before the first adoption; a sentence when adoption must not happen. */
export function refusesAdoption(job: Job, live: Job): string | undefined {
  if (live.metadata.uid !== job.metadata.uid) return "the Job was replaced by one with the same name";
  if (isBeingDeleted(live)) return "the Job is being deleted";
  return undefined;
}

/** AD-4, PC-2 */
export const ownerReference = (job: Job): OwnerReference => ({
  apiVersion: "batch/v1",
  kind: "Job",
  name: job.metadata.name ?? "",
  uid: job.metadata.uid ?? "",
  controller: true,
  blockOwnerDeletion: true,
});

/** AD-4: one request, so that an adopted pod is never untracked. */
export const adoptionPatch = (job: Job, pod: Pod): object => ({
  metadata: { uid: pod.metadata.uid, ownerReferences: [ownerReference(job)], finalizers: [TRACKING_FINALIZER] },
});

/** AD-3 */
export const releasePatch = (job: Job, pod: Pod): object => ({
  metadata: {
    uid: pod.metadata.uid,
    ownerReferences: [{ $patch: "delete", uid: job.metadata.uid }],
    "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER],
  },
});

/** TK-15: no precondition, the pod's UID is not reused within its name. */
export const finalizerPatch: object = {
  metadata: { "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER] },
};

/** AD-7: the pod as it is after the adoption, before the cache shows it. */
export function asAdopted(job: Job, pod: Pod): Pod {
  const finalizers = hasTrackingFinalizer(pod)
    ? pod.metadata.finalizers
    : [...(pod.metadata.finalizers ?? []), TRACKING_FINALIZER];
  const ownerReferences = [...(pod.metadata.ownerReferences ?? []), ownerReference(job)];
  return { ...pod, metadata: { ...pod.metadata, ownerReferences, ...(finalizers && { finalizers }) } };
}
