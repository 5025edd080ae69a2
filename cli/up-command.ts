/** `jobferry up`: a whole fleet in one go, until it is told to stop. */
import type { Bus } from "@jobferry/shared/queue/bus.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError, loadConfig } from "@jobferry/shared/runtime/config.ts";
import { createLogger, type Logger } from "@jobferry/shared/runtime/logger.ts";
import { onShutdown } from "@jobferry/shared/runtime/shutdown.ts";
import { z } from "zod";
import type { Screen } from "./demo/view.ts";
import type { EmbeddedFleet } from "./embedded-fleet.ts";
import { StateDirectory, stateDirectory } from "./state-directory.ts";
import type { FleetBus } from "./up-bus.ts";
import { type ClusterFile, type Reporter, reporterFor } from "./up-report.ts";

const upConfig = z.object({
  workers: z.int().min(0).max(20).default(2).describe("worker clusters beside the hub, 0 to 20"),
  portBase: z
    .int()
    .min(0)
    .max(65_000)
    .default(0)
    .describe("port of the hub's API, the workers take the ones after it; 0: any free ports"),
  redis: z
    .string()
    .regex(/^rediss?:\/\/\S+$/, "must begin with redis:// or rediss://")
    .optional()
    .describe("redis:// URL of a Redis for the fleet's messages; else REDIS_URL, a private redis-server, or memory"),
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

type UpConfig = z.output<typeof upConfig>;

export interface UpSurroundings {
  env: NodeJS.ProcessEnv;
  print(line: string): void;
  /** The terminal, if there is one. */
  screen?: Screen | undefined;
}

/** Returns the exit code. */
export async function runUp(flags: Record<string, unknown>, surroundings: UpSurroundings): Promise<number> {
  const { env, print } = surroundings;
  const config = readConfig(flags, env);
  const directory = StateDirectory.claim(stateDirectory(config.dir, env));
  const logger = createLogger({ name: "jobferry", level: config.logLevel });
  const report = reporterFor(config.output, print);
  const shutdown = onShutdown({ deadlineMs: 10_000, logger });
  const stop = stopAsked(shutdown.signal, config.exitAfter);
  let fleet: EmbeddedFleet | undefined;
  let bus: FleetBus | undefined;
  let asExpected = true;
  try {
    report.starting(config.workers);
    const path = env.PATH ?? DEFAULT_PATH;
    // Loaded late, so that bad usage is answered at once.
    const { openBus } = await import("./up-bus.ts");
    bus = await openBus({ redis: config.redis ?? (env.REDIS_URL || undefined), path, logger });
    report.messages(bus.carrier);
    const started = await startFleet(config, { directory, logger, report, path, bus: bus.bus });
    fleet = started.fleet;
    if (config.demo) asExpected = await playDemo(fleet, { config, surroundings, logger, report, stop });
    if (!config.exit && !stop.signal.aborted) {
      report.hints(started.files);
      await stop.asked;
    }
    report.stopping();
  } finally {
    await fleet?.stop();
    await bus?.close();
    directory.release();
    shutdown.dispose();
  }
  report.stopped();
  return config.exit && !asExpected ? 1 : 0;
}

function readConfig(flags: Record<string, unknown>, env: NodeJS.ProcessEnv): UpConfig {
  const config = loadConfig(upConfig, { flags, env });
  if (config.exit && !config.demo) throw new ConfigError("--exit: goes with --demo; --exit-after stops after a time");
  if (config.demo && config.workers < 2)
    throw new ConfigError("--demo: needs --workers 2 or more, one of them is lost");
  return config;
}

interface DemoSurroundings {
  config: UpConfig;
  surroundings: UpSurroundings;
  logger: Logger;
  report: Reporter;
  stop: Stop;
}

/** Says whether every example ended as it should. */
async function playDemo(
  fleet: EmbeddedFleet,
  { config, surroundings: { print, screen }, logger, report, stop }: DemoSurroundings,
): Promise<boolean> {
  const { runDemo } = await import("./demo/run.ts");
  const { viewFor } = await import("./demo/view.ts");
  const began = performance.now();
  const view = viewFor(config.output, print, screen);
  const outcomes = await runDemo({
    hub: fleet.hub("demo"),
    agents: { stop: (worker) => fleet.stopAgent(worker), start: (worker) => fleet.startAgent(worker) },
    view,
    logger,
    signal: stop.signal,
  }).finally(() => view.end());
  if (stop.signal.aborted) return false;
  report.demoEnded(outcomes, Math.round(performance.now() - began));
  return outcomes.every(({ differences }) => differences.length === 0);
}

/** The least that a WorkerCluster may have. */
const DEMO_LOST_AFTER = "30s";
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

interface FleetSurroundings {
  directory: StateDirectory;
  logger: Logger;
  report: Reporter;
  path: string;
  bus: Bus;
}

async function startFleet(
  { workers, portBase, demo }: UpConfig,
  { directory, logger, report, path, bus }: FleetSurroundings,
): Promise<{ fleet: EmbeddedFleet; files: readonly ClusterFile[] }> {
  const began = performance.now();
  const { EmbeddedFleet } = await import("./embedded-fleet.ts");
  const files: ClusterFile[] = [];
  const fleet = new EmbeddedFleet({
    workers,
    portBase,
    path,
    bus,
    lostAfter: demo ? DEMO_LOST_AFTER : undefined,
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
  return { fleet, files: inOrder };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

interface Stop {
  readonly signal: AbortSignal;
  readonly asked: Promise<void>;
}

/** Comes at a signal or when the time is over; the servers keep the process alive meanwhile. The time counts from now. */
function stopAsked(shutdown: AbortSignal, exitAfter: string | undefined): Stop {
  const over = new AbortController();
  const signal = AbortSignal.any([shutdown, over.signal]);
  const [, amount, unit = ""] = /^([\d.]+)(\w+)$/.exec(exitAfter ?? "") ?? [];
  if (amount !== undefined) realClock.after(Number(amount) * (UNITS[unit] ?? 0), () => over.abort());
  const asked = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  return { signal, asked };
}
