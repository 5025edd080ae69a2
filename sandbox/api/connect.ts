/** Pod subresources that act rather than store: binding to a node, and eviction. */
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import { withNullTimes } from "./conditions.ts";
import { type Core, getOrFail, type Key } from "./core.ts";
import { badRequest, conflict, failure } from "./errors.ts";
import { type RemoveOptions, removeObject } from "./remove.ts";
import type { ResourceType } from "./types.ts";
import { commit } from "./write.ts";

type Fields = Record<string, unknown>;

const conditionsOf = (pod: Stored): Fields[] => {
  const status = isRecord(pod.status) ? pod.status : {};
  return Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : [];
};

function withCondition(pod: Stored, condition: Fields): Stored {
  const others = conditionsOf(pod).filter(({ type }) => type !== condition.type);
  return { ...pod, status: withNullTimes({ ...(pod.status as Fields), conditions: [...others, condition] }) };
}

/** Gives a pod its node. A pod is bound once: a second scheduler that comes late gets a conflict. */
export function bindPod(core: Core, pods: ResourceType, key: Key, body: unknown, dryRun = false): void {
  const target = isRecord(body) && isRecord(body.target) ? body.target : {};
  const node = target.name;
  if (typeof node !== "string" || node === "") throw badRequest("target.name: Required value");
  const pod = getOrFail(core, pods, key);
  const spec = pod.spec as Fields;
  const refuse = (detail: string): Error => conflict({ group: "", plural: "pods/binding" }, key.name, detail);
  if (pod.metadata.deletionTimestamp !== undefined)
    throw refuse(`pod ${key.name} is being deleted, cannot be assigned to a host`);
  if (spec.nodeName !== undefined)
    throw refuse(`pod ${key.name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  if (Array.isArray(spec.schedulingGates) && spec.schedulingGates.length > 0)
    throw refuse(`pod ${key.name} has non-empty .spec.schedulingGates`);
  const scheduled = { type: "PodScheduled", status: "True", lastTransitionTime: timestamp(core.clock.now()) };
  commit(core, pods, { ...withCondition(pod, scheduled), spec: { ...spec, nodeName: node } }, dryRun);
}

/** Deletes a pod for a reason that its owner may want to know: the pod gets a DisruptionTarget condition first. */
export function evictPod(core: Core, pods: ResourceType, key: Key, body: unknown, dryRun = false): void {
  const options = isRecord(body) && isRecord(body.deleteOptions) ? (body.deleteOptions as RemoveOptions) : {};
  const name = isRecord(body) && isRecord(body.metadata) ? body.metadata.name : undefined;
  if (name !== undefined && name !== key.name) throw badRequest("name in URL does not match name in Eviction object");
  let pod = getOrFail(core, pods, key);
  const wanted = options.preconditions?.uid;
  if (wanted !== undefined && wanted !== pod.metadata.uid)
    throw failure(409, "Conflict", `the UID in the precondition (${wanted}) does not match ${pod.metadata.uid}`);
  const phase = isRecord(pod.status) ? pod.status.phase : undefined;
  if (phase !== "Succeeded" && phase !== "Failed") {
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "EvictionByEvictionAPI",
      message: "Eviction API: evicting",
      lastTransitionTime: timestamp(core.clock.now()),
    };
    pod = commit(core, pods, withCondition(pod, condition), dryRun);
  }
  removeObject(core, pods, key, { ...options, dryRun });
}
