/** `jobferry up` on clusters of its own, from their start to its last words. */
import type { Bus } from "@jobferry/shared/queue/bus.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { FleetBus } from "./bus.ts";
import { type UpConfig, type UpRun, type UpSurroundings, workersOf } from "./config.ts";
import type { EmbeddedFleet } from "./embedded-fleet.ts";
import { type ClusterFile, type Reporter, reporterFor } from "./report.ts";
import { StateDirectory, stateDirectory } from "./state-directory.ts";
import type { Stop } from "./stop.ts";

/** Returns the exit code. */
export async function runEmbedded(run: UpRun): Promise<number> {
  const { config, env, path, surroundings, logger, stop } = run;
  const directory = StateDirectory.claim(stateDirectory(config.dir, env));
  const report = reporterFor(config.output, surroundings.print);
  let fleet: EmbeddedFleet | undefined;
  let bus: FleetBus | undefined;
  let asExpected = true;
  try {
    report.starting(workersOf(config));
    bus = await run.openBus();
    report.messages(bus.carrier);
    const started = await startFleet(config, { directory, logger, report, path, bus: bus.bus });
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
  const { EmbeddedFleet } = await import("./embedded-fleet.ts");
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
