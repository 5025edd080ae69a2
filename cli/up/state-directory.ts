import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";

/** `--dir`, else where the XDG rules put a program's state. */
export function stateDirectory(dir: string | undefined, env: NodeJS.ProcessEnv): string {
  if (dir !== undefined) return resolve(dir);
  const state = env.XDG_STATE_HOME;
  return join(state === undefined || state === "" ? join(homedir(), ".local", "state") : state, "jobferry");
}

/** The folder in which a running fleet keeps its kubeconfigs; one fleet at a time. */
export class StateDirectory {
  readonly path: string;
  readonly #files: string[] = [];

  private constructor(path: string) {
    this.path = path;
  }

  static claim(path: string): StateDirectory {
    const directory = new StateDirectory(path);
    try {
      makeDirectory(path);
      const owner = ownerOf(directory.#lock);
      if (owner !== undefined)
        throw new ConfigError(
          `--dir: ${path} belongs to a fleet that is running (process ${owner}): stop it or name another directory`,
        );
      writeFileSync(directory.#lock, `${process.pid}\n`, { mode: 0o600 });
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new ConfigError(`--dir: ${path} cannot be used (${why}): name a directory you may write to`);
    }
    return directory;
  }

  /** Readable by its owner only: the file holds a token. */
  write(name: string, text: string): string {
    const file = join(this.path, name);
    rmSync(file, { force: true });
    writeFileSync(file, text, { mode: 0o600 });
    this.#files.push(file);
    return file;
  }

  /** Leaves the directory as it was found. */
  release(): void {
    for (const file of [...this.#files, this.#lock]) rmSync(file, { force: true });
  }

  get #lock(): string {
    return join(this.path, "up.pid");
  }
}

/** Not `recursive`: where a directory cannot hold others (/proc), Node then tries forever. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && statSync(path).isDirectory()) return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    makeDirectory(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
}

/** The process that holds the lock, unless it has died without a word. */
function ownerOf(lock: string): number | undefined {
  let pid: number;
  try {
    pid = Number(readFileSync(lock, "utf8"));
  } catch {
    return undefined;
  }
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? pid : undefined;
  }
}
