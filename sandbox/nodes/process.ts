import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { ProcessGuard } from "./guard.ts";
import { LineSplitter, type RunLog } from "./logs.ts";
import type { ContainerObserver } from "./runtime.ts";

export interface Launch {
  /** What to execute, and what it sees as its own name. */
  file: string;
  program: string;
  args: readonly string[];
  cwd: string;
  env: ReadonlyMap<string, string>;
  log: RunLog;
  /** How long to wait before asking it to end. */
  preStopMs: number;
}

/**
 * Waits for a line on descriptor 3, which comes once the guard knows this group, and then becomes the command. Should we die
 * before that, the read fails and nothing is run: there is no moment at which a command runs unguarded.
 */
const GATE = 'read -r go <&3 && exec 3<&- && exec "$@"; exit 128';

/** Output that a process left behind in a pipe is waited for no longer than this. */
const DRAIN_MS = 1000;

/** A process in a group of its own. Signals go to it alone; what is left of its group when it ends is killed. */
export class ContainerProcess {
  readonly #child: ChildProcess;
  readonly #guard: ProcessGuard;
  readonly #clock: Clock;
  readonly #observer: ContainerObserver;
  readonly #log: RunLog;
  readonly #preStopMs: number;
  readonly #timers = new Set<() => void>();
  #asked = false;
  #ended = false;
  #reported = false;

  constructor(launch: Launch, guard: ProcessGuard, clock: Clock, observer: ContainerObserver) {
    this.#guard = guard;
    this.#clock = clock;
    this.#observer = observer;
    this.#log = launch.log;
    this.#preStopMs = launch.preStopMs;
    this.#child = spawn("/bin/sh", ["-c", GATE, launch.program, launch.file, ...launch.args], {
      cwd: launch.cwd,
      env: Object.fromEntries(launch.env),
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    this.#follow();
  }

  stop(graceMs: number): void {
    if (this.#ended) return;
    if (!this.#asked) {
      this.#asked = true;
      const pause = Math.min(this.#preStopMs, graceMs);
      if (pause > 0) this.#later(pause, () => this.#signal("SIGTERM"));
      else this.#signal("SIGTERM");
    }
    this.#later(graceMs, () => this.#killGroup());
  }

  abandon(): void {
    this.#reported = true;
    this.#cancelTimers();
    this.#killGroup();
  }

  #follow(): void {
    const { pid } = this.#child;
    this.#child.once("error", (error) => this.#onSpawnFailed(error));
    if (pid === undefined) return;
    const gate = this.#child.stdio[3] as Writable;
    gate.on("error", () => {});
    this.#guard.watch(pid, () => gate.end("\n"));
    for (const stream of [this.#child.stdout, this.#child.stderr]) this.#capture(stream);
    this.#child.once("exit", (code, signal) => this.#onExit(pid, code, signal));
    this.#observer.started(`sandbox://process-${pid}`);
  }

  #capture(stream: Readable | null): void {
    const lines = new LineSplitter((line) => this.#log.append(line));
    stream?.setEncoding("utf8");
    stream?.on("data", (chunk: string) => lines.push(chunk));
    stream?.once("close", () => lines.end());
  }

  #onSpawnFailed(error: Error): void {
    if (this.#reported) return;
    this.#reported = true;
    this.#log.end();
    this.#observer.exited({ exitCode: 128, reason: "StartError", message: error.message });
  }

  #onExit(pid: number, code: number | null, signal: NodeJS.Signals | null): void {
    this.#ended = true;
    this.#cancelTimers();
    this.#killGroup();
    this.#guard.forget(pid);
    const exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
    const report = (): void => {
      this.#cancelTimers();
      this.#log.end();
      if (this.#reported) return;
      this.#reported = true;
      this.#observer.exited({ exitCode });
    };
    this.#child.once("close", report);
    this.#later(DRAIN_MS, () => {
      this.#child.stdout?.destroy();
      this.#child.stderr?.destroy();
      report();
    });
  }

  #signal(signal: NodeJS.Signals): void {
    if (!this.#ended) this.#child.kill(signal);
  }

  #killGroup(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // The group is already empty.
    }
  }

  #later(ms: number, act: () => void): void {
    const cancel = this.#clock.after(ms, () => {
      this.#timers.delete(cancel);
      act();
    });
    this.#timers.add(cancel);
  }

  #cancelTimers(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }
}
