import type { Pod, PodStatus } from "@jobferry/shared/job/types.ts";
import { type Clock, timestamp } from "@jobferry/shared/runtime/clock.ts";
import { type ContainerRecord, isLive, recordsOf, restarts } from "./container-record.ts";
import type { PodEventSink } from "./events.ts";
import { type RestartBackoff, RestartDelays } from "./restart-delays.ts";
import type { ContainerExit, ContainerHandle, ContainerRuntime } from "./runtime.ts";
import { isInitialized, type PodVerdict, podStatus } from "./status.ts";

export interface PodWorkerOptions {
  pod: Pod;
  clock: Clock;
  runtime: ContainerRuntime;
  events: PodEventSink;
  podIP: string;
  hostIP: string;
  restartBackoff: RestartBackoff;
  /** The status is no longer what was last reported. */
  changed(): void;
}

/**
 * The life of one pod on its node.
 *
 * running: init containers one after another (sidecars among them stay), then all app containers; ended ones are
 *   restarted by policy. When no app container will run again, or an init container failed for good, the pod is ...
 * stopping: also after deletion, eviction or the pod's deadline. App containers are stopped first, then sidecars in reverse
 *   order. When nothing runs any more, the pod is ...
 * over: the status is final and never changes again.
 */
export class PodWorker {
  readonly #options: PodWorkerOptions;
  #pod: Pod;
  readonly #records: ContainerRecord[];
  readonly #handles = new Map<ContainerRecord, ContainerHandle>();
  readonly #restartDelays: RestartDelays;
  /** Not rounded to the seconds that are reported, or the deadline would come early. */
  readonly #startMs: number;
  #conditions: PodStatus["conditions"];
  #cancelDeadline: (() => void) | undefined;
  #state: "running" | "stopping" | "over" = "running";
  readonly #stopAsked = new Set<ContainerRecord>();
  #verdict: PodVerdict | undefined;
  /** On the monotonic clock: when containers still running are killed. */
  #killAt = Number.POSITIVE_INFINITY;
  #advancing = false;
  #advanceAgain = false;

  constructor(options: PodWorkerOptions) {
    this.#options = options;
    this.#pod = options.pod;
    this.#records = recordsOf(options.pod);
    this.#restartDelays = new RestartDelays(options.clock, options.restartBackoff);
    this.#conditions = options.pod.status?.conditions;
    const { startTime } = options.pod.status ?? {};
    this.#startMs = startTime === undefined ? options.clock.now() : Date.parse(startTime);
  }

  get pod(): Pod {
    return this.#pod;
  }

  get isOver(): boolean {
    return this.#state === "over";
  }

