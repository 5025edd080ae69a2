/** `jobferry up`: a whole fleet in one go, until it is told to stop. */
import type { GivenConfig } from "@jobferry/shared/runtime/command.ts";
import { ConfigError, loadConfig } from "@jobferry/shared/runtime/config.ts";
import { createLogger } from "@jobferry/shared/runtime/logger.ts";
import { onShutdown } from "@jobferry/shared/runtime/shutdown.ts";
import { type UpConfig, type UpRun, type UpSurroundings, upConfig, workersOf } from "./config.ts";
import { runEmbedded } from "./embedded.ts";
import { stopAsked } from "./stop.ts";

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Returns the exit code. */
export async function runUp(given: GivenConfig, surroundings: UpSurroundings): Promise<number> {
  const { env } = given;
  const { PATH: path = DEFAULT_PATH } = env;
  const config = readConfig(given);
  const logger = createLogger({ name: "jobferry", level: config.logLevel });
  const shutdown = onShutdown({ deadlineMs: 10_000, logger });
  const stop = stopAsked(shutdown.signal, config.exitAfter);
  const run: UpRun = {
    config,
    env,
    path,
    surroundings,
    logger,
    stop,
    // Loaded late, so that bad usage is answered at once.
    async openBus() {
      const { openBus } = await import("./bus.ts");
      return await openBus({ config, redis: config.redis ?? (env.REDIS_URL || undefined), path, logger });
    },
  };
  try {
    if (config.hub === undefined) return await runEmbedded(run);
    const { runExisting } = await import("./existing.ts");
    return await runExisting(run, config.hub);
  } finally {
    shutdown.dispose();
  }
}

function readConfig(given: GivenConfig): UpConfig {
  const config = loadConfig(upConfig, given);
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
