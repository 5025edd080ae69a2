import { withFlags } from "@jobferry/shared/runtime/command.ts";
import type { Command } from "commander";
import { explainConfig, logsConfig } from "./flags.ts";

export function addJobCommands(program: Command): void {
  const command = program
    .command("explain")
    .description("say where a Job is, why it waits, and what would have to change")
    .argument("<job>", "name of the Job on the hub");
  withFlags(command, {
    schema: explainConfig,
    example: "jobferry explain nightly-report --namespace team-a",
    async run(given, name) {
      const { runExplain } = await import("./command.ts");
      await runExplain(name ?? "", given, (line) => void process.stdout.write(`${line}\n`));
    },
  });
  const retry = program
    .command("retry")
    .description("ask the clusters that refused a Job again at once, without the pause between tries")
    .argument("<job>", "name of the Job on the hub");
  withFlags(retry, {
    schema: explainConfig,
    example: "jobferry retry nightly-report --namespace team-a",
    async run(given, name) {
      const { runRetry } = await import("./retry.ts");
      await runRetry(name ?? "", given, (line) => void process.stdout.write(`${line}\n`));
    },
  });
  const logs = program
    .command("logs")
    .description("read what the pods of a Job have written, where the hub shows them")
    .argument("<job>", "name of the Job on the hub");
  withFlags(logs, {
    schema: logsConfig,
    example: "jobferry logs nightly-report --all --follow",
    async run(given, name) {
      const { runLogs } = await import("./logs.ts");
      await runLogs(name ?? "", given, (text) => void process.stdout.write(text));
    },
  });
}
