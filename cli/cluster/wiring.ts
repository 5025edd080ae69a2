import { withFlags } from "@jobferry/shared/runtime/command.ts";
import type { Command } from "commander";
import { type ClusterVerb, clusterFlags } from "./flags.ts";

const DESCRIPTIONS: Record<ClusterVerb, string> = {
  add: "enrol a worker cluster: its object on the hub, and the Secret for its agent",
  list: "show the worker clusters",
  cordon: "place nothing new on a cluster",
  uncordon: "place Jobs on a cluster again",
  drain: "hand the Jobs of a cluster over to others",
  forget: "remove a cluster that does not come back, and place its Jobs anew",
};

export function addClusterCommands(program: Command): void {
  const cluster = program.command("cluster").description("the worker clusters of a hub");
  for (const verb of Object.keys(DESCRIPTIONS) as ClusterVerb[]) {
    const command = cluster.command(verb).description(DESCRIPTIONS[verb]);
    if (verb !== "list") command.argument("<name>");
    withFlags(command, clusterFlags[verb], async (flags, name) => {
      const { runCluster } = await import("./command.ts");
      await runCluster(verb, name, flags, {
        env: process.env,
        print: (line) => void process.stdout.write(`${line}\n`),
      });
    });
  }
}
