/** What `jobferry up` is asked to do, and what both ways of doing it have in common. */
import { redisAccessFlags } from "@jobferry/shared/queue/redis-access.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { z } from "zod";
import type { FleetBus } from "./bus.ts";
import type { Screen } from "./demo/view.ts";
import type { Stop } from "./stop.ts";

export const upConfig = z.object({
  hub: z.string().min(1).optional().describe("a hub that exists, as KUBECONFIG or KUBECONFIG#CONTEXT; needs --worker"),
  worker: z
    .array(z.string())
    .max(50)
    .default([])
    .describe("a worker cluster that exists, as NAME=KUBECONFIG or NAME=KUBECONFIG#CONTEXT; once for each"),
  dryRun: z
    .boolean()
    .default(false)
    .describe("with --hub: check everything, say what would be applied to the hub, change nothing"),
  workers: z.int().min(0).max(20).optional().describe("embedded worker clusters beside the hub, 0 to 20 (default 2)"),
  portBase: z
    .int()
    .min(0)
    .max(65_000)
    .default(0)
    .describe("port of the hub's API, the workers take the ones after it; 0 takes free ones"),
  redis: z
    .string()
    .regex(/^rediss?:\/\/\S+$/, "must begin with redis:// or rediss://")
    .optional()
    .describe("redis:// URL of a Redis for the fleet's messages; else REDIS_URL, a private redis-server, or memory"),
  ...redisAccessFlags,
  dir: z.string().min(1).optional().describe("where kubeconfigs are written; else $XDG_STATE_HOME/jobferry"),
  demo: z.boolean().default(false).describe("run examples on the fleet and show them as they change"),
  exit: z
    .boolean()
    .default(false)
    .describe("with --demo: stop after the examples, with exit code 0 if all went as expected"),
  exitAfter: z
    .string()
    .regex(/^\d+(\.\d+)?(ms|s|m|h)$/, "must be a time such as 30s or 5m")
    .optional()
    .describe("stop by itself after this time, such as 30s or 5m"),
  output: z.enum(["text", "json"]).default("text").describe("text for people, json for programs: one object per line"),
  logLevel: z
    .enum(["debug", "info", "warn", "error", "silent"])
    .default("warn")
    .describe("least level logged to standard error"),
});

export type UpConfig = z.output<typeof upConfig>;

export const workersOf = ({ workers = 2 }: UpConfig): number => workers;

export interface UpSurroundings {
  print(line: string): void;
  /** The terminal, if there is one. */
  screen?: Screen | undefined;
}

export interface UpRun {
  readonly config: UpConfig;
  readonly env: NodeJS.ProcessEnv;
  /** Where programs are looked for. */
  readonly path: string;
  readonly surroundings: UpSurroundings;
  readonly logger: Logger;
  readonly stop: Stop;
  openBus(): Promise<FleetBus>;
}
