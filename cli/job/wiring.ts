import { type GivenConfig, withFlags } from "@jobferry/shared/runtime/command.ts";
import type { Command } from "commander";
import type { z } from "zod";
import { explainConfig, logsConfig } from "./flags.ts";

interface JobCommand {
  readonly description: string;
  readonly schema: z.ZodObject;
  readonly example: string;
  /** What it needs is loaded only when it runs, so that `--help` answers at once. */
  run(name: string, given: GivenConfig): Promise<void>;
}

const write = (text: string): void => void process.stdout.write(text);
const print = (line: string): void => write(`${line}\n`);

const COMMANDS: Record<string, JobCommand> = {
  explain: {
    description: "say where a Job is, why it waits, and what would have to change",
    schema: explainConfig,
    example: "jobferry explain nightly-report --namespace team-a",
    run: async (name, given) => (await import("./command.ts")).runExplain(name, given, print),
  },
  retry: {
    description: "ask the clusters that refused a Job again at once, without the pause between tries",
    schema: explainConfig,
    example: "jobferry retry nightly-report --namespace team-a",
    run: async (name, given) => (await import("./retry.ts")).runRetry(name, given, print),
  },
  logs: {
    description: "read what the pods of a Job have written, as the hub shows them or through the manager",
    schema: logsConfig,
    example: "jobferry logs nightly-report --all --follow",
    run: async (name, given) => (await import("./logs.ts")).runLogs(name, given, write),
  },
};

export function addJobCommands(program: Command): void {
  for (const [verb, { description, schema, example, run }] of Object.entries(COMMANDS)) {
    const command = program.command(verb).description(description).argument("<job>", "name of the Job on the hub");
    withFlags(command, { schema, example, run: (given, name = "") => run(name, given) });
  }
}
