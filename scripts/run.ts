import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export const root = new URL("..", import.meta.url).pathname;

/** Runs a program of this project in its root and hands over its output line by line; resolves to its exit code. */
export async function run(
  command: string,
  args: readonly string[],
  onLine: (line: string) => void,
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", onLine);
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 1;
}

export const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
