#!/usr/bin/env node
/** `jobferry-manager`: wiring only. Bad input ends with exit code 2 and one sentence on standard error. */
import { program, runProgram, withFlags } from "@jobferry/shared/runtime/command.ts";
import packageJson from "./package.json" with { type: "json" };
import { managerConfig, readManagerConfig, runManager } from "./service.ts";

const command = program("jobferry-manager", "Dispatches a hub cluster's Jobs to worker clusters", packageJson.version);
await runProgram(
  withFlags(command, managerConfig, (flags) => runManager(readManagerConfig(flags, process.env), process.env)),
);
