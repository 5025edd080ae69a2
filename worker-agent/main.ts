#!/usr/bin/env node
/** `jobferry-agent`: wiring only. Bad input ends with exit code 2 and one sentence on standard error. */
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { Command, CommanderError } from "commander";
import { jobsConfig, readJobsConfig, runJobs } from "./jobs-command.ts";

const BAD_USAGE = 2;

const kebab = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function agentCommand(): Command {
  const program = new Command("jobferry-agent")
    .description("Runs Jobs on a worker cluster")
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  const jobs = program.command("jobs").description("the Job controller alone, without Redis and without a hub");
  for (const [field, type] of Object.entries(jobsConfig.shape)) {
    const flag = field === "unmanaged" ? "--unmanaged" : `--${kebab(field)} <value>`;
    jobs.option(flag, type.description);
  }
  return jobs
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .allowExcessArguments(false)
    .action(async (flags: Record<string, unknown>) => {
      await runJobs(readJobsConfig(flags, process.env), process.env);
    }).parent as Command;
}

/** What commander complains about, as one sentence with the fix. */
function explain(error: unknown): { code: number; message: string } {
  if (error instanceof ConfigError) return { code: error.exitCode, message: error.message };
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { code: 0, message: "" };
    if (error.code === "commander.help") return { code: BAD_USAGE, message: "" };
    const message = error.message.replace(/^error: /, "").replaceAll("\n", " ");
    return { code: BAD_USAGE, message: `${message}; jobferry-agent --help lists what there is` };
  }
  return { code: 1, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

try {
  await agentCommand().parseAsync();
} catch (error) {
  const { code, message } = explain(error);
  if (message !== "") process.stderr.write(`jobferry-agent: ${message}\n`);
  process.exitCode = code;
}
