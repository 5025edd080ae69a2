#!/usr/bin/env node
/** `jobferry`: wiring only. Bad usage ends with exit code 2 and one sentence on standard error. */
import { program, runProgram } from "@jobferry/shared/runtime/command.ts";
import { addClusterCommands } from "./cluster/wiring.ts";
import { addJobCommands } from "./job/wiring.ts";
import packageJson from "./package.json" with { type: "json" };
import { addQueueCommands } from "./queue/wiring.ts";
import { addSimulateCommands } from "./simulate/wiring.ts";
import { addUpCommand } from "./up/wiring.ts";

const jobferry = program("jobferry", "Runs a hub cluster's Kubernetes Jobs on other clusters", packageJson.version);
addUpCommand(jobferry);
addClusterCommands(jobferry);
addQueueCommands(jobferry);
addJobCommands(jobferry);
addSimulateCommands(jobferry);
await runProgram(jobferry);
