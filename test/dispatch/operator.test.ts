/** What the manager's log and metrics tell of a simulated fleet. */
import { jobQueues, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

interface Line {
  readonly msg: string;
  readonly job?: string;
  readonly uid?: string;
  readonly cluster?: string;
  readonly epoch?: number;
}

async function observed() {
  const lines: Line[] = [];
  const registry = new Registry();
  const logger = pino({ level: "info" }, { write: (text: string) => lines.push(JSON.parse(text) as Line) });
  fleet = new Fleet({ workers: ["east", "west"], logger, registry, behaviour: () => ({ runMs: 20_000 }) });
  await fleet.start();
  /** Samples of one metric, without histograms' buckets: `{queue="default"} 3`. */
  const samples = async (name: string): Promise<string[]> => {
    const text = await registry.metrics();
    return text.split("\n").flatMap((line) => (line.startsWith(name) ? [line.slice(name.length).trim()] : []));
  };
  const story = (job: string): string[] =>
    lines.flatMap((line) => (line.job === `default/${job}` ? [`${line.msg} ${line.cluster} ${line.epoch}`] : []));
  return { lines, samples, story };
}

it("the log has one line for each transition of a Job, with its UID, name, cluster and epoch", async () => {
  const { lines, story } = await observed();
  const { metadata } = await fleet.submit("plain");
  await fleet.untilFinished("plain");
  const [first] = story("plain");
  const cluster = first?.split(" ").at(-2);
  expect(story("plain")).toEqual([
    `Job assigned ${cluster} 1`,
    `Job delivered ${cluster} 1`,
    `Job running ${cluster} 1`,
    `Job finished ${cluster} 1`,
  ]);
  expect(lines.filter(({ job }) => job === "default/plain").map(({ uid }) => uid)).toEqual(Array(4).fill(metadata.uid));
});

it("a Job that a drain moves is told as withdrawn and moved", async () => {
  const { samples, story } = await observed();
  await fleet.submit("mover");
  await fleet.until(async () => story("mover").some((line) => line.startsWith("Job running")), 30_000);
  const [from = ""] = (await fleet.mirrors("mover")).map(({ cluster }) => cluster);
  await fleet.hub.api.patch(workerClusters, { name: from }, { type: "merge", body: { spec: { drain: true } } });
  await fleet.untilFinished("mover", 120_000);
  const to = from === "east" ? "west" : "east";
  expect(story("mover")).toEqual([
    ...[`Job assigned ${from} 1`, `Job delivered ${from} 1`, `Job running ${from} 1`],
    ...[`Job asked back ${from} 1`, `Job withdrawn ${from} 1`],
    ...[`Job moved ${to} 2`, `Job delivered ${to} 2`, `Job running ${to} 2`, `Job finished ${to} 2`],
  ]);
  expect(await samples("jobferry_evicted_jobs_total")).toEqual([
    `{queue="default",cluster="${from}",reason="handed-over"} 1`,
  ]);
  expect(await samples("jobferry_first_pod_seconds_count")).toEqual([`{queue="default",cluster="${from}"} 1`]);
});

it("the metrics count what waits, is admitted and ends by queue and cluster, and never by a name that a user made up", async () => {
  const { samples } = await observed();
  await fleet.hub.api.create(jobQueues, undefined, { metadata: { name: "night" }, spec: { quota: { jobs: 1 } } });
  const inQueue = (name: string) => ({ labels: { [QUEUE_LABEL]: name } });
  for (const name of ["n1", "n2"]) await fleet.submit(name, {}, inQueue("night"));
  for (const name of ["u1", "u2"]) await fleet.submit(name, {}, inQueue(`made-up-${name}`));
  await fleet.until(async () => (await samples("jobferry_admitted_active_jobs")).includes('{queue="night"} 1'), 30_000);
  expect(new Set(await samples("jobferry_pending_jobs"))).toEqual(
    new Set(['{queue="default"} 0', '{queue="night"} 1', '{queue=""} 2']),
  );
  for (const name of ["n1", "n2"]) await fleet.untilFinished(name, 120_000);
  const byCluster = (lines: string[]): number => lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  expect(byCluster(await samples('jobferry_finished_jobs_total{queue="night"'))).toBe(2);
  expect(byCluster(await samples('jobferry_admission_wait_time_seconds_count{queue="night"'))).toBe(2);
  expect(await samples('workqueue_adds_total{name="hub-jobs"}')).toHaveLength(1);
});
