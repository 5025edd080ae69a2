import type { Container, Pod } from "@jobferry/shared/job/types.ts";

/** A sidecar is an init container that keeps running beside the app containers. */
type ContainerRole = "init" | "sidecar" | "app";

interface TerminatedState {
  exitCode: number;
  reason: string;
  message?: string;
  startedAt?: string;
  finishedAt?: string;
  containerID?: string;
}

interface RunningState {
  startedAt: string;
  containerID: string;
}

/** What the kubelet knows of one container; `status.ts` turns it into what it reports. */
export interface ContainerRecord {
  readonly spec: Container;
  readonly role: ContainerRole;
  /** Asked for, but neither running nor failed yet. */
  starting: boolean;
  running: RunningState | undefined;
  /** How the newest run ended; undefined while it runs. */
  terminated: TerminatedState | undefined;
  /** How the run before the newest ended. */
  last: TerminatedState | undefined;
  /** Why the next start has to wait. */
  waiting: { reason: string; message?: string } | undefined;
  /** Runs begun so far. */
  runs: number;
}

export function recordsOf(pod: Pod): ContainerRecord[] {
  const inits = (pod.spec.initContainers ?? []).map((spec) =>
    blank(spec, spec.restartPolicy === "Always" ? "sidecar" : "init"),
  );
  return [...inits, ...pod.spec.containers.map((spec) => blank(spec, "app"))];
}

function blank(spec: Container, role: ContainerRole): ContainerRecord {
  return {
    spec,
    role,
    starting: false,
    running: undefined,
    terminated: undefined,
    last: undefined,
    waiting: undefined,
    runs: 0,
  };
}

/** Has something that must be stopped before the pod is over. */
export const isLive = (record: ContainerRecord): boolean => record.starting || record.running !== undefined;

/** Whether a container that ended like this is started again. */
export function restarts(record: ContainerRecord, pod: Pod): boolean {
  if (record.terminated === undefined) return false;
  if (record.role === "sidecar") return true;
  const policy = (record.role === "app" ? record.spec.restartPolicy : undefined) ?? pod.spec.restartPolicy ?? "Always";
  if (record.terminated.exitCode === 0) return policy === "Always" && record.role === "app";
  return policy !== "Never";
}
