import { mkdirSync, mkdtempSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { commandOf, findExecutable, StartError } from "./command.ts";
import { ConfigError, containerEnv } from "./env.ts";
import type { PodEventSink } from "./events.ts";
import { ProcessGuard } from "./guard.ts";
import { LogStore } from "./logs.ts";
import { ContainerProcess, type Launch } from "./process.ts";
import type { ContainerHandle, ContainerObserver, ContainerRuntime, ContainerStart } from "./runtime.ts";
import { mountVolumes } from "./volumes.ts";

export interface ProcessRuntimeOptions {
  api: KubeApi;
  clock: Clock;
  events: PodEventSink;
  allocatable(node: string): Readonly<Record<string, string>>;
  /** Where pods find programs; the environment of this process otherwise stays out of them. */
  path: string;
}

/** A missing ConfigMap or Secret is looked for again this often. */
const CONFIG_RETRY_MS = 2000;

/**
 * Runs containers' commands as local processes of this user. Images are not pulled. Each pod has a scratch directory, which is its
 * home, its default working directory and is removed with the pod; volumes of ConfigMaps and Secrets are written there.
 */
export class ProcessRuntime implements ContainerRuntime {
  readonly logs: LogStore;
  readonly #options: ProcessRuntimeOptions;
  readonly #guard = new ProcessGuard();
  readonly #live = new Set<PreparedContainer>();
  readonly #announced = new Set<string>();
  #root: string | undefined;
  #closed = false;

  constructor(options: ProcessRuntimeOptions) {
    this.#options = options;
    this.logs = new LogStore(options.clock);
  }

  start(start: ContainerStart, observer: ContainerObserver): ContainerHandle {
    const container = new PreparedContainer({
      clock: this.#options.clock,
      guard: this.#guard,
      prepare: () => this.#launchOf(start),
      observer: {
        ...observer,
        started: (id) => {
          this.#announce(start);
          observer.started(id);
        },
        exited: (exit) => {
          this.#live.delete(container);
          observer.exited(exit);
        },
      },
    });
    if (this.#closed) return { stop() {} };
    this.#live.add(container);
    container.begin();
    return container;
  }

  podEnded(pod: Pod): void {
    this.#announced.delete(pod.metadata.uid ?? "");
    const folder = this.#root === undefined ? undefined : join(this.#root, pod.metadata.uid ?? "");
    if (folder !== undefined) void rm(folder, { recursive: true, force: true }).catch(() => {});
  }

  podRemoved(pod: Pod): void {
    this.logs.remove(pod.metadata.uid ?? "");
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const container of this.#live) container.abandon();
    this.#live.clear();
    await this.#guard.close();
  }

  async #launchOf(start: ContainerStart): Promise<Launch> {
    const { pod, container, podIP, hostIP } = start;
    const { api, path, allocatable } = this.#options;
    const scratch = this.#scratch(pod);
    const asked = await containerEnv(container, {
      api,
      pod,
      podIP,
      hostIP,
      allocatable: allocatable(pod.spec.nodeName ?? ""),
    });
    await mountVolumes(pod, container, scratch, api);
    const env = new Map([
      ["PATH", path],
      ["HOME", scratch],
      ["TMPDIR", scratch],
      ["HOSTNAME", pod.spec.hostname ?? pod.metadata.name ?? ""],
      ...asked,
      [this.#guard.marker.name, this.#guard.marker.value],
    ]);
    const cwd = workingDirectory(container.workingDir, scratch);
    const [program = "", ...args] = commandOf(container, asked);
    const file = findExecutable(program, env.get("PATH") ?? "", cwd);
    const log = this.logs.open(pod.metadata.uid ?? "", container.name);
    return { file, program, args, cwd, env, log, preStopMs: preStopSleepMs(container.lifecycle) };
  }

  #scratch(pod: Pod): string {
    this.#root ??= this.#makeRoot();
    const folder = join(this.#root, pod.metadata.uid ?? "");
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  #makeRoot(): string {
    const root = mkdtempSync(join(tmpdir(), "jobferry-pods-"));
    this.#guard.remove(root);
    return root;
  }

  /** Says once per pod what is different here from a real node. */
  #announce({ pod, container }: ContainerStart): void {
    const uid = pod.metadata.uid ?? "";
    const { events } = this.#options;
    events(pod, "Normal", "Started", `Container ${container.name} started`);
    if (this.#announced.has(uid)) return;
    this.#announced.add(uid);
    const hasMounts = ((container.volumeMounts as unknown[] | undefined)?.length ?? 0) > 0;
    const mounts = hasMounts ? " Volumes of ConfigMaps and Secrets are below $HOME, others are not mounted." : "";
    events(
      pod,
      "Normal",
      "ImageIgnored",
      `Sandbox: image "${container.image ?? ""}" was not pulled, the command runs as a local process.${mounts}`,
    );
  }
}

/** A directory of this machine if it exists, else one of that name below the pod's scratch directory. */
function workingDirectory(asked: string | undefined, scratch: string): string {
  if (asked === undefined || asked === "") return scratch;
  try {
    if (statSync(asked).isDirectory()) return asked;
  } catch {
    // Not there: made below, where it can do no harm.
  }
  const folder = join(scratch, asked);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Of the lifecycle hooks only `preStop.sleep` is honoured. */
function preStopSleepMs(lifecycle: unknown): number {
  const hooks = lifecycle as { preStop?: { sleep?: { seconds?: number } } } | undefined;
  return (hooks?.preStop?.sleep?.seconds ?? 0) * 1000;
}

interface PreparedOptions {
  clock: Clock;
  guard: ProcessGuard;
  prepare(): Promise<Launch>;
  observer: ContainerObserver;
}

/** One run of a container, from looking up its environment to the end of its process. */
class PreparedContainer implements ContainerHandle {
  readonly #options: PreparedOptions;
  #process: ContainerProcess | undefined;
  #cancelRetry: (() => void) | undefined;
  #stopped = false;

  constructor(options: PreparedOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#prepare().catch((error: unknown) => this.#onPrepareFailed(error));
  }

  stop(graceMs: number): void {
    if (this.#process !== undefined) this.#process.stop(graceMs);
    else if (!this.#stopped) {
      this.abandon();
      this.#options.observer.exited({ exitCode: 137 });
    }
  }

  /** The guard ends the process; nobody waits for how. */
  abandon(): void {
    this.#stopped = true;
    this.#cancelRetry?.();
    this.#process?.abandon();
  }

  async #prepare(): Promise<void> {
    const launch = await this.#options.prepare();
    const { guard, clock, observer } = this.#options;
    if (this.#stopped) launch.log.end();
    else this.#process = new ContainerProcess(launch, guard, clock, observer);
  }

  #onPrepareFailed(error: unknown): void {
    if (this.#stopped) return;
    const { observer, clock } = this.#options;
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof ConfigError) {
      observer.waiting("CreateContainerConfigError", message);
      this.#cancelRetry = clock.after(CONFIG_RETRY_MS, () => this.begin());
      return;
    }
    const reason = error instanceof StartError ? "StartError" : "ContainerCannotRun";
    this.#stopped = true;
    observer.exited({ exitCode: 128, reason, message: `unable to start container process: ${message}` });
  }
}
