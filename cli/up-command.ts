/** `jobferry up`: a whole fleet in one go, until it is told to stop. */
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { loadConfig } from "@jobferry/shared/runtime/config.ts";
import { createLogger, type Logger } from "@jobferry/shared/runtime/logger.ts";
import { onShutdown } from "@jobferry/shared/runtime/shutdown.ts";
import { z } from "zod";
import type { EmbeddedFleet } from "./embedded-fleet.ts";
import { StateDirectory, stateDirectory } from "./state-directory.ts";
import { type ClusterFile, type Reporter, reporterFor } from "./up-report.ts";

const upConfig = z.object({
  workers: z.int().min(0).max(20).default(2).describe("worker clusters beside the hub, 0 to 20"),
  portBase: z
    .int()
    .min(0)
    .max(65_000)
    .default(0)
    .describe("port of the hub's API, the workers take the ones after it; 0: any free ports"),
  dir: z.string().min(1).optional().describe("where kubeconfigs are written; else $XDG_STATE_HOME/jobferry"),
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

export interface UpSurroundings {
  env: NodeJS.ProcessEnv;
  print(line: string): void;
}

export async function runUp(flags: Record<string, unknown>, { env, print }: UpSurroundings): Promise<void> {
  const config = loadConfig(upConfig, { flags, env });
  const directory = StateDirectory.claim(stateDirectory(config.dir, env));
  const logger = createLogger({ name: "jobferry", level: config.logLevel });
  const report = reporterFor(config.output, print);
  const shutdown = onShutdown({ deadlineMs: 10_000, logger });
  const stop = stopAsked(shutdown.signal, config.exitAfter);
  let fleet: EmbeddedFleet | undefined;
  try {
    report.starting(config.workers);
    fleet = await startFleet(config, { directory, logger, report, path: env.PATH ?? DEFAULT_PATH });
    await stop;
    report.stopping();
  } finally {
    await fleet?.stop();
    directory.release();
    shutdown.dispose();
  }
  report.stopped();
}

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

interface FleetSurroundings {
  directory: StateDirectory;
  logger: Logger;
  report: Reporter;
  path: string;
}

async function startFleet(
  { workers, portBase }: z.output<typeof upConfig>,
  { directory, logger, report, path }: FleetSurroundings,
): Promise<EmbeddedFleet> {
  const began = performance.now();
  // Loaded late, so that bad usage is answered at once.
  const { EmbeddedFleet } = await import("./embedded-fleet.ts");
  const files: ClusterFile[] = [];
  const fleet = new EmbeddedFleet({
    workers,
    portBase,
    path,
    logger,
    onReady({ kubeconfig, ...cluster }) {
      const file = { ...cluster, kubeconfig: directory.write(`${cluster.name}.kubeconfig`, kubeconfig) };
      files.push(file);
      report.clusterReady(file);
    },
  });
  await fleet.start();
  const inOrder = files.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  report.ready(inOrder, Math.round(performance.now() - began));
  return fleet;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Resolves at a signal or when the time is over; the servers keep the process alive meanwhile. The time counts from now. */
function stopAsked(signal: AbortSignal, exitAfter: string | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
    const [, amount, unit = ""] = /^([\d.]+)(\w+)$/.exec(exitAfter ?? "") ?? [];
    if (amount !== undefined) realClock.after(Number(amount) * (UNITS[unit] ?? 0), resolve);
  });
}
