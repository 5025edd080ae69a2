import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export type Report = (line: string) => void;

/** Something a person has to install or free; the message is one sentence with the remedy. */
export class MissingToolError extends Error {
  override name = "MissingToolError";
}

const needed = { major: 1, minor: 26 };
const firstWithToolchains = 21;
const progressEveryMs = 15_000;

const remedy =
  `install Go ${needed.major}.${needed.minor} or later and put it on PATH, ` +
  "or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl";

export interface Go {
  /** Runs `go ARGS` in `directory` and resolves to its standard output; says every 15 s how far it is. */
  run(directory: string, args: readonly string[], what: string): Promise<string>;
}

/** The Go on PATH; an older one (from 1.21) is told to fetch the toolchain it needs. */
export async function findGo(report: Report): Promise<Go> {
  const version = await goVersion();
  const env: NodeJS.ProcessEnv = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
  if (version.major === needed.major && version.minor < needed.minor) {
    if (version.minor < firstWithToolchains)
      throw new MissingToolError(`Go ${version.text} is too old to build the control plane: ${remedy}.`);
    env.GOTOOLCHAIN = `go${needed.major}.${needed.minor}.0+auto`;
    report(`Go ${version.text} is older than ${needed.major}.${needed.minor}: it will fetch that toolchain first`);
  }
  return { run: (directory, args, what) => runGo(directory, args, what, env, report) };
}

async function goVersion(): Promise<{ major: number; minor: number; text: string }> {
  const output = await collect(
    spawn("go", ["env", "GOVERSION"], { cwd: "/", stdio: ["ignore", "pipe", "ignore"] }),
  ).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT")
      throw new MissingToolError(`Go is missing, which the control plane is built with: ${remedy}.`);
    throw error;
  });
  const match = /go(\d+)\.(\d+)\S*/.exec(output);
  if (match === null) throw new MissingToolError(`"go env GOVERSION" answers "${output.trim()}": ${remedy}.`);
  return { major: Number(match[1]), minor: Number(match[2]), text: match[0].slice(2) };
}

function collect(child: ReturnType<typeof spawn>): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.once("error", reject);
    child.once("close", () => resolve(output));
  });
}

function runGo(directory: string, args: readonly string[], what: string, env: NodeJS.ProcessEnv, report: Report) {
  const child = spawn("go", args, { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] });
  const progress = new Progress(what, report);
  createInterface({ input: child.stderr }).on("line", (line) => progress.saw(line));
  return new Promise<string>((resolve, reject) => {
    const output = collect(child);
    child.once("error", reject);
    child.once("close", (code, signal) => {
      progress.end();
      if (code === 0) output.then(resolve, reject);
      else reject(new Error(`go ${args[0]} failed (${signal ?? `exit code ${code}`}):\n${progress.tail.join("\n")}`));
    });
  });
}

/** Go names each package it compiles (-v) and each module it downloads, one per line. */
class Progress {
  readonly tail: string[] = [];
  readonly #what: string;
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout;
  #packages = 0;
  #modules = 0;

  constructor(what: string, report: Report) {
    this.#what = what;
    this.#timer = setInterval(() => report(this.#line()), progressEveryMs);
  }

  saw(line: string): void {
    if (line.startsWith("go: downloading ")) this.#modules++;
    else if (/^[\w.~-]+(\/\S+)*$/.test(line)) this.#packages++;
    this.tail.push(line);
    if (this.tail.length > 20) this.tail.shift();
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #line(): string {
    const seconds = Math.round((performance.now() - this.#started) / 1000);
    const done = [
      ...(this.#modules > 0 ? [`${this.#modules} modules downloaded`] : []),
      ...(this.#packages > 0 ? [`${this.#packages} packages compiled`] : []),
      `${Math.floor(seconds / 60)} min ${seconds % 60} s`,
    ];
    return `${this.#what}: ${done.join(", ")}`;
  }
}
