import { clusterFlags } from "../../cli/cluster/flags.ts";
import { explainConfig, logsConfig } from "../../cli/job/flags.ts";
import { queueFlags } from "../../cli/queue/flags.ts";
import { generateConfig, simulateConfig } from "../../cli/simulate/flags.ts";
import { upConfig } from "../../cli/up/config.ts";
import { managerConfig } from "../../manager/service.ts";
import { type FlagHelp, flagsOf } from "../../shared/runtime/command.ts";
import { jobsConfig } from "../../worker-agent/jobs-command.ts";
import { startConfig } from "../../worker-agent/start-command.ts";
import { code, type Page, table } from "./markdown.ts";

const PROGRAMS: Record<string, FlagHelp[]> = {
  "jobferry-manager": flagsOf(managerConfig),
  "jobferry-agent start": flagsOf(startConfig),
  "jobferry-agent jobs": flagsOf(jobsConfig),
  "jobferry up": flagsOf(upConfig),
  ...Object.fromEntries(
    Object.entries(clusterFlags).map(([verb, schema]) => [`jobferry cluster ${verb}`, flagsOf(schema)]),
  ),
  ...Object.fromEntries(
    Object.entries(queueFlags).map(([verb, schema]) => [`jobferry queue ${verb}`, flagsOf(schema)]),
  ),
  "jobferry explain": flagsOf(explainConfig),
  "jobferry retry": flagsOf(explainConfig),
  "jobferry logs": flagsOf(logsConfig),
  "jobferry simulate": flagsOf(simulateConfig),
  "jobferry simulate generate": flagsOf(generateConfig),
};

const fallbackOf = ({ isRequired, fallback }: FlagHelp): string => (isRequired ? "required" : code(fallback));

const rowOf = (help: FlagHelp): string[] => [
  code(help.flag + (help.placeholder === "" ? "" : ` ${help.placeholder}`)),
  fallbackOf(help),
  help.isList ? `${help.description}; a list` : help.description,
];

export const configurationPage = (): Page => ({
  file: "configuration.md",
  title: "Flags and settings",
  from: "the schemas that the programs check them with",
  body: [
    "A setting can be given in three ways; the first that has it wins:",
    "1. as a flag: `--metrics-port 9090`;",
    "2. in the environment, as `JOBFERRY_` and its name: `JOBFERRY_METRICS_PORT=9090`;",
    "3. in a YAML file that `--config FILE` or `JOBFERRY_CONFIG` names: `metricsPort: 9090`.",
    "",
    "A list is separated by commas, or its flag is given again. What is wrong ends the program with exit code 2 and one sentence.",
    ...Object.entries(PROGRAMS).map(
      ([program, flags]) => `\n## ${program}\n${table(["flag", "default", "meaning"], flags.map(rowOf))}`,
    ),
  ].join("\n"),
});
