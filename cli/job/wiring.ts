import { withFlags } from "@jobferry/shared/runtime/command.ts";
import type { Command } from "commander";
import { explainConfig } from "./flags.ts";

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
}
