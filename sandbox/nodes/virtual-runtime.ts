import type { Container, Pod } from "@jobferry/shared/job/types.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { ContainerHandle, ContainerObserver, ContainerRuntime, ContainerStart } from "./runtime.ts";

/** How one run of a virtual container goes. What is left out: it starts and ends at once with exit code 0. */
export interface VirtualRun {
  /** `Infinity` runs until it is stopped. */
  runMs?: number;
  exitCode?: number;
  reason?: string;
  message?: string;
  /** How long the pod stays Pending before this container starts. */
  startDelayMs?: number;
  /** How long it takes to end after it was asked to; the grace period cuts it short. */
  stopMs?: number;
}

/** Given by a test or simulation; undefined leaves it to the annotations. `attempt` counts this container's runs from 0. */
export type VirtualBehaviour = (pod: Pod, container: Container, attempt: number) => VirtualRun | undefined;

/** `5s`, `1.5m`, `200ms`, `2h`, or `forever`. */
export const RUN_FOR = "sandbox.jobferry.dev/run-for";
/** One code, or one per attempt with the last one repeated: `"1,1,0"`. */
export const EXIT_CODE = "sandbox.jobferry.dev/exit-code";
export const START_DELAY = "sandbox.jobferry.dev/start-delay";
export const STOP_IN = "sandbox.jobferry.dev/stop-in";

const KILLED = 137;
const TERMINATED = 143;

/** Containers that exist only as timers. */
export class VirtualRuntime implements ContainerRuntime {
  readonly #clock: Clock;
  readonly #behaviour: VirtualBehaviour | undefined;
  /** By pod UID and container name. */
  readonly #running = new Map<string, VirtualContainer>();
  #started = 0;

  constructor(clock: Clock, behaviour?: VirtualBehaviour) {
    this.#clock = clock;
    this.#behaviour = behaviour;
  }

  start(start: ContainerStart, observer: ContainerObserver): ContainerHandle {
    const key = `${start.pod.metadata.uid}/${start.container.name}`;
    const container = new VirtualContainer(this.#clock, this.#runOf(start), {
      ...observer,
      exited: (exit) => {
        this.#running.delete(key);
        observer.exited(exit);
      },
    });
    this.#running.set(key, container);
    container.begin(`sandbox://virtual-${++this.#started}`);
    return container;
  }

  /** Ends a running container of the pod now, whatever its behaviour said. False when none runs. */
  finish(podUid: string, exitCode: number, containerName?: string): boolean {
    const prefix = `${podUid}/${containerName ?? ""}`;
    const hits = [...this.#running].filter(([key]) => (containerName ? key === prefix : key.startsWith(prefix)));
    for (const [, container] of hits) container.finish({ exitCode });
    return hits.length > 0;
  }

  close(): Promise<void> {
    for (const container of this.#running.values()) container.abandon();
    this.#running.clear();
    return Promise.resolve();
  }

  #runOf({ pod, container, role, attempt }: ContainerStart): VirtualRun {
    const scripted = this.#behaviour?.(pod, container, attempt);
    if (scripted !== undefined) return scripted;
    if (role === "sidecar") return { runMs: Number.POSITIVE_INFINITY };
    const { annotations } = pod.metadata;
    return role === "init" || annotations === undefined ? {} : annotatedRun(annotations, attempt);
  }
}

function annotatedRun(annotations: Readonly<Record<string, string>>, attempt: number): VirtualRun {
  const codes = (annotations[EXIT_CODE] ?? "0").split(",");
  const exitCode = Number(codes[Math.min(attempt, codes.length - 1)]);
  return {
    runMs: parseDuration(annotations[RUN_FOR]),
    exitCode: Number.isInteger(exitCode) ? exitCode : 1,
    startDelayMs: parseDuration(annotations[START_DELAY]),
    stopMs: parseDuration(annotations[STOP_IN]),
  };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds; what cannot be read counts as none at all. */
export function parseDuration(text: string | undefined): number {
  if (text === undefined) return 0;
  if (text === "forever") return Number.POSITIVE_INFINITY;
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  return amount === undefined ? 0 : Number(amount) * (UNITS[unit] ?? 0);
}

class VirtualContainer implements ContainerHandle {
  readonly #clock: Clock;
  readonly #run: VirtualRun;
  readonly #observer: ContainerObserver;
  #cancel: (() => void) | undefined;
  #running = false;
  #stopping = false;
  #over = false;

  constructor(clock: Clock, run: VirtualRun, observer: ContainerObserver) {
    this.#clock = clock;
    this.#run = run;
    this.#observer = observer;
  }

  begin(id: string): void {
    this.#after(this.#run.startDelayMs ?? 0, () => {
      this.#running = true;
      this.#observer.started(id);
      if (this.#over || this.#stopping) return;
      const { exitCode = 0, reason, message } = this.#run;
      this.#after(this.#run.runMs ?? 0, () =>
        this.finish({
          exitCode,
          ...(reason === undefined ? {} : { reason }),
          ...(message === undefined ? {} : { message }),
        }),
      );
    });
  }

  stop(graceMs: number): void {
    if (this.#over) return;
    this.#stopping = true;
    this.#cancel?.();
    const stopMs = this.#running ? (this.#run.stopMs ?? 0) : 0;
    const inTime = this.#running && stopMs <= graceMs;
    this.#after(Math.min(stopMs, graceMs), () => this.finish({ exitCode: inTime ? TERMINATED : KILLED }));
  }

  finish(exit: { exitCode: number; reason?: string; message?: string }): void {
    if (this.#over) return;
    this.abandon();
    this.#observer.exited(exit);
  }

  abandon(): void {
    this.#over = true;
    this.#cancel?.();
  }

  /** Without a delay it happens at once: a pod that ends immediately then needs no timer and one status write. */
  #after(ms: number, act: () => void): void {
    if (ms === Number.POSITIVE_INFINITY) return;
    if (ms <= 0) act();
    else this.#cancel = this.#clock.after(ms, act);
  }
}
