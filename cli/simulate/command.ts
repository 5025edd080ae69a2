/** `jobferry simulate`: a trace of Jobs on a fleet that does not exist. */
import { writeFileSync } from "node:fs";
import { DEFAULT_QUEUE } from "@jobferry/shared/protocol/marks.ts";
import type { GivenConfig } from "@jobferry/shared/runtime/command.ts";
import { loadConfig } from "@jobferry/shared/runtime/config.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { seededRandom } from "@jobferry/shared/runtime/random.ts";
import { Simulation } from "./engine/simulation.ts";
import { generateConfig, simulateConfig } from "./flags.ts";
import { capacityOf, type Fleet } from "./fleet/fleet.ts";
import { readFleet } from "./fleet/read-fleet.ts";
import { fleetText } from "./fleet/write-fleet.ts";
import { generateFleet } from "./generate/fleet.ts";
import { generateJobs } from "./generate/jobs.ts";
import { figuresOf } from "./result/figures.ts";
import { picture } from "./result/picture.ts";
import { type Named, textOf } from "./result/text.ts";
import { readTrace } from "./trace/read-trace.ts";
import { resample } from "./trace/resample.ts";
import { secondsOf } from "./trace/seconds.ts";
import type { TraceJob } from "./trace/trace-job.ts";
import { traceText } from "./trace/write-trace.ts";

export interface Out {
  print(text: string): void;
  /** Where people look while they wait; what it says does not belong to the result. */
  progress(text: string): void;
}

/** False: a Job was given to a cluster on which its pods had no room. */
export function runSimulate(trace: string, given: GivenConfig, out: Out): boolean {
  const config = loadConfig(simulateConfig, given);
  const fleets = [config.fleet, ...(config.compare === undefined ? [] : [config.compare])].map((path) => ({
    path,
    fleet: readFleet(path),
  }));
  const recorded = readTrace(trace);
  for (const { path, fleet } of fleets) checkQueues(trace, recorded, path, fleet);
  const capped = capRuns(recorded, config.maxRun);
  const [first] = fleets;
  const jobs = config.load === undefined || first === undefined ? capped : drawn(capped, first.fleet, config);
  const heartbeatMs = 1000 * timeOf("--heartbeat", config.heartbeat);
  const runs = fleets.map(({ path, fleet }) => {
    const options = { fleet, jobs, heartbeatMs, messageMs: config.message };
    const outcome = new Simulation({ ...options, onProgress: progressOf(path, jobs.length, out) }).run();
    return { name: nameOf(path, fleets.length), outcome, figures: figuresOf(outcome) };
  });
  if (config.svg !== undefined) write(config.svg, picture(runs));
  out.print(config.output === "json" ? JSON.stringify(asJson(runs), null, 2) : textOf(runs));
  const wrong = runs.flatMap(({ name, outcome }) => outcome.wrong.map((each) => ({ name, ...each })));
  for (const { name, job, cluster, atMs, bound } of wrong.slice(0, 10))
    out.progress(
      `wrong placement on ${name}: ${job.name} came to ${cluster} after ${Math.round(atMs / 1000)} s, and ${bound} of its ${job.shape.pods} pods had room\n`,
    );
  return wrong.length === 0;
}

export function runGenerate(what: string, given: GivenConfig, out: Out): void {
  const config = loadConfig(generateConfig, given);
  if (what === "fleet") {
    out.print(fleetText(generateFleet(config.clusters)).trimEnd());
    return;
  }
  if (what !== "trace")
    throw new ConfigError(`jobferry simulate generate makes a trace or a fleet, not ${JSON.stringify(what)}`);
  const overMs = 1000 * timeOf("--over", config.over);
  out.print(traceText(generateJobs(config.jobs, overMs, seededRandom(config.seed))).trimEnd());
}

const asJson = (runs: readonly Named[]): object => runs.map(({ name, figures }) => ({ fleet: name, ...figures }));

/** A comparison names its fleets by their files. */
const nameOf = (path: string, fleets: number): string => (fleets === 1 ? "" : path);

function timeOf(flag: string, text: string): number {
  const seconds = secondsOf(text);
  if (seconds === undefined || seconds <= 0)
    throw new ConfigError(`${flag}: ${JSON.stringify(text)} is not a time such as 90s, 15m or 24h`);
  return seconds;
}

function capRuns(jobs: readonly TraceJob[], maxRun: string | undefined): readonly TraceJob[] {
  if (maxRun === undefined) return jobs;
  const most = 1000 * timeOf("--max-run", maxRun);
  return jobs.map((job) => (job.runMs > most ? { ...job, runMs: most } : job));
}

function drawn(
  jobs: readonly TraceJob[],
  fleet: Fleet,
  {
    load = 1,
    loadResource,
    over,
    seed,
  }: { load?: number | undefined; loadResource: string; over: string; seed: number },
): TraceJob[] {
  const capacity = capacityOf(fleet).get(loadResource) ?? 0;
  if (capacity === 0) throw new ConfigError(`--load-resource: the fleet has no ${loadResource}`);
  const overMs = 1000 * timeOf("--over", over);
  return resample(jobs, { resource: loadResource, load, capacity, overMs, random: seededRandom(seed) });
}

function checkQueues(trace: string, jobs: readonly TraceJob[], path: string, { queues }: Fleet): void {
  const known = new Set([DEFAULT_QUEUE, ...queues.map(({ metadata }) => metadata.name)]);
  const missing = new Set(jobs.map(({ shape }) => shape.queue).filter((queue) => !known.has(queue)));
  if (missing.size === 0) return;
  const names = [...missing].slice(0, 10).join(", ");
  throw new ConfigError(
    `${trace} has Jobs of ${missing.size === 1 ? "queue" : "queues"} ${names}, and ${path} has no such JobQueue: add it there`,
  );
}

function progressOf(
  path: string,
  jobs: number,
  { progress }: Out,
): NonNullable<ConstructorParameters<typeof Simulation>[0]["onProgress"]> {
  let last = performance.now();
  return (arrived, finished, simulatedMs) => {
    if (performance.now() - last < 1000) return;
    last = performance.now();
    progress(
      `${path}: ${arrived} of ${jobs} Jobs have come, ${finished} are done, ${(simulatedMs / 3_600_000).toFixed(1)} h simulated\n`,
    );
  };
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (cause) {
    throw new ConfigError(`--svg: ${path} cannot be written: ${(cause as Error).message}`, { cause });
  }
}
