import { withFlags } from "@jobferry/shared/runtime/command.ts";
import type { Command } from "commander";
import { type QueueVerb, queueFlags } from "./flags.ts";

const COMMANDS: Record<QueueVerb, { description: string; example: string }> = {
  list: {
    description: "show the JobQueues: what waits and runs in each, and why it waits",
    example: "jobferry queue list",
  },
  pause: { description: "place no more Jobs of a queue; those that run go on", example: "jobferry queue pause night" },
  resume: { description: "place Jobs of a queue again", example: "jobferry queue resume night" },
};

export function addQueueCommands(program: Command): void {
  const queue = program.command("queue").description("the JobQueues of a hub");
  for (const verb of Object.keys(COMMANDS) as QueueVerb[]) {
    const { description, example } = COMMANDS[verb];
    const command = queue.command(verb).description(description);
    if (verb !== "list") command.argument("<name>", "name of the JobQueue");
    withFlags(command, {
      schema: queueFlags[verb],
      example,
      async run(given, name) {
        const { runQueue } = await import("./command.ts");
        await runQueue(verb, name, given, (line) => void process.stdout.write(`${line}\n`));
      },
    });
  }
}
