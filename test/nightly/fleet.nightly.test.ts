/**
 * Minutes on a real fleet: a steady stream of Jobs without faults (nothing may pile up), then the same with faults. JOBFERRY_NIGHTLY_MINUTES
 * says how long each lasts, JOBFERRY_NIGHTLY_SEED repeats a night's choices (not its timing).
 */
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { leases } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Random } from "../differential/random.ts";
import type { FleetNamespace } from "../e2e/dispatch/fleet-namespace.ts";
import { RealFleet } from "../e2e/dispatch/real-fleet.ts";

const { JOBFERRY_NIGHTLY_MINUTES = "5", JOBFERRY_NIGHTLY_SEED = String(Date.now() % 1_000_000) } = process.env;
const DURATION_MS = Number(JOBFERRY_NIGHTLY_MINUTES) * 60_000;
const LIMIT = { timeout: 2 * DURATION_MS + 600_000 };
const random = new Random(Number(JOBFERRY_NIGHTLY_SEED));
/** Enough to keep all parts busy on two cores, few enough not to fall behind. */
const EVERY_MS = 500;
const UNFINISHED_AT_ONCE = 20;
/** What a process may gain between the second and the last quarter of the stream: caches breathe, leaks grow. */
const GROWTH_MIB = 64;

const fleet = new RealFleet({ logLevel: "info" });
beforeAll(async () => {
  console.log(`nightly seed ${JOBFERRY_NIGHTLY_SEED}, ${JOBFERRY_NIGHTLY_MINUTES} minutes each`);
  await fleet.start();
}, 300_000);
afterAll(() => fleet.stop());

interface Submitted {
  readonly name: string;
  readonly completions: number;
}

/** Submits Jobs until the time is over; resolves to all of them. */
async function stream(at: FleetNamespace, until: number): Promise<Submitted[]> {
  const submitted: Submitted[] = [];
  const running = new Set<Promise<unknown>>();
  while (performance.now() < until) {
    if (running.size >= UNFINISHED_AT_ONCE) await Promise.race(running);
    const job = { name: `j${submitted.length}`, completions: random.int(1, 3) };
    const spec = { completionMode: "Indexed", completions: job.completions, parallelism: job.completions } as const;
    const pod = { annotations: { "instant-pods/run": `${random.int(0, 3_000)}ms` } };
    await at.submit(job.name, { spec, pod });
    submitted.push(job);
    const finished: Promise<unknown> = at.untilFinished(job.name).finally(() => running.delete(finished));
    running.add(finished);
    await delay(EVERY_MS);
  }
  await Promise.all(running);
  return submitted;
}

/** Each ended well, each pod was created once, nothing is left on the workers. */
async function expectExact(at: FleetNamespace, jobs: readonly Submitted[], created: (job: string) => Promise<number>) {
  const wrong: string[] = [];
  for (const { name, completions } of jobs) {
    const { status } = await at.untilFinished(name);
    const pods = await created(name);
    if (status?.succeeded !== completions || (status.failed ?? 0) > 0 || pods !== completions)
      wrong.push(
        `${name}: ${status?.succeeded} of ${completions} succeeded, ${status?.failed ?? 0} failed, ${pods} pods`,
      );
  }
  expect(wrong).toEqual([]);
  for (const { name } of jobs) await at.untilNothingIsLeft(name);
}

async function residentMiB(name: string): Promise<number> {
  const text = await readFile(`/proc/${fleet.process(name).pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]) / 1024;
}

const PROGRAMS = ["manager", "east", "west"];

it("a steady stream leaves nothing behind and does not make the programs grow", LIMIT, async () => {
  const at = await fleet.namespace("soak");
  const created = await at.countPods();
  const samples = new Map<string, number[]>(PROGRAMS.map((name) => [name, []]));
  const end = performance.now() + DURATION_MS;
  const streaming = stream(at, end);
  while (performance.now() < end) {
    for (const [name, values] of samples) values.push(await residentMiB(name));
    await delay(DURATION_MS / 100);
  }
  await expectExact(at, await streaming, created);
  for (const [name, values] of samples) {
    const quarter = (index: number): number =>
      Math.min(...values.slice((index * values.length) / 4, ((index + 1) * values.length) / 4));
    console.log(`${name}: ${quarter(1).toFixed(0)} MiB, later ${quarter(3).toFixed(0)} MiB`);
    expect(quarter(3) - quarter(1), `MiB gained by ${name}`).toBeLessThan(GROWTH_MIB);
  }
  await at.until("no message is left in Redis", async () => (await fleet.redis.keys("*:wait")).length === 0);
});

const faults: Record<string, () => Promise<void>> = {
  "the manager is killed": async () => {
    await fleet.kill("manager");
    // Else its successor waits until the Lease has expired.
    await fleet.hub.api.delete(leases, { namespace: "jobferry-system", name: "jobferry-manager" });
    fleet.startManager();
  },
  "an agent is killed": async () => {
    const name = random.pick(["east", "west"]);
    await fleet.kill(name);
    fleet.startAgent(name);
  },
  "an agent stands still": async () => {
    const agent = fleet.process(random.pick(["east", "west"]));
    agent.kill("SIGSTOP");
    await delay(random.int(1_000, 8_000));
    agent.kill("SIGCONT");
  },
  "the manager stands still": async () => {
    const manager = fleet.process("manager");
    manager.kill("SIGSTOP");
    await delay(random.int(1_000, 8_000));
    manager.kill("SIGCONT");
  },
  "Redis is emptied": async () => {
    await fleet.redis.flushall();
  },
  "Redis closes all connections": async () => {
    await fleet.redis.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
  },
};

it("the same with faults, one every few seconds: no Job is lost, none runs twice", LIMIT, async () => {
  const at = await fleet.namespace("chaos");
  const created = await at.countPods();
  const end = performance.now() + DURATION_MS;
  const streaming = stream(at, end);
  const happened: string[] = [];
  while (performance.now() < end) {
    await delay(random.int(2_000, 12_000));
    const [first = "", ...others] = Object.keys(faults);
    const fault = random.pick([first, ...others]);
    happened.push(fault);
    await faults[fault]?.();
  }
  console.log(`${happened.length} faults: ${happened.join(", ")}`);
  await expectExact(at, await streaming, created);
});
