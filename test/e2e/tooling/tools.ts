/**
 * The tools that know nothing of Jobferry, each at a pinned version: downloaded or built once, kept under XDG_CACHE_HOME. A tool
 * whose language is not on this machine is missing, which is not a fault: its tests are skipped, and say what they lack.
 */
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { cached, hashOf } from "../../control-plane/cache.ts";
import { findGo, MissingToolError, type Report } from "../../control-plane/go.ts";
import { runCommand } from "../../harness/run-command.ts";

const here = import.meta.dirname;
const DOWNLOAD_MS = 300_000;
const copyDependencies = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

/** How to start a program with a tool. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface Tool extends Command {
  /** What this machine lacks for it, if anything. */
  readonly missing: string | undefined;
}

/** The packages that a folder here names, as the interpreter that finds them. */
const python =
  (name: string, folder: string, ...flags: string[]) =>
  async (report: Report): Promise<Command> => {
    const requirements = join(here, folder, "requirements.txt");
    const version = await output("Python 3 (python3)", "python3", "--version");
    await output("pip for Python 3 (python3-pip)", "python3", "-m", "pip", "--version");
    const directory = await cached({
      kind: `tooling-${folder}`,
      version: await hashOf([requirements], version),
      waiting: (pid) => report(`${name}: waiting for process ${pid}, which is installing it`),
      async fill(draft) {
        report(`${name}: installing it, once`);
        const exactly = [...flags, "--no-deps", "--only-binary", ":all:", "--disable-pip-version-check"];
        const install = ["-m", "pip", "install", "--quiet", ...exactly, "--target", draft, "-r", requirements];
        await output(`the packages of test/e2e/tooling/${folder}`, "python3", ...install);
      },
    });
    return { command: "python3", args: [], env: { PYTHONPATH: directory, PYTHONDONTWRITEBYTECODE: "1" } };
  };

/** The Java client fabric8, as the virtual machine with our small program. */
async function fabric8(report: Report): Promise<Command> {
  const files = ["pom.xml", "AwaitJob.java"].map((name) => join(here, "fabric8", name));
  const [pom = "", program = ""] = files;
  const version = await output("a JDK (javac)", "javac", "-version");
  await output("Maven (mvn)", "mvn", "--version");
  const directory = await cached({
    kind: "tooling-fabric8",
    version: await hashOf(files, version),
    waiting: (pid) => report(`fabric8: waiting for process ${pid}, which is installing it`),
    async fill(draft) {
      report("fabric8: downloading it, once");
      const maven = ["--batch-mode", "--quiet", "--strict-checksums", "--file", pom];
      const jars = join(draft, "jars");
      await output("the libraries of fabric8/pom.xml", "mvn", ...maven, copyDependencies, `-DoutputDirectory=${jars}`);
      if ((await readdir(jars)).length === 0) throw new MissingToolError("fabric8: Maven copied nothing");
      await mkdir(join(draft, "classes"));
      const compile = ["-d", join(draft, "classes"), "-cp", join(jars, "*"), program];
      const { code, stderr } = await runCommand("javac", compile, { timeoutMs: DOWNLOAD_MS });
      if (code !== 0) throw new Error(`AwaitJob.java does not compile:\n${stderr}`);
    },
  });
  const cheap = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]; // it runs for seconds
  const classes = ["-cp", [join(directory, "classes"), join(directory, "jars", "*")].join(":")];
  return { command: "java", args: [...cheap, ...classes, "AwaitJob"], env: {} };
}

/** Helm, from source. */
async function helm(report: Report): Promise<Command> {
  const module = join(here, "helm");
  const directory = await cached({
    kind: "tooling-helm",
    version: await hashOf([join(module, "go.mod"), join(module, "go.sum")]),
    waiting: (pid) => report(`Helm: waiting for process ${pid}, which is building it`),
    async fill(draft) {
      const go = await findGo(report);
      report("Helm: building it from source, once (about 2 minutes on 2 cores)");
      const build = ["build", "-v", "-trimpath", "-ldflags", "-s -w", "-o", join(draft, "helm")];
      await go.run(module, [...build, "helm.sh/helm/v4/cmd/helm"], "Helm");
    },
  });
  return { command: join(directory, "helm"), args: [], env: {} };
}

/** Standard output; a program that is not there or does not do it is what is missing. */
async function output(component: string, command: string, ...args: string[]): Promise<string> {
  const result = await runCommand(command, args, { timeoutMs: DOWNLOAD_MS }).catch((error: Error) => ({
    code: -1,
    stdout: "",
    stderr: error.message,
  }));
  if (result.code === 0) return result.stdout.trim();
  const [why = ""] = (result.stderr + result.stdout).trim().split("\n").slice(-1);
  throw new MissingToolError(`${component} is missing: ${why}`);
}

const setUps = {
  "the Python client": python("Python client", "python", "--require-hashes"),
  "the Java client fabric8": fabric8,
  Helm: helm,
  Airflow: python("Airflow", "airflow"),
  Dagster: python("Dagster", "dagster"),
  Prefect: python("Prefect", "prefect"),
};
export type ToolName = keyof typeof setUps;

export async function findTool(name: ToolName, report: Report = console.error): Promise<Tool> {
  try {
    return { missing: undefined, ...(await setUps[name](report)) };
  } catch (error) {
    if (!(error instanceof MissingToolError)) throw error;
    const missing = error.message.replaceAll("\n", " ");
    report(`The tests with ${name} are skipped: ${missing}`);
    return { missing, command: "", args: [], env: {} };
  }
}

/** Each takes minutes to install: what needs them runs at night, and has them installed then. */
const nightly: readonly ToolName[] = ["Dagster", "Prefect"];

/** Downloads and builds whatever is not there yet. */
export async function prepareTools(report: Report): Promise<void> {
  const names = Object.keys(setUps) as ToolName[];
  for (const name of names.filter((each) => !nightly.includes(each))) await findTool(name, report);
}
