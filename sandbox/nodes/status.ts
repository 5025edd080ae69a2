import type { ConditionStatus, ContainerStatus, Pod, PodPhase, PodStatus } from "@jobferry/shared/job/types.ts";
import { type ContainerRecord, restarts } from "./container-record.ts";

/** Why a pod was ended from outside its containers. */
export interface PodVerdict {
  reason: string;
  message: string;
}

export interface PodView {
  pod: Pod;
  records: readonly ContainerRecord[];
  /** As last reported, for the times of their last transition. */
  conditions: PodStatus["conditions"];
  /** No container runs and none will be started again. */
  over: boolean;
  /** Makes the pod Failed once it is over. */
  verdict: PodVerdict | undefined;
  now: string;
  startTime: string;
  podIP: string;
  hostIP: string;
}

type Condition = NonNullable<PodStatus["conditions"]>[number];

/** The whole status as the kubelet reports it; conditions that others own are not in it. */
export function podStatus(view: PodView): PodStatus {
  const { pod, records, podIP, hostIP } = view;
  const phase = podPhase(view);
  const inits = records.filter((record) => record.role !== "app");
  const apps = records.filter((record) => record.role === "app");
  const failed = phase === "Failed" ? view.verdict : undefined;
  const generation = pod.metadata.generation;
  return {
    phase,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(failed === undefined ? {} : { reason: failed.reason, message: failed.message }),
    conditions: podConditions(view, phase),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: view.startTime,
    ...(inits.length === 0 ? {} : { initContainerStatuses: inits.map((record) => containerStatus(record, view)) }),
    containerStatuses: apps
      .map((record) => containerStatus(record, view))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
  };
}

/** A pod that is over without a verdict is judged by its containers, whatever its restart policy would have done next. */
function podPhase({ pod, records, over, verdict }: PodView): PodPhase {
  const apps = records.filter((record) => record.role === "app");
  const brokenInit = records.some((record) => record.role === "init" && (record.terminated?.exitCode ?? 0) !== 0);
  if (over) {
    if (verdict !== undefined || brokenInit) return "Failed";
    return apps.every((record) => record.terminated?.exitCode === 0) ? "Succeeded" : "Failed";
  }
  if (brokenInit || !isInitialized(records)) return "Pending";
  if (apps.some((record) => record.running === undefined && record.terminated === undefined)) return "Pending";
  const allEnded = apps.every((record) => record.terminated !== undefined && !restarts(record, pod));
  // Sidecars that still run keep the pod Running until they are stopped.
  if (allEnded && !records.some((record) => record.running !== undefined))
    return apps.every((record) => record.terminated?.exitCode === 0) ? "Succeeded" : "Failed";
  return "Running";
}

/** Every init container has succeeded and every sidecar has started once. */
export const isInitialized = (records: readonly ContainerRecord[]): boolean =>
  records.every((record) => {
    if (record.role === "init") return record.terminated?.exitCode === 0;
    return record.role === "app" || record.running !== undefined || record.terminated !== undefined;
  });

function containerStatus(record: ContainerRecord, view: PodView): ContainerStatus {
  const { spec, running, terminated, waiting } = record;
  const inCrashLoop = waiting !== undefined && !view.over;
  const last = inCrashLoop ? (terminated ?? record.last) : record.last;
  const newest = running ?? terminated;
  return {
    name: spec.name,
    state: containerState(record, view),
    lastState: last === undefined ? {} : { terminated: last },
    ready: isContainerReady(record),
    restartCount: Math.max(0, record.runs - 1),
    image: spec.image ?? "",
    imageID: newest === undefined ? "" : IGNORED_IMAGE,
    ...(newest?.containerID === undefined ? {} : { containerID: newest.containerID }),
    started: running !== undefined,
  };
}

/** Stands where the kubelet reports an image's digest: no image is ever pulled. */
const IGNORED_IMAGE = "sandbox://image-not-pulled";

function containerState(record: ContainerRecord, { over, records }: PodView): NonNullable<ContainerStatus["state"]> {
  if (record.running !== undefined) return { running: { startedAt: record.running.startedAt } };
  if (over) return record.terminated === undefined ? lost(record) : { terminated: record.terminated };
  if (record.waiting !== undefined) return { waiting: record.waiting };
  if (record.terminated !== undefined) return { terminated: record.terminated };
  const initializing = records.some((other) => other.role !== "app") && !isInitialized(records);
  return { waiting: { reason: initializing ? "PodInitializing" : "ContainerCreating" } };
}

/** An init container that was never reached stays waiting; an app container that never ran counts as killed. */
function lost(record: ContainerRecord): NonNullable<ContainerStatus["state"]> {
  if (record.role !== "app") return { waiting: { reason: "PodInitializing" } };
  return {
    terminated: {
      exitCode: 137,
      reason: "ContainerStatusUnknown",
      message: "The container could not be located when the pod was terminated",
    } as NonNullable<NonNullable<ContainerStatus["state"]>["terminated"]>,
  };
}

/** Probes are not run: a container that runs is ready, an init container once it has succeeded. */
const isContainerReady = (record: ContainerRecord): boolean =>
  record.role === "init" ? record.terminated?.exitCode === 0 : record.running !== undefined;

function podConditions(view: PodView, phase: PodPhase): Condition[] {
  const readiness = readyVerdict(view.records, phase);
  const sandboxUp = !view.over && view.records.some((record) => record.runs > 0);
  return [
    stamped(view, { type: "PodReadyToStartContainers", status: truth(sandboxUp) }),
    stamped(view, { type: "Initialized", ...initializedVerdict(view.records, phase) }),
    stamped(view, { type: "Ready", ...readiness }),
    stamped(view, { type: "ContainersReady", ...readiness }),
    stamped(view, { type: "PodScheduled", status: "True" }),
  ];
}

const truth = (value: boolean): ConditionStatus => (value ? "True" : "False");

type Verdict = Pick<Condition, "status" | "reason" | "message">;

function initializedVerdict(records: readonly ContainerRecord[], phase: PodPhase): Verdict {
  if (phase === "Succeeded") return { status: "True", reason: "PodCompleted" };
  const incomplete = records.filter((record) => record.role !== "app" && !isInitialized([record]));
  if (incomplete.length === 0) return { status: "True" };
  return {
    status: "False",
    reason: "ContainersNotInitialized",
    message: `containers with incomplete status: [${names(incomplete)}]`,
  };
}

function readyVerdict(records: readonly ContainerRecord[], phase: PodPhase): Verdict {
  if (phase === "Succeeded") return { status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { status: "False", reason: "PodFailed" };
  const unready = records.filter((record) => record.role !== "init" && !isContainerReady(record));
  if (unready.length === 0) return { status: "True" };
  return {
    status: "False",
    reason: "ContainersNotReady",
    message: `containers with unready status: [${names(unready)}]`,
  };
}

const names = (records: readonly ContainerRecord[]): string => records.map((record) => record.spec.name).join(" ");

/** The time of the last transition stays as it was while the status does. */
function stamped({ conditions, now }: PodView, condition: Omit<Condition, "lastTransitionTime">): Condition {
  const before = conditions?.find(({ type }) => type === condition.type);
  const unchanged = before?.status === condition.status ? before.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: unchanged ?? now };
}
