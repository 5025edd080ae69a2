/** Jobs with and without shadows: how soon they are shown, what they cost the hub, and how fast a flood of them goes. */
import { setTimeout as delay } from "node:timers/promises";
import { events } from "@jobferry/shared/kube/resources.ts";
import type { FleetNamespace } from "@jobferry/test/e2e/dispatch/fleet-namespace.ts";
import type { RealFleet } from "@jobferry/test/e2e/dispatch/real-fleet.ts";
import { writesOf } from "../dispatch/counters.ts";
import type { Writes } from "../dispatch/figures.ts";
import { writesSince } from "../job-controller/counters.ts";
import type { Burst, LargeJob, Singles } from "./figures.ts";
import { ShadowWatch } from "./shadow-watch.ts";

const QUIET_MS = 1_500;
const CREATORS = 16;
let serial = 0;
const newName = (): string => `bench-${++serial}`;
const wish = (shadows: boolean) => ({ annotations: shadows ? {} : { "jobferry.dev/pods": "None" } });

/** What `work` makes the hub write, when nothing is written any more. */
async function writesDuring(fleet: RealFleet, work: () => Promise<void>): Promise<Writes> {
  const before = await writesOf([fleet.hub]);
  await work();
  let last = await writesOf([fleet.hub]);
  for (let look = 0; look < 40; look++) {
    await delay(QUIET_MS);
    const now = await writesOf([fleet.hub]);
    const isQuiet = Object.entries(now).every(([kind, count]) => !/pods|jobs/.test(kind) || count === last[kind]);
    last = now;
    if (isQuiet) break;
  }
  return writesSince(before, last);
}

async function watched<T>(at: FleetNamespace, work: (watch: ShadowWatch) => Promise<T>): Promise<T> {
  const watch = new ShadowWatch(at.fleet.hub.api, at.name);
  try {
    await watch.ready();
    return await work(watch);
  } finally {
    await watch.close();
  }
}

export async function singles(fleet: RealFleet, at: FleetNamespace, jobs: number, shadows: boolean): Promise<Singles> {
  const earlyMs: number[] = [];
  const shownMs: number[] = [];
  const completeMs: number[] = [];
  const one = async (watch: ShadowWatch): Promise<void> => {
    const name = newName();
    const seen = watch.of(name);
    const began = performance.now();
    await at.submit(name, wish(shadows));
    await watch.until(() => seen.complete !== undefined && (!shadows || seen.ended !== undefined));
    earlyMs.push((seen.early ?? Number.NaN) - began);
    shownMs.push((seen.shown ?? Number.NaN) - began);
    completeMs.push((seen.complete ?? Number.NaN) - began);
  };
  const hubWrites = await writesDuring(fleet, () =>
    watched(at, async (watch) => {
      for (let job = 0; job < jobs; job++) await one(watch);
    }),
  );
  return { jobs, earlyMs, shownMs, completeMs, hubWrites };
}

export async function burst(fleet: RealFleet, at: FleetNamespace, jobs: number, shadows: boolean): Promise<Burst> {
  let seconds = Number.NaN;
  const hubWrites = await writesDuring(fleet, () =>
    watched(at, async (watch) => {
      const names = Array.from({ length: jobs }, newName);
      const began = performance.now();
      await create(at, names, shadows);
      await watch.until(() => names.every((name) => watch.of(name).complete !== undefined));
      seconds = (performance.now() - began) / 1000;
    }),
  );
  return { jobs, shadows, seconds, hubWrites };
}

async function create(at: FleetNamespace, names: readonly string[], shadows: boolean): Promise<void> {
  const queue = names.values();
  const creator = async (): Promise<void> => {
    for (const name of queue) await at.submit(name, wish(shadows));
  };
  await Promise.all(Array.from({ length: CREATORS }, creator));
}

export async function largeJob(fleet: RealFleet, at: FleetNamespace, pods: number): Promise<LargeJob> {
  const name = newName();
  const began = performance.now();
  let seconds = Number.NaN;
  const hubWrites = await writesDuring(fleet, () =>
    watched(at, async (watch) => {
      const spec = { completionMode: "Indexed" as const, completions: pods, parallelism: Math.min(pods, 500) };
      await at.submit(name, { spec });
      await watch.until(() => watch.of(name).complete !== undefined);
      seconds = (performance.now() - began) / 1000;
    }),
  );
  const { items } = await fleet.hub.api.list(events, { namespace: at.name });
  const said = items.find(({ reason }) => reason === "ShadowPodsLimited")?.message ?? "nothing";
  return { pods, cap: 100, seconds, hubWrites, said };
}
