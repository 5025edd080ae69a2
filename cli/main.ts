#!/usr/bin/env node
/** `jobferry`: wiring only. Bad usage ends with exit code 2 and one sentence on standard error. */
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { Command, CommanderError } from "commander";
import { addClusterCommands } from "./cluster/wiring.ts";
import packageJson from "./package.json" with { type: "json" };

const BAD_USAGE = 2;

function command(): Command {
  const quiet = { writeErr: (): void => {} };
  const program = new Command("jobferry")
    .description("Runs a hub cluster's Kubernetes Jobs on other clusters")
    .version(packageJson.version)
    .exitOverride()
    .configureOutput(quiet);
  program
    .command("up")
    .description(
      "run a whole fleet until Ctrl-C: on clusters that exist, or an embedded hub and workers on this machine",
    )
    .option("--hub <kubeconfig>", "a hub that exists, as KUBECONFIG or KUBECONFIG#CONTEXT; needs --worker")
    .option(
      "--worker <name=kubeconfig>",
      "a worker cluster that exists, as NAME=KUBECONFIG or NAME=KUBECONFIG#CONTEXT; once for each",
      (worker: string, others: string[]) => [...others, worker],
      [],
    )
    .option("--dry-run", "with --hub: check everything, say what would be applied to the hub, and change nothing")
    .option("--workers <n>", "embedded worker clusters beside the hub (default 2)")
    .option("--port-base <port>", "port of the hub's API, the workers take the ones after it (default: free ports)")
    .option(
      "--redis <url>",
      "Redis for the fleet's messages (default REDIS_URL, else a private redis-server, else memory)",
    )
    .option("--dir <directory>", "where kubeconfigs are written (default $XDG_STATE_HOME/jobferry)")
    .option("--demo", "run examples on the fleet and show them as they change")
    .option("--exit", "with --demo: stop after the examples, with exit code 0 only if all ended as expected")
    .option("--exit-after <time>", "stop by itself after this time, such as 30s or 5m")
    .option("--output <format>", "text, or json for programs: one object per line (default text)")
    .option("--log-level <level>", "debug, info, warn, error or silent (default warn)")
    .addHelpText("after", "\nEvery option can also be set as JOBFERRY_<OPTION>, for example JOBFERRY_WORKERS=3.")
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput(quiet)
    .action(async (flags: Record<string, unknown>) => {
      // Loaded here, so that --help and --version answer at once.
      const { runUp } = await import("./up/command.ts");
      const { stdout, env } = process;
      process.exitCode = await runUp(flags, {
        env,
        print: (line) => void stdout.write(`${line}\n`),
        screen: stdout.isTTY ? stdout : undefined,
      });
    });
  addClusterCommands(program);
  return program;
}

/** What went wrong, as one sentence with the fix where the user can fix it. */
function explain(error: unknown, subcommand: string): { code: number; message: string } {
  const see = `see jobferry ${subcommand}--help`;
  if (error instanceof ConfigError) return { code: error.exitCode, message: error.message };
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { code: 0, message: "" };
    // Without a command commander shows its help and calls that an error.
    if (error.code === "commander.help") return { code: BAD_USAGE, message: `name a command: ${see}` };
    return { code: BAD_USAGE, message: `${firstLine(error.message)}: ${see}` };
  }
  return { code: 1, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

const firstLine = (message: string): string =>
  message
    .replace(/^error: /, "")
    .replace(/\n.*$/s, "")
    .replace(/\.$/, "");

const program = command();
try {
  await program.parseAsync();
} catch (error) {
  const known = program.commands.some((each) => each.name() === process.argv[2]);
  const { code, message } = explain(error, known ? `${process.argv[2]} ` : "");
  if (message !== "") process.stderr.write(`jobferry: ${message}\n`);
  process.exitCode = code;
}
