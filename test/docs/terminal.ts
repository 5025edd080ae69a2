/**
 * A reader's terminal. What a block leaves behind (variables, functions, umask, processes in the background) is there for the
 * next one, as it would be in one shell; yet each block runs in a bash of its own, so that its exit code and output are its own.
 */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type GuardedProcess, startGuarded } from "../harness/guarded-process.ts";

/** For one block; kubectl's own timeouts, which the pages set, end before. */
const LIMIT_MS = 240_000;
const POLL_MS = 20;

export interface Surroundings {
  /** Where the reader stands; `state` is a folder beside it. */
  readonly cwd: string;
  readonly state: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export class Terminal {
  readonly #at: Surroundings;
  readonly #processes: GuardedProcess[] = [];

  constructor(at: Surroundings) {
    this.#at = at;
  }

  /** Runs a block to its end, whatever it leaves running in the background; its output, or an error with it. */
  async run(name: string, text: string): Promise<string> {
    const { process, done } = await this.#start(name, text);
    await this.#until(`${name} has ended`, process, () => Promise.resolve(existsSync(done) || !process.running));
    if (existsSync(done)) return process.log();
    throw new Error(`${name} failed:\n${text}\n--- it said:\n${await process.log()}`);
  }

  /** Runs a block that does not end by itself until it has said `enough`, then presses Ctrl-C; its output, and whether it ended well. */
  async interrupt(name: string, text: string, enough: RegExp): Promise<{ output: string; ended: boolean }> {
    const { process, done } = await this.#start(name, text);
    await this.#until(`${name} says ${enough}`, process, async () => enough.test(await process.log()));
    this.#signal(process, "SIGINT");
    await this.#until(`${name} ends after Ctrl-C`, process, () => Promise.resolve(!process.running));
    return { output: await process.log(), ended: existsSync(done) };
  }

  /** Resolves when nothing that any block started is running. */
  async idle(): Promise<void> {
    for (const process of this.#processes)
      await this.#until(`everything that ${process.name} started has ended`, process, () =>
        Promise.resolve(!process.running),
      );
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop(0)));
  }

  async #start(name: string, text: string): Promise<{ process: GuardedProcess; done: string }> {
    const number = this.#processes.length;
    const path = (suffix: string): string => join(this.#at.state, `${number}.${suffix}`);
    const state = join(this.#at.state, "shell");
    const script = [
      "set -euo pipefail",
      // Else a Ctrl-C to the group would end this shell before it can tell how the block took it.
      "trap : INT",
      `[ ! -e ${state} ] || . ${state}`,
      "set -a",
      text,
      "set +a",
      // Written aside first: only a whole one counts.
      `{ umask -p; export -p; declare -f; } > ${path("shell")}`,
      `mv ${path("shell")} ${state}`,
      `touch ${path("done")}`,
      "wait",
    ];
    await writeFile(path("sh"), script.join("\n"));
    const process = startGuarded({
      name,
      command: "bash",
      args: [path("sh")],
      cwd: this.#at.cwd,
      env: this.#at.env,
      logFile: path("log"),
    });
    this.#processes.push(process);
    return { process, done: path("done") };
  }

  /** To the whole group, as a terminal does. */
  #signal(guarded: GuardedProcess, signal: NodeJS.Signals): void {
    process.kill(-guarded.pid, signal);
  }

  async #until(what: string, guarded: GuardedProcess, holds: () => Promise<boolean>): Promise<void> {
    for (const deadline = performance.now() + LIMIT_MS; performance.now() < deadline; await delay(POLL_MS)) {
      if (await holds()) return;
      if (!guarded.running && !(await holds())) break;
    }
    const why = guarded.running ? `not within ${LIMIT_MS / 1000} s` : "it ended";
    throw new Error(`${what}: ${why}\n--- it said:\n${await guarded.log()}`);
  }
}
