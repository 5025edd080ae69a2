#!/usr/bin/env node
/** `jobferry-manager`: wiring only. Bad input ends with exit code 2 and one sentence on standard error. */
import { isMainThread } from "node:worker_threads";
import { program, runProgram, withFlags } from "@jobferry/shared/runtime/command.ts";
import packageJson from "./package.json" with { type: "json" };
import { managerConfig, readManagerConfig, runManager } from "./service.ts";

const command = program("jobferry-manager", "Dispatches a hub cluster's Jobs to worker clusters", packageJson.version);
withFlags(command, {
  schema: managerConfig,
  example: "jobferry-manager --key-file key.pem --redis-url rediss://redis:6379",
  run: (given) => runManager(readManagerConfig(given), given.env),
});
// As one file, the program is loaded by its own thread, too.
if (isMainThread) await runProgram(command);