  start(): void {
    this.#armDeadline();
    if (this.#pod.metadata.deletionTimestamp === undefined) this.#advance();
    else this.#stopForDeletion();
  }

  /** Takes note of the pod's newest state on the server. */
  update(pod: Pod): void {
    const deadlineMoved = pod.spec.activeDeadlineSeconds !== this.#pod.spec.activeDeadlineSeconds;
    this.#pod = pod;
    if (this.#state === "over") return;
    if (deadlineMoved) this.#armDeadline();
    if (pod.metadata.deletionTimestamp !== undefined) this.#stopForDeletion();
  }

  /** Ends the pod as Failed with this reason. */
  fail(verdict: PodVerdict): void {
    if (this.#state === "over") return;
    this.#verdict ??= verdict;
    this.#stop(this.#specGraceMs());
  }

  /** Ends everything at once; nobody waits for a status any more. */
  kill(): void {
    this.#stop(0);
  }

  status(): PodStatus {
    const status = podStatus({
      pod: this.#pod,
      records: this.#records,
      conditions: this.#conditions,
      over: this.#state === "over",
      verdict: this.#verdict,
      now: timestamp(this.#options.clock.now()),
      startTime: timestamp(this.#startMs),
      podIP: this.#options.podIP,
      hostIP: this.#options.hostIP,
    });
    this.#conditions = status.conditions;
    return status;
  }

  #armDeadline(): void {
    this.#cancelDeadline?.();
    this.#cancelDeadline = undefined;
    const seconds = this.#pod.spec.activeDeadlineSeconds;
    if (seconds === undefined || seconds === null) return;
    const leftMs = this.#startMs + seconds * 1000 - this.#options.clock.now();
    this.#cancelDeadline = this.#options.clock.after(leftMs, () => {
      const message = "Pod was active on the node longer than the specified deadline";
      this.#options.events(this.#pod, "Normal", "DeadlineExceeded", message);
      this.fail({ reason: "DeadlineExceeded", message });
    });
  }

  #specGraceMs(): number {
    return (this.#pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  }

  #stopForDeletion(): void {
    this.#stop((this.#pod.metadata.deletionGracePeriodSeconds ?? this.#specGraceMs() / 1000) * 1000);
  }

  #stop(graceMs: number): void {
    if (this.#state === "over") return;
    const killAt = this.#options.clock.monotonic() + graceMs;
    if (this.#state === "stopping" && killAt >= this.#killAt) return;
    this.#killAt = killAt;
    this.#state = "stopping";
    this.#cancelDeadline?.();
    this.#restartDelays.cancelAll();
    for (const record of this.#records) record.waiting = undefined;
    this.#stopAsked.clear();
    this.#advance();
  }

  /** Callbacks of the runtime may come while we are still inside: then go round once more instead of into ourselves. */
  #advance(first?: () => void): void {
    this.#advanceAgain = true;
    if (this.#advancing) return;
    this.#advancing = true;
    first?.();
    while (this.#advanceAgain) {
      this.#advanceAgain = false;
      if (this.#state === "running") this.#runContainers();
      if (this.#state === "stopping") this.#stopContainers();
    }
    this.#advancing = false;
  }

  #runContainers(): void {
    for (const record of this.#records) {
      if (record.role === "app") break;
      this.#runInit(record);
      if (!isInitialized([record])) return;
    }
    const apps = this.#records.filter((record) => record.role === "app");
    for (const record of apps) this.#ensureRun(record);
    if (apps.every((record) => record.terminated !== undefined && !isLive(record) && !restarts(record, this.#pod)))
      this.#stop(this.#specGraceMs());
  }

  #runInit(record: ContainerRecord): void {
    this.#ensureRun(record);
    const failedForGood =
      record.role === "init" && (record.terminated?.exitCode ?? 0) !== 0 && !restarts(record, this.#pod);
    if (failedForGood) this.#stop(this.#specGraceMs());
  }

  #ensureRun(record: ContainerRecord): void {
    if (isLive(record) || record.waiting !== undefined) return;
    if (record.terminated === undefined) this.#run(record);
    else if (restarts(record, this.#pod)) this.#restart(record);
  }

  #restart(record: ContainerRecord): void {
    const delayMs = this.#restartDelays.next(record);
    if (delayMs === 0) this.#run(record);
    else this.#restartLater(record, delayMs);
  }

  #restartLater(record: ContainerRecord, delayMs: number): void {
    const { name, namespace, uid } = this.#pod.metadata;
    const subject = `restarting failed container=${record.spec.name} pod=${name}_${namespace}(${uid})`;
    record.waiting = { reason: "CrashLoopBackOff", message: `back-off ${goDuration(delayMs)} ${subject}` };
    this.#options.events(this.#pod, "Warning", "BackOff", `Back-off ${subject}`);
    this.#restartDelays.after(record, delayMs, () => {
      record.waiting = undefined;
      this.#advance(() => this.#run(record));
    });
    this.#options.changed();
  }

  #run(record: ContainerRecord): void {
    const { runtime, podIP, hostIP } = this.#options;
    const { spec: container, role } = record;
    record.starting = true;
    this.#restartDelays.started(record);
    const start = { pod: this.#pod, container, role, attempt: record.runs, podIP, hostIP };
    const handle = runtime.start(start, {
      started: (containerID) => this.#onStarted(record, containerID),
      waiting: (reason, message) => this.#onWaiting(record, reason, message),
      exited: (exit) => this.#onExited(record, exit),
    });
    if (isLive(record)) this.#handles.set(record, handle);
  }

  #onStarted(record: ContainerRecord, containerID: string): void {
    record.starting = false;
    record.waiting = undefined;
    record.last = record.terminated ?? record.last;
    record.terminated = undefined;
    record.running = { startedAt: timestamp(this.#options.clock.now()), containerID };
    record.runs++;
    this.#options.changed();
    this.#advance();
  }

  #onWaiting(record: ContainerRecord, reason: string, message: string): void {
    if (this.#state !== "running") return;
    record.waiting = { reason, message };
    this.#options.events(this.#pod, "Warning", "Failed", `Error: ${message}`);
    this.#options.changed();
  }

  #onExited(record: ContainerRecord, exit: ContainerExit): void {
    this.#handles.delete(record);
    const now = timestamp(this.#options.clock.now());
    const { running } = record;
    const neverRan = running === undefined && this.#state !== "running";
    if (!neverRan) {
      if (running === undefined) {
        record.runs++;
        record.last = record.terminated ?? record.last;
      }
      record.terminated = {
        exitCode: exit.exitCode,
        reason: exit.reason ?? (exit.exitCode === 0 ? "Completed" : "Error"),
        ...(exit.message === undefined ? {} : { message: exit.message }),
        startedAt: running?.startedAt ?? now,
        finishedAt: now,
        ...(running === undefined ? {} : { containerID: running.containerID }),
      };
    }
    record.starting = false;
    record.running = undefined;
    record.waiting = undefined;
    this.#options.changed();
    this.#advance();
  }

  #stopContainers(): void {
    const live = this.#records.filter(isLive);
    const sidecars = live.filter((record) => record.role === "sidecar");
    const others = live.filter((record) => record.role !== "sidecar");
    if (others.length > 0) for (const record of others) this.#askToStop(record);
    else {
      const last = sidecars.at(-1);
      if (last !== undefined) this.#askToStop(last);
      else this.#finish();
    }
  }

  #askToStop(record: ContainerRecord): void {
    if (this.#stopAsked.has(record)) return;
    this.#stopAsked.add(record);
    if (record.running !== undefined)
      this.#options.events(this.#pod, "Normal", "Killing", `Stopping container ${record.spec.name}`);
    this.#handles.get(record)?.stop(Math.max(0, this.#killAt - this.#options.clock.monotonic()));
  }

  #finish(): void {
    this.#state = "over";
    this.#options.runtime.podEnded?.(this.#pod);
    this.#options.changed();
  }
}

/** As Go prints durations of whole seconds: 10s, 1m20s, 5m0s. */
function goDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
