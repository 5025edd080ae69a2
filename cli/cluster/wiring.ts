import { withFlags } from "@jobferry/shared/runtime/command.ts";
import type { Command } from "commander";
import { type ClusterVerb, clusterFlags } from "./flags.ts";

const COMMANDS: Record<ClusterVerb, { description: string; example: string }> = {
  add: {
    description: "enrol a worker cluster: its object on the hub, and the Secret for its agent",
    example: "jobferry cluster add east --redis-url rediss://redis.example.com:6379 --file east.yaml",
  },
  list: { description: "show the worker clusters", example: "jobferry cluster list --output json" },
  cordon: { description: "place nothing new on a cluster", example: "jobferry cluster cordon east" },
  uncordon: { description: "place Jobs on a cluster again", example: "jobferry cluster uncordon east" },
  drain: {
    description: "hand the Jobs of a cluster over to others",
    example: "jobferry cluster drain east --context hub",
  },
  forget: {
    description: "remove a cluster that does not come back, and place its Jobs anew",
    example: "jobferry cluster forget east",
  },
};

export function addClusterCommands(program: Command): void {
  const cluster = program.command("cluster").description("the worker clusters of a hub");
  for (const verb of Object.keys(COMMANDS) as ClusterVerb[]) {
    const { description, example } = COMMANDS[verb];
    const command = cluster.command(verb).description(description);
    if (verb !== "list") command.argument("<name>", "name of the worker cluster");
    withFlags(command, {
      schema: clusterFlags[verb],
      example,
      async run(given, name) {
        const { runCluster } = await import("./command.ts");
        await runCluster(verb, name, given, (line) => void process.stdout.write(`${line}\n`));
      },
    });
  }
}
