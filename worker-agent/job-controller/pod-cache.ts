/** What the pod cache keeps of a pod, and how a Job finds its pods without looking at all of them. */
import { CONTROLLER_UID_LABEL } from "@jobferry/shared/job/keys.ts";
import { hasTrackingFinalizer, isPodTerminal } from "@jobferry/shared/job/pods.ts";
import type { ContainerStatus, Job, LabelSelector, Pod, PodSpec, PodStatus } from "@jobferry/shared/job/types.ts";
import { controllerOf } from "./core/claim.ts";

/** The only index of the cache; its values carry a prefix that says what they list. */
export const POD_INDEX = "jobs";

/** Of an owner's UID: pods that may still matter to its sync. */
export const live = (uid: string): string => `live:${uid}`;
/** Of an owner's UID: pods that succeeded and are accounted; only a change of their labels can matter (AD-3). */
export const settled = (uid: string): string => `settled:${uid}`;
/** Without a controller, by the UID label that generated selectors ask for. */
const orphanOf = (uid: string): string => `orphan-of:${uid}`;
/** Without a controller, by namespace: for Jobs with selectors of their own. */
const orphanIn = (namespace: string): string => `orphan-in:${namespace}`;
/** With the tracking finalizer, by the UID label and by namespace. */
export const heldOf = (uid: string): string => `held-of:${uid}`;
export const heldIn = (namespace: string): string => `held-in:${namespace}`;

export const isSettled = (pod: Pod): boolean => pod.status?.phase === "Succeeded" && !hasTrackingFinalizer(pod);

/** The UID that a generated selector asks for (AP-3); undefined for a selector written by hand. */
export const selectedUid = (selector: LabelSelector | undefined): string | undefined =>
  selector?.matchLabels?.[CONTROLLER_UID_LABEL];

export function podIndexValues(pod: Pod): string[] {
  const { namespace = "", labels } = pod.metadata;
  const labelled = labels?.[CONTROLLER_UID_LABEL];
  const owner = controllerOf(pod);
  const values: string[] = [];
  if (owner !== undefined) values.push(isSettled(pod) ? settled(owner.uid) : live(owner.uid));
  else {
    values.push(orphanIn(namespace));
    if (labelled !== undefined) values.push(orphanOf(labelled));
  }
  if (hasTrackingFinalizer(pod)) {
    values.push(heldIn(namespace));
    if (labelled !== undefined) values.push(heldOf(labelled));
  }
  return values;
}

export const orphansFor = (job: Job): string => {
  const uid = selectedUid(job.spec.selector);
  return uid === undefined ? orphanIn(job.metadata.namespace ?? "") : orphanOf(uid);
};

/** Not terminal: something may still happen to it. */
export const isUnfinished = (pod: Pod): boolean => !isPodTerminal(pod);

/** A cluster's finished pods may outnumber its running ones by far: keep of each only what a sync can ask for. */
export function trimPod(pod: Pod): Pod {
  const { managedFields: _, annotations, ...metadata } = pod.metadata;
  // Nobody's pod may still be adopted, and then its index counts (AD-4, IX-6).
  if (isSettled(pod) && controllerOf(pod) !== undefined)
    return { metadata, spec: noContainers, status: { phase: "Succeeded" } };
  return {
    metadata: annotations === undefined ? metadata : { ...metadata, annotations },
    spec: trimSpec(pod.spec),
    status: trimStatus(pod.status),
  };
}

const noContainers: PodSpec = { containers: [] };

function trimSpec({ nodeName, initContainers }: PodSpec): PodSpec {
  const sidecars = initContainers
    ?.filter((container) => container.restartPolicy === "Always")
    .map(({ name }) => ({ name, restartPolicy: "Always" }));
  if (!nodeName && !sidecars?.length) return noContainers;
  return { containers: [], ...(nodeName && { nodeName }), ...(sidecars?.length && { initContainers: sidecars }) };
}

function trimStatus(status: PodStatus = {}): PodStatus {
  const { phase, conditions, containerStatuses, initContainerStatuses } = status;
  return {
    ...(phase && { phase }),
    ...(conditions && { conditions }),
    ...(containerStatuses && { containerStatuses: containerStatuses.map(trimContainer) }),
    ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(trimContainer) }),
  };
}

const trimContainer = ({ name, restartCount, state }: ContainerStatus): ContainerStatus => ({
  name,
  restartCount,
  ...(state?.terminated && { state: { terminated: state.terminated } }),
});
