/** Everything a machine can say about the code without running it. */
import { run, seconds } from "./run.ts";

const checks: Record<string, string[]> = {
  "format and lint": ["biome", "check", "--error-on-warnings"],
  promises: ["eslint", "--max-warnings=0", "."],
  types: ["tsc", "-p", "."],
  "dependency arrows": [
    "depcruise",
    "--config",
    ".dependency-cruiser.mjs",
    "shared",
    "manager",
    "worker-agent",
    "cli",
    "sandbox",
    "test",
    "bench",
  ],
  "unused code": ["knip"],
  "code that only tests use": ["knip", "--production", "--config", "knip.production.jsonc"],
};

const results = await Promise.all(
  Object.entries(checks).map(async ([name, [command = "", ...args]]) => {
    const started = performance.now();
    const output: string[] = [];
    const code = await run(command, args, (line) => output.push(line));
    console.log(`${code === 0 ? "ok  " : "FAIL"} ${name} (${seconds(started)})`);
    if (code !== 0) console.log(output.map((line) => `     ${line}`).join("\n"));
    return code === 0;
  }),
);
process.exitCode = results.every(Boolean) ? 0 : 1;
