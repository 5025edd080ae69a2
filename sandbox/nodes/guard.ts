import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";

/**
 * Reads `+ PGID` and `- PGID` lines, and `d FOLDER` once. When the pipe closes, because we closed it or because we died, it
 * kills every group still listed, on Linux also every process that carries the marker in its environment (one that left
 * its group), and removes the folder.
 */
const GUARD_SCRIPT = `
trap '' HUP INT TERM
groups=' '
folder=
while read -r op arg; do
  case $op in
    +) groups="$groups$arg " ;;
    -) groups="\${groups%% $arg *} \${groups#* $arg }" ;;
    d) folder=$arg ;;
  esac
done
for pgid in $groups; do kill -s KILL -- "-$pgid" 2>/dev/null; done
for file in $(grep -alsF "$1" /proc/[0-9]*/environ); do
  pid=\${file#/proc/}; pid=\${pid%/environ}
  [ "$pid" = $$ ] || kill -KILL "$pid" 2>/dev/null
done
[ -z "$folder" ] || rm -rf -- "$folder"
exit 0
`;

/** Makes sure that no process of a cluster outlives it, even when this process is killed. One small shell per cluster. */
export class ProcessGuard {
  /** Every process of the cluster has this in its environment. */
  readonly marker: { name: string; value: string } = { name: "JOBFERRY_SANDBOX", value: randomUUID() };
  #guard: ChildProcess | undefined;
  readonly #groups = new Set<number>();
  #folder: string | undefined;

  /** A folder that goes away with the processes. */
  remove(folder: string): void {
    this.#folder = folder;
    this.#tell(`d ${folder}\n`);
  }

  /** Calls back when the group is sure to be killed if we die from now on. */
  watch(pgid: number, ready: () => void): void {
    this.#groups.add(pgid);
    this.#tell(`+ ${pgid}\n`, ready);
  }

  forget(pgid: number): void {
    if (this.#groups.delete(pgid)) this.#tell(`- ${pgid}\n`);
  }

  /** Kills what is left; resolves when that is done. */
  async close(): Promise<void> {
    const guard = this.#guard;
    if (guard === undefined) return;
    this.#guard = undefined;
    guard.ref();
    const ended = new Promise<void>((resolve) => guard.once("exit", () => resolve()));
    guard.stdin?.end();
    if (guard.exitCode === null && guard.signalCode === null) await ended;
  }

  #tell(line: string, written?: () => void): void {
    this.#guard ??= this.#start();
    this.#guard.stdin?.write(line, () => written?.());
  }

  #start(): ChildProcess {
    const guard = spawn("/bin/sh", ["-c", GUARD_SCRIPT, "jobferry-guard", `${this.marker.name}=${this.marker.value}`], {
      detached: true,
      cwd: "/",
      stdio: ["pipe", "ignore", "ignore"],
    });
    guard.unref();
    const { stdin } = guard;
    // A guard someone killed must not take us with it; the next container gets a new one that is told everything.
    guard.on("error", () => {});
    stdin?.on("error", () => {});
    if (stdin !== null && "unref" in stdin && typeof stdin.unref === "function") stdin.unref();
    guard.once("exit", () => {
      if (this.#guard === guard) this.#guard = undefined;
    });
    if (this.#folder !== undefined) stdin?.write(`d ${this.#folder}\n`);
    for (const pgid of this.#groups) stdin?.write(`+ ${pgid}\n`);
    return guard;
  }
}
