import { withFlags } from "@jobferry/shared/runtime/command.ts";
import type { Command } from "commander";
import { generateConfig, simulateConfig } from "./flags.ts";

const WRONG_PLACEMENT = 3;

const out = {
  print: (text: string): void => void process.stdout.write(`${text}\n`),
  progress: (text: string): void => void process.stderr.write(text),
};

export function addSimulateCommands(program: Command): void {
  const simulate = program
    .command("simulate")
    .description("replay a trace of Jobs on a fleet that does not exist, with the manager's own placement")
    .argument("<trace>", "CSV file with the Jobs (docs/simulate.md)");
  const generate = simulate
    .command("generate")
    .description("print a trace or a fleet with the figures of a large GPU fleet, to try it with")
    .argument("<trace|fleet>", "which of the two");
  withFlags(simulate, {
    schema: simulateConfig,
    example: "jobferry simulate trace.csv --fleet fleet.yaml --svg picture.svg",
    async run(given, trace = "") {
      const { runSimulate } = await import("./command.ts");
      if (!runSimulate(trace, given, out)) process.exitCode = WRONG_PLACEMENT;
    },
  });
  withFlags(generate, {
    schema: generateConfig,
    example: "jobferry simulate generate fleet > fleet.yaml",
    async run(given, what = "") {
      const { runGenerate } = await import("./command.ts");
      runGenerate(what, given, out);
    },
  });
}
