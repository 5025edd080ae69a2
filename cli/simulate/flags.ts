/** The flags of `jobferry simulate ...`: apart from what they start, so that `--help` answers at once. */
import { z } from "zod";

const seed = z
  .int()
  .min(0)
  .max(2 ** 32 - 1)
  .default(1);

export const simulateConfig = z.object({
  fleet: z.string().describe("YAML file with the WorkerClusters, their nodes, and the JobQueues (docs/simulate.md)"),
  compare: z.string().optional().describe("a second such file: the same trace on it, side by side"),
  output: z.enum(["text", "json"]).default("text").describe("text, or json for programs"),
  svg: z.string().optional().describe("file for a picture: utilisation and waiting Jobs over time"),
  load: z
    .number()
    .gt(0)
    .max(100)
    .optional()
    .describe("draw Jobs from the trace until they ask for this part of loadResource: 1.3 for 130 %"),
  loadResource: z.string().default("nvidia.com/gpu").describe("what --load is measured by"),
  over: z.string().default("24h").describe("with --load, the time over which they come"),
  maxRun: z.string().optional().describe("Jobs that run longer end after this time, such as 24h"),
  heartbeat: z.string().default("5s").describe("how often the agents report their room"),
  message: z
    .number()
    .min(0)
    .max(60_000)
    .default(500)
    .describe("milliseconds that a message takes from manager to agent or back"),
  seed: seed.describe("of what is drawn by chance"),
});

export const generateConfig = z.object({
  clusters: z
    .enum(["twelve", "one"])
    .default("twelve")
    .describe("of a fleet: its nodes by model in twelve, or all in one"),
  jobs: z.int().min(1).max(2_000_000).default(10_000).describe("of a trace: how many Jobs"),
  over: z.string().default("24h").describe("of a trace: the time over which they come"),
  seed: seed.describe("of what is drawn by chance"),
});
