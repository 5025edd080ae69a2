import { withFlags } from "@jobferry/shared/runtime/command.ts";
import type { Command } from "commander";
import { upConfig } from "./config.ts";

export function addUpCommand(program: Command): void {
  const command = program
    .command("up")
    .description(
      "run a whole fleet until Ctrl-C: on clusters that exist, or an embedded hub and workers on this machine",
    );
  withFlags(command, {
    schema: upConfig,
    example: "jobferry up --hub hub.kubeconfig --worker east=east.kubeconfig --worker west=west.kubeconfig",
    async run(given) {
      // Loaded here, so that --help and --version answer at once.
      const { runUp } = await import("./command.ts");
      const { stdout } = process;
      process.exitCode = await runUp(given, {
        print: (line) => void stdout.write(`${line}\n`),
        screen: stdout.isTTY ? stdout : undefined,
      });
    },
  });
}
