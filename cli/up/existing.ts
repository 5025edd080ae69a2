/** `jobferry up` on clusters that exist, from its first look at them to its last words. */

import type { UpRun } from "./config.ts";
import { ExistingFleet } from "./existing-fleet.ts";
import { type ExistingReporter, existingReporterFor } from "./report-existing.ts";

/** Returns the exit code. */
export async function runExisting(run: UpRun, hub: string): Promise<number> {
  const { config, surroundings } = run;
  const report = existingReporterFor(config.output, surroundings.print, surroundings.screen);
  const began = performance.now();
  const fleet = await ExistingFleet.prepare({ hub, workers: config.worker, dryRun: config.dryRun, report });
  if (config.dryRun) await fleet.stop().then(() => report.nothingDone());
  else await serve(run, fleet, report, began);
  return 0;
}

async function serve(run: UpRun, fleet: ExistingFleet, report: ExistingReporter, began: number): Promise<void> {
  const { logger, stop } = run;
  const end = new AbortController();
  let showing: Promise<void> | undefined;
  const bus = await run.openBus().catch(async (error: unknown) => {
    await fleet.stop();
    throw error;
  });
  try {
    report.messages(bus.carrier);
    await fleet.start(bus.bus, logger);
    report.ready(fleet.workers, Math.round(performance.now() - began));
    showing = fleet.show(AbortSignal.any([stop.signal, end.signal]), logger);
    await Promise.race([showing, bus.failed.then((error) => Promise.reject(error))]);
    report.stopping();
  } finally {
    end.abort();
    await showing;
    await fleet.stop();
    await bus.close();
  }
  report.stopped(fleet.workers);
}
