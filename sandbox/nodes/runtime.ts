import type { Container, Pod } from "@jobferry/shared/job/types.ts";
import type { ContainerRecord } from "./container-record.ts";

export interface ContainerStart {
  pod: Pod;
  container: Container;
  role: ContainerRecord["role"];
  /** Runs of this container before this one. */
  attempt: number;
  podIP: string;
  hostIP: string;
}

/** What becomes of a start. `exited` comes last and once; `started` at most once and before it. May be called at once. */
export interface ContainerObserver {
  started(containerID: string): void;
  /** It cannot be started for now and is being retried. */
  waiting(reason: string, message: string): void;
  exited(exit: ContainerExit): void;
}

export interface ContainerExit {
  exitCode: number;
  /** Absent: `Completed` or `Error` by the exit code. */
  reason?: string;
  message?: string;
}

export interface ContainerHandle {
  /** Asks it to end, and forces it when `graceMs` are over. Calling again may only shorten the time. */
  stop(graceMs: number): void;
}

/** How containers run: as processes (process-runtime.ts) or only on the clock (virtual-runtime.ts). */
export interface ContainerRuntime {
  start(start: ContainerStart, observer: ContainerObserver): ContainerHandle;
  /** The pod's containers have all ended. */
  podEnded?(pod: Pod): void;
  /** The pod object is gone. */
  podRemoved?(pod: Pod): void;
  /** Ends whatever still runs; resolves when it has. */
  close?(): Promise<void>;
}
