#!/usr/bin/env node
/** `jobferry-agent`: wiring only. Bad input ends with exit code 2 and one sentence on standard error. */
import { program, runProgram, withFlags } from "@jobferry/shared/runtime/command.ts";
import { jobsConfig, readJobsConfig, runJobs } from "./jobs-command.ts";
import packageJson from "./package.json" with { type: "json" };
import { readStartConfig, runStart, startConfig } from "./start-command.ts";

const agent = program("jobferry-agent", "Runs Jobs on a worker cluster", packageJson.version);
withFlags(
  agent.command("start").description("serve a hub: take its Jobs, run them on this cluster, report on them"),
  startConfig,
  (flags) => runStart(readStartConfig(flags, process.env), process.env),
);
withFlags(
  agent.command("jobs").description("the Job controller alone, without Redis and without a hub"),
  jobsConfig,
  (flags) => runJobs(readJobsConfig(flags, process.env), process.env),
);
await runProgram(agent);
