/**
 * Child processes that cannot outlive us. Each runs in a process group of its own, with a shell beside it that holds the
 * reading end of a pipe whose writing end only we hold. However this process ends (a failed test, Ctrl-C, SIGKILL), the
 * kernel closes the pipe, the shell wakes up and kills the group.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";

// `exec` makes the program the group's leader under the pid we know; `kill 0` reaches the group only.
const leash = '(read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 & exec "$@" 3<&-';

/** Twice: a killed process may be in the middle of writing a file. */
const sweep = 'read -r _; rm -rf -- "$1"; sleep 1; rm -rf -- "$1"';

export interface GuardedProcess {
  readonly name: string;
  readonly pid: number;
  readonly running: boolean;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Asks with SIGTERM and insists with SIGKILL after `graceMs`; 0 does not ask. */
  stop(graceMs?: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  log(): Promise<string>;
}

export function startGuarded(options: {
  name: string;
  command: string;
  args: readonly string[];
  logFile: string;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}): GuardedProcess {
  const log = openSync(options.logFile, "a");
  const child = spawn("/bin/sh", ["-c", leash, "sh", options.command, ...options.args], {
    cwd: options.cwd,
    env: options.env ?? process.env,
    detached: true,
    stdio: ["ignore", log, log, "pipe"],
  });
  closeSync(log);
  const rope = leashOf(child, 3);
  const ended = once(child, "exit").then(() => {
    rope.destroy();
  });
  ended.catch(() => rope.destroy());
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    name: options.name,
    pid: child.pid ?? 0,
    get running() {
      return running();
    },
    ended,
    kill: (signal) => void child.kill(signal),
    async stop(graceMs = 5_000) {
      if (!running()) return;
      child.ref();
      child.kill(graceMs > 0 ? "SIGTERM" : "SIGKILL");
      const insist = setTimeout(() => child.kill("SIGKILL"), graceMs);
      await ended;
      clearTimeout(insist);
    },
    log: () => readFile(options.logFile, "utf8"),
  };
}

/** A folder that goes away with `remove`, or soon after this process has ended without calling it. */
export function guardedDirectory(prefix: string): { path: string; remove(): Promise<void> } {
  const path = mkdtempSync(join(tmpdir(), `jobferry-${prefix}-`));
  const sweeper = spawn("/bin/sh", ["-c", sweep, "sh", path], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  const rope = leashOf(sweeper, 0);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
      rope.destroy();
    },
  };
}

function leashOf(child: ChildProcess, fd: number): Writable {
  const rope = child.stdio[fd] as Writable & { unref?(): void };
  rope.on("error", () => {});
  rope.unref?.();
  child.unref();
  return rope;
}
