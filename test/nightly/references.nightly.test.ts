/**
 * Many references on a real fleet: each travels once, the programs hold a few at a time and not all of them, and Redis keeps none.
 * JOBFERRY_NIGHTLY_REFERENCES says how many there are.
 */
import { readFile } from "node:fs/promises";
import type { Resource } from "@jobferry/shared/kube/api.ts";
import { configMaps, pods } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FleetNamespace, forever } from "../e2e/dispatch/fleet-namespace.ts";
import { RealFleet } from "../e2e/dispatch/real-fleet.ts";
import { metricsOf, onEast } from "../e2e/dispatch/reference-fleet.ts";

const COUNT = Number(process.env.JOBFERRY_NIGHTLY_REFERENCES ?? "10000");
const PER_JOB = 50;
/** All of them are 200 MiB, however many: a program that kept them would not fit into its heap. */
const CHARS = Math.floor((200 * 2 ** 20) / COUNT);
const HEAP = "--max-old-space-size=160";
/** What a program may gain while they pass: some at a time, and the names of all. */
const GROWTH_MIB = 256;
const SHARING = 1_000;
const LIMIT = { timeout: 1_800_000 };
const CLUSTERS = ["east", "west"];
const PROGRAMS = ["manager", ...CLUSTERS];

const fleet = new RealFleet({ workers: CLUSTERS, logLevel: "info", agentFlags: ["--retention-seconds=0"] });
beforeAll(async () => {
  await fleet.start();
  for (const name of PROGRAMS) await fleet.kill(name);
  fleet.startManager("manager", [HEAP]);
  for (const name of CLUSTERS) fleet.startAgent(name, [HEAP]);
}, 300_000);
afterAll(() => fleet.stop());

async function residentMiB(name: string): Promise<number> {
  const text = await readFile(`/proc/${fleet.process(name).pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]) / 1024;
}

const redisMiB = async (): Promise<number> =>
  Number(/^used_memory:(\d+)/m.exec(await fleet.redis.info("memory"))?.[1]) / 2 ** 20;

/** What each program and Redis hold, at the start and at most. */
class Gauge {
  readonly before = new Map<string, number>();
  readonly most = new Map<string, number>();

  async look(): Promise<void> {
    for (const name of [...PROGRAMS, "Redis"]) {
      const now = name === "Redis" ? await redisMiB() : await residentMiB(name);
      if (!this.before.has(name)) this.before.set(name, now);
      this.most.set(name, Math.max(this.most.get(name) ?? 0, now));
    }
  }

  gained = (name: string): number => (this.most.get(name) ?? Number.NaN) - (this.before.get(name) ?? Number.NaN);

  show(what: string): void {
    const figures = [...this.most].map(
      ([name, most]) => `${name} ${this.before.get(name)?.toFixed(0)}, at most ${most.toFixed(0)} MiB`,
    );
    console.log(`${what}: ${figures.join("; ")}`);
  }
}

/** Without a list of thousands: the API server says how many it left out. */
async function count(at: FleetNamespace, cluster: string, resource: Resource): Promise<number> {
  const page = { namespace: at.mapped, limit: 1 };
  const { items, metadata } = await fleet.worker(cluster).api.list({ ...resource, metadataOnly: true }, page);
  return items.length + (metadata.remainingItemCount ?? 0);
}

const copiesOn = (at: FleetNamespace, cluster: string): Promise<number> => count(at, cluster, configMaps as Resource);

/** Transfers of contents since the manager started, by cluster. */
async function sent(): Promise<Record<string, number>> {
  const lines = (await metricsOf(fleet, "manager")).matchAll(/^jobferry_contents_sent_total\{(.*)\} (\d+)$/gm);
  return Object.fromEntries(
    [...lines].map(([, labels, count]) => [/cluster="(.*?)"/.exec(labels ?? "")?.[1], Number(count)]),
  );
}

/** Until the figure moves no more: a limit for each step, however many there are. */
async function untilIt(
  at: FleetNamespace,
  reaches: number,
  figure: () => Promise<number>,
  gauge: Gauge,
): Promise<void> {
  for (let known = await figure(); known !== reaches; known = await figure()) {
    const reached = known;
    await at.until(`${reached} of ${reaches} moves on`, async () => {
      await gauge.look();
      return (await figure()) !== reached;
    });
  }
}

/** As many at a time as an API server likes. */
async function each(names: readonly string[], act: (name: string) => Promise<unknown>): Promise<void> {
  const queue = names.values();
  const worker = async (): Promise<void> => {
    for (const name of queue) await act(name);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

it(`${SHARING} Jobs share one ConfigMap: one copy and one transfer for each cluster`, LIMIT, async () => {
  const at = await fleet.namespace("sharing");
  const gauge = new Gauge();
  await gauge.look();
  await fleet.hub.api.create(configMaps, at.name, { metadata: { name: "words" }, data: { text: "x".repeat(100_000) } });
  const containers = [{ name: "main", image: "none", envFrom: [{ configMapRef: { name: "words" } }] }];
  const names = Array.from({ length: SHARING }, (_, index) => `j${index}`);
  await each(names, (name) => at.submit(name, { pod: { ...forever, spec: { containers } } }));
  const started = async (): Promise<number> =>
    (await count(at, "east", pods as Resource)) + (await count(at, "west", pods as Resource));
  await untilIt(at, SHARING, started, gauge);
  gauge.show(`${SHARING} Jobs that share one`);
  for (const cluster of CLUSTERS) expect(await copiesOn(at, cluster), `copies on ${cluster}`).toBe(1);
  expect(await sent()).toEqual({ east: 1, west: 1 });
  await each(names, (name) => at.delete(name));
  // The copies stay as long as the last mirror does, so the pods show whether it goes on.
  await untilIt(at, 0, started, gauge);
  for (const cluster of CLUSTERS) await untilIt(at, 0, () => copiesOn(at, cluster), gauge);
});

it(`${COUNT} distinct ConfigMaps pass through, and nobody keeps them`, LIMIT, async () => {
  const at = await fleet.namespace("many");
  const names = Array.from({ length: COUNT }, (_, index) => `m${index}`);
  await each(names, (name) =>
    fleet.hub.api.create(configMaps, at.name, { metadata: { name }, data: { text: name.padEnd(CHARS, "x") } }),
  );
  const gauge = new Gauge();
  await gauge.look();
  const sentBefore = (await sent()).east ?? 0;
  const jobs = Array.from({ length: Math.ceil(COUNT / PER_JOB) }, (_, index) => `j${index}`);
  for (const [index, job] of jobs.entries()) {
    const volumes = names.slice(index * PER_JOB, (index + 1) * PER_JOB).map((name) => ({ name, configMap: { name } }));
    await at.submit(job, { ...onEast, pod: { ...forever, spec: { volumes } } });
  }
  await untilIt(at, COUNT, () => copiesOn(at, "east"), gauge);
  gauge.show(`${COUNT} distinct ones of ${CHARS} characters`);
  for (const name of PROGRAMS) expect(fleet.process(name).running, `${name} runs`).toBe(true);
  for (const name of PROGRAMS) expect(gauge.gained(name), `what ${name} gained`).toBeLessThan(GROWTH_MIB);
  expect(((await sent()).east ?? 0) - sentBefore, "transfers").toBe(COUNT);
  for (const job of jobs) await at.delete(job);
  await untilIt(at, 0, () => copiesOn(at, "east"), gauge);
  const before = gauge.before.get("Redis") ?? Number.NaN;
  await fleet.until("Redis has given back what it held", async () => (await redisMiB()) < before + 8);
});
