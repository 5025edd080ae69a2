import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface CommandResult {
  stdout: string;
  stderr: string;
  code: number;
}

/** Runs a command to its end (at most `timeoutMs`) and hands back what it said; a failing command is a result, not an error. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: string; timeoutMs?: number } = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      timeout: options.timeoutMs ?? 120_000,
      killSignal: "SIGKILL",
      stdio: ["pipe", "pipe", "pipe"],
    });
    const result = { stdout: "", stderr: "", code: -1 };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      result.stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      result.stderr += text;
    });
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...result, code: code ?? -1 }));
  });
}

/** What a command that has to succeed said. */
export async function outputOf(run: Promise<CommandResult>): Promise<string> {
  const { code, stdout, stderr } = await run;
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  return stdout;
}

export interface Following {
  env: NodeJS.ProcessEnv;
  timeoutMs: number;
  /** The last line that matters. */
  until: RegExp;
  onLine?: (line: string) => void;
}

/** Lines of a command that does not end by itself, up to the first that matches `until`; then it is killed. */
export async function followCommand(command: string, args: readonly string[], options: Following): Promise<string[]> {
  const { env, timeoutMs, until, onLine } = options;
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "inherit"], timeout: timeoutMs });
  const lines: string[] = [];
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      onLine?.(line);
      if (until.test(line)) return lines;
    }
  } finally {
    child.kill("SIGKILL");
  }
  throw new Error(`${command} ${args.join(" ")} ended without ${until}:\n${lines.join("\n")}`);
}
