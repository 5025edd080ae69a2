import { milliValue } from "@jobferry/shared/job/quantity.ts";
import type { FullContainer, FullPodSpec } from "../../schema/pod-types.ts";

/** A quantity in thousandths; an absent one is nothing. */
export const milli = (quantity: string | undefined): bigint => milliValue(quantity ?? "0") ?? 0n;

/**
 * How much of a resource the containers of a pod need at once, in thousandths: app containers and sidecars run together;
 * before them each init container runs beside the sidecars started so far.
 */
export function containersNeed(spec: FullPodSpec, part: "requests" | "limits", resource: string): bigint {
  const need = (container: FullContainer): bigint => milli(container.resources[part]?.[resource]);
  let sidecars = 0n;
  let duringInit = 0n;
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === "Always") sidecars += need(container);
    else if (sidecars + need(container) > duringInit) duringInit = sidecars + need(container);
  }
  const running = spec.containers.reduce((sum, container) => sum + need(container), sidecars);
  return running > duringInit ? running : duringInit;
}
