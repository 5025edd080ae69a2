/** `jobferry up`: a whole fleet in one go, until it is told to stop. */
import type { Bus } from "@jobferry/shared/queue/bus.ts";
import { ConfigError, loadConfig } from "@jobferry/shared/runtime/config.ts";
import { createLogger, type Logger } from "@jobferry/shared/runtime/logger.ts";
import { onShutdown } from "@jobferry/shared/runtime/shutdown.ts";
import type { FleetBus } from "./bus.ts";
import { type UpConfig, type UpRun, type UpSurroundings, upConfig } from "./config.ts";
import type { EmbeddedFleet } from "./embedded.ts";
import { type ClusterFile, type Reporter, reporterFor } from "./report.ts";
import { StateDirectory, stateDirectory } from "./state-directory.ts";
import { type Stop, stopAsked } from "./stop.ts";

/** Returns the exit code. */
export async function runUp(flags: Record<string, unknown>, surroundings: UpSurroundings): Promise<number> {
  const { env } = surroundings;
  const config = readConfig(flags, env);
  const logger = createLogger({ name: "jobferry", level: config.logLevel });
  const shutdown = onShutdown({ deadlineMs: 10_000, logger });
  const stop = stopAsked(shutdown.signal, config.exitAfter);
  const run: UpRun = {
    config,
    surroundings,
    logger,
    stop,
    // Loaded late, so that bad usage is answered at once.
    async openBus() {
      const { openBus } = await import("./bus.ts");
      return await openBus({ redis: config.redis ?? (env.REDIS_URL || undefined), path: pathOf(env), logger });
    },
  };
  try {
    if (config.hub === undefined) return await runEmbedded(run);
    const { runExisting } = await import("./run-existing.ts");
    return await runExisting(run, config.hub);
  } finally {
    shutdown.dispose();
  }
}

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";
const pathOf = (env: NodeJS.ProcessEnv): string => env.PATH ?? DEFAULT_PATH;

async function runEmbedded(run: UpRun): Promise<number> {
  const { config, surroundings, logger, stop } = run;
  const { env, print } = surroundings;
  const directory = StateDirectory.claim(stateDirectory(config.dir, env));
  const report = reporterFor(config.output, print);
  let fleet: EmbeddedFleet | undefined;
  let bus: FleetBus | undefined;
  let asExpected = true;
  try {
    report.starting(workersOf(config));
    bus = await run.openBus();
    report.messages(bus.carrier);
    const started = await startFleet(config, { directory, logger, report, path: pathOf(env), bus: bus.bus });
    fleet = started.fleet;
    const failed = bus.failed.then((error) => Promise.reject(error));
    failed.catch(() => {});
    if (config.demo)
      asExpected = await Promise.race([playDemo(fleet, { config, surroundings, logger, report, stop }), failed]);
    if (!config.exit && !stop.signal.aborted) {
      report.hints(started.files);
      await Promise.race([stop.asked, failed]);
    }
    report.stopping();
  } finally {
    await fleet?.stop();
    await bus?.close();
    directory.release();
  }
  report.stopped();
  return config.exit && !asExpected ? 1 : 0;
}

const workersOf = ({ workers = 2 }: UpConfig): number => workers;

function readConfig(flags: Record<string, unknown>, env: NodeJS.ProcessEnv): UpConfig {
  const config = loadConfig(upConfig, { flags, env });
  if (config.exit && !config.demo) throw new ConfigError("--exit: goes with --demo; --exit-after stops after a time");
  if (config.demo && workersOf(config) < 2)
    throw new ConfigError("--demo: needs --workers 2 or more, one of them is lost");
  const { hub, worker, workers, demo, dryRun } = config;
  if (hub === undefined && worker.length > 0)
    throw new ConfigError("--worker: goes with --hub, the cluster of its Jobs");
  if (hub === undefined && dryRun)
    throw new ConfigError("--dry-run: goes with --hub; an embedded fleet changes nothing");
  if (hub !== undefined && worker.length === 0)
    throw new ConfigError("--hub: needs a --worker NAME=KUBECONFIG at least, to run its Jobs");
  if (hub !== undefined && (workers !== undefined || demo))
    throw new ConfigError(
      "--hub: clusters that exist go with neither --workers nor --demo, which are for embedded ones",
    );
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

interface FleetSurroundings {
  directory: StateDirectory;
  logger: Logger;
  report: Reporter;
  path: string;
  bus: Bus;
}

async function startFleet(
  config: UpConfig,
  { directory, logger, report, path, bus }: FleetSurroundings,
): Promise<{ fleet: EmbeddedFleet; files: readonly ClusterFile[] }> {
  const began = performance.now();
  const { portBase, demo } = config;
  const { EmbeddedFleet } = await import("./embedded.ts");
  const files: ClusterFile[] = [];
  const fleet = new EmbeddedFleet({
    workers: workersOf(config),
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
