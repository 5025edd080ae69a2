#!/usr/bin/env node
/** `jobferry-agent`: wiring only. Bad input ends with exit code 2 and one sentence on standard error. */
import { isMainThread } from "node:worker_threads";
import { program, runProgram, withFlags } from "@jobferry/shared/runtime/command.ts";
import { jobsConfig, readJobsConfig, runJobs } from "./jobs-command.ts";
import packageJson from "./package.json" with { type: "json" };
import { readStartConfig, runStart, startConfig } from "./start-command.ts";

const agent = program("jobferry-agent", "Runs Jobs on a worker cluster", packageJson.version);
withFlags(agent.command("start").description("serve a hub: take its Jobs, run them on this cluster, report on them"), {
  schema: startConfig,
  example: "jobferry-agent start --cluster east --manager-key KEY --key-file key.pem --redis-url rediss://redis:6379",
  run: (given) => runStart(readStartConfig(given), given.env),
});
withFlags(agent.command("jobs").description("the Job controller alone, without Redis and without a hub"), {
  schema: jobsConfig,
  example: "jobferry-agent jobs --managed-by example.com/controller",
  run: (given) => runJobs(readJobsConfig(given), given.env),
});
// As one file, the program is loaded by its own threads, too.
if (isMainThread) await runProgram(agent);
