/**
 * Many references on a real fleet: each travels once, the programs hold a few at a time and not all of them, and Redis keeps none.
 * JOBFERRY_NIGHTLY_REFERENCES says how many there are.
 */
import { readFile } from "node:fs/promises";
import { configMaps } from "@jobferry/shared/kube/resources.ts";
import { COPY_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { forever } from "../e2e/dispatch/fleet-namespace.ts";
import { RealFleet } from "../e2e/dispatch/real-fleet.ts";

const COUNT = Number(process.env.JOBFERRY_NIGHTLY_REFERENCES ?? "10000");
const PER_JOB = 50;
/** All of them are 200 MiB, however many: a program that kept them would not fit into its heap. */
const CHARS = Math.floor((200 * 2 ** 20) / COUNT);
const HEAP = "--max-old-space-size=160";
/** What a program may gain while they pass: some at a time, and the names of all. */
const GROWTH_MIB = 256;
const LIMIT = { timeout: 1_800_000 };
const PROGRAMS = ["manager", "east"];

const fleet = new RealFleet({ workers: ["east"], logLevel: "info", agentFlags: ["--retention-seconds=0"] });
beforeAll(async () => {
  await fleet.start();
  for (const name of PROGRAMS) await fleet.kill(name);
  fleet.startManager("manager", [HEAP]);
  fleet.startAgent("east", [HEAP]);
}, 300_000);
afterAll(() => fleet.stop());

async function residentMiB(name: string): Promise<number> {
  const text = await readFile(`/proc/${fleet.process(name).pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]) / 1024;
}

const redisMiB = async (): Promise<number> =>
  Number(/^used_memory:(\d+)/m.exec(await fleet.redis.info("memory"))?.[1]) / 2 ** 20;

it(`${COUNT} distinct ConfigMaps pass through, and nobody keeps them`, LIMIT, async () => {
  const at = await fleet.namespace("many");
  const { api } = fleet.worker("east");
  const copies = async (): Promise<number> =>
    (await api.list({ ...configMaps, metadataOnly: true }, { namespace: at.mapped, labelSelector: COPY_LABEL })).items
      .length;
  const names = Array.from({ length: COUNT }, (_, index) => `m${index}`);
  const queue = names.values();
  const creator = async (): Promise<void> => {
    for (const name of queue)
      await fleet.hub.api.create(configMaps, at.name, { metadata: { name }, data: { text: name.padEnd(CHARS, "x") } });
  };
  await Promise.all(Array.from({ length: 8 }, creator));
  const before = new Map<string, number>();
  for (const name of PROGRAMS) before.set(name, await residentMiB(name));
  const redisBefore = await redisMiB();
  const most = new Map(before);
  let redisMost = redisBefore;
  const jobs = Math.ceil(COUNT / PER_JOB);
  for (let job = 0; job < jobs; job++) {
    const volumes = names.slice(job * PER_JOB, (job + 1) * PER_JOB).map((name) => ({ name, configMap: { name } }));
    await at.submit(`j${job}`, { pod: { ...forever, spec: { volumes } } });
  }
  for (let known = 0; known < COUNT; known = await copies()) {
    const reached = known;
    await at.until(`there are more than ${reached} copies`, async () => {
      for (const name of PROGRAMS) most.set(name, Math.max(most.get(name) ?? 0, await residentMiB(name)));
      redisMost = Math.max(redisMost, await redisMiB());
      return (await copies()) > reached;
    });
  }
  const show = (mib: number | undefined): string => `${(mib ?? Number.NaN).toFixed(0)} MiB`;
  for (const name of PROGRAMS) console.log(`${name}: ${show(before.get(name))}, at most ${show(most.get(name))}`);
  console.log(`Redis: ${show(redisBefore)}, at most ${show(redisMost)}`);
  for (const name of PROGRAMS) expect(fleet.process(name).running, `${name} runs`).toBe(true);
  for (const name of PROGRAMS)
    expect((most.get(name) ?? 0) - (before.get(name) ?? 0), `what ${name} gained`).toBeLessThan(GROWTH_MIB);
  for (let job = 0; job < jobs; job++) await at.delete(`j${job}`);
  for (let left = COUNT; left > 0; left = await copies()) {
    const reached = left;
    await at.until(`fewer than ${reached} copies are left`, async () => (await copies()) < reached);
  }
  await fleet.until("Redis has given back what it held", async () => (await redisMiB()) < redisBefore + 8);
});
