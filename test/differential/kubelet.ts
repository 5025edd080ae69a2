/** What a kubelet would report about a pod, as the status to merge into it. Only this test writes pod statuses. */
import type { ContainerStatus, Pod, PodStatus } from "@jobferry/shared/job/types.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { Finish, PodConditionPattern } from "./script.ts";

const PAST_MS = 3_600_000;
/** With the first back-off of 10 s (K-3), 30 s in which further steps are played. */
const AHEAD_MS = 20_000;

export const finishTime = (at: number, finish: Finish): number =>
  finish === "past" ? at - PAST_MS : finish === "ahead" ? at + AHEAD_MS : at;

type Condition = NonNullable<PodStatus["conditions"]>[number];

function withCondition(pod: Pod, condition: Condition): Condition[] {
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
  return [...others, condition];
}

const readyCondition = (status: "True" | "False", since: number): Condition => ({
  type: "Ready",
  status,
  lastTransitionTime: timestamp(since),
});

const restartsOf = (pod: Pod, container: string): number =>
  pod.status?.containerStatuses?.find(({ name }) => name === container)?.restartCount ?? 0;

function containers(pod: Pod, state: (name: string) => Partial<ContainerStatus>): ContainerStatus[] {
  return pod.spec.containers.map(({ name, image }) => ({
    name,
    image,
    imageID: "",
    ready: false,
    started: true,
    restartCount: restartsOf(pod, name),
    ...state(name),
  }));
}

function initContainers(pod: Pod, at: number, failing?: { name: string; code: number }): ContainerStatus[] {
  return (pod.spec.initContainers ?? []).map(({ name, image }) => ({
    name,
    image,
    imageID: "",
    ready: name !== failing?.name,
    restartCount: 0,
    state: { terminated: { exitCode: name === failing?.name ? failing.code : 0, finishedAt: timestamp(at) } },
  }));
}

/** Started, but not ready for an hour already: a deletion from here on needs no back-off (BO-10 b). */
export function running(pod: Pod, at: number): PodStatus {
  if (pod.status?.phase === "Running") return pod.status;
  return {
    phase: "Running",
    startTime: timestamp(at),
    conditions: withCondition(pod, readyCondition("False", at - PAST_MS)),
    containerStatuses: containers(pod, () => ({ state: { running: { startedAt: timestamp(at) } } })),
    initContainerStatuses: initContainers(pod, at),
  };
}

export function ready(pod: Pod, at: number, since = at): PodStatus {
  const started = running(pod, at);
  return { ...started, conditions: withCondition(pod, readyCondition("True", since)) };
}

export const unready = (pod: Pod, since: number): PodStatus => ({
  conditions: withCondition(pod, readyCondition("False", since)),
});

export function restarted(pod: Pod, at: number, times: number): PodStatus {
  const started = running(pod, at);
  const first = pod.spec.containers[0]?.name;
  return {
    ...started,
    containerStatuses: containers(pod, (name) => ({
      state: { running: { startedAt: timestamp(at) } },
      ...(name === first
        ? {
            restartCount: restartsOf(pod, name) + times,
            lastState: { terminated: { exitCode: 1, finishedAt: timestamp(at) } },
          }
        : {}),
    })),
  };
}

export function succeeded(pod: Pod, at: number): PodStatus {
  return {
    phase: "Succeeded",
    conditions: withCondition(pod, readyCondition("False", at)),
    containerStatuses: containers(pod, () => ({
      state: { terminated: { exitCode: 0, finishedAt: timestamp(at) } },
    })),
    initContainerStatuses: initContainers(pod, at),
  };
}

export interface Failure {
  /** Counted over app containers, then init containers, round. */
  container: number;
  code: number;
  finishedAt: number;
  condition?: PodConditionPattern;
}

export function failed(pod: Pod, failure: Failure): PodStatus {
  const inits = pod.spec.initContainers ?? [];
  const all = [...pod.spec.containers, ...inits];
  const culprit = all[failure.container % all.length]?.name ?? "";
  const ended = { finishedAt: timestamp(failure.finishedAt) };
  const duringInit = inits.some(({ name }) => name === culprit);
  const unreadyPod = {
    ...pod,
    status: { conditions: withCondition(pod, readyCondition("False", failure.finishedAt)) },
  };
  return {
    phase: "Failed",
    conditions:
      failure.condition === undefined
        ? unreadyPod.status.conditions
        : withCondition(unreadyPod, { ...failure.condition, lastTransitionTime: timestamp(failure.finishedAt) }),
    // Once started, containers cannot go back to waiting.
    containerStatuses:
      duringInit && pod.status?.containerStatuses === undefined
        ? containers(pod, () => ({ started: false, state: { waiting: { reason: "PodInitializing" } } }))
        : containers(pod, (name) => ({
            state: { terminated: { exitCode: name === culprit ? failure.code : 0, ...ended } },
          })),
    initContainerStatuses: initContainers(pod, failure.finishedAt, { name: culprit, code: failure.code }),
  };
}

/** PodGC's words about a pod whose node is gone (GC-1). */
export function lost(pod: Pod, at: number): PodStatus {
  const unreadyPod = { ...pod, status: { conditions: withCondition(pod, readyCondition("False", at)) } };
  return {
    phase: "Failed",
    conditions: withCondition(unreadyPod, {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByPodGC",
      lastTransitionTime: timestamp(at),
    }),
  };
}

/** A finished pod turns round, as a kubelet that lost its memory once reported. */
export const flipped = (pod: Pod): PodStatus => ({ phase: pod.status?.phase === "Succeeded" ? "Failed" : "Succeeded" });
