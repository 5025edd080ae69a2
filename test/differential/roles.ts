/** Which pods a step can apply to, in an order that is the same on both sides although names and UIDs are not. */
import { completionIndex, isPodActive, isPodTerminal, isPodTerminating } from "@jobferry/shared/job/pods.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";

export const RELEASED = "released";

/** What one side's namespace holds, and when each pod was first seen (in steps). */
export interface World {
  jobUid: string;
  job: Job | undefined;
  pods: readonly Pod[];
  epochs: ReadonlyMap<string, number>;
}

export const isOwned = (world: World, pod: Pod): boolean =>
  pod.metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === world.jobUid) ?? false;

export type Role = "active" | "terminating" | "finished" | "released";

export function podsInRole(world: World, role: Role): Pod[] {
  return world.pods.filter((pod) => plays(world, pod, role)).sort((a, b) => compare(world, a, b));
}

function plays(world: World, pod: Pod, role: Role): boolean {
  switch (role) {
    case "active":
      return isOwned(world, pod) && isPodActive(pod);
    case "terminating":
      // PodGC looks after those that never reached a node.
      return isPodTerminating(pod) && pod.spec.nodeName !== undefined;
    case "finished":
      return isOwned(world, pod) && isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined;
    case "released":
      return pod.metadata.annotations?.[RELEASED] !== undefined && pod.metadata.deletionTimestamp === undefined;
  }
}

/** By index, then age, then what the kubelet said; pods equal in all of that are exchangeable. */
function compare(world: World, a: Pod, b: Pod): number {
  return (
    (completionIndex(a) ?? -1) - (completionIndex(b) ?? -1) ||
    epoch(world, a) - epoch(world, b) ||
    history(a).localeCompare(history(b))
  );
}

/** -1: since the last step. */
export const epoch = (world: World, pod: Pod): number => world.epochs.get(pod.metadata.uid ?? "") ?? -1;

const history = (pod: Pod): string =>
  JSON.stringify([pod.spec.nodeName, pod.status?.phase, pod.status?.conditions, pod.status?.containerStatuses]);
