/** Many worker clusters on one manager: sandbox clusters with their agents, shared out over a few processes. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { usedSince, usesOf } from "./counters.ts";
import { type Enrolled, enrol } from "./enrol.ts";
import type { ManyWorkers, Uses } from "./figures.ts";
import type { BenchFleet } from "./fleet.ts";
import type { Sizes } from "./sizes.ts";
import { Submitter } from "./work.ts";

/** What is measured without Jobs; longer than a heartbeat and an inventory are apart. */
const IDLE_MS = 10_000;
/** A mirror that is not there by then counts as missing. */
const LATE_MS = 15_000;
/** Jobs before the measure begins. */
const WARM_UP_SECONDS = 3;

/** A mirror was seen, by the wall clock. */
export interface MirrorSeen {
  readonly job: string;
  readonly atMs: number;
}

export async function manyWorkers(fleet: BenchFleet, sizes: Sizes): Promise<ManyWorkers> {
  const { workers, processes, perSecond, seconds } = sizes.manyWorkers;
  const enrolled: Enrolled[] = [];
  for (let number = 1; number <= workers; number++) enrolled.push(await enrol(fleet.real, `w${number}`));
  const seen = new Map<string, number>();
  const hosts = Array.from({ length: processes }, (_, index) =>
    startHost(
      enrolled.filter((_, number) => number % processes === index),
      ({ job, atMs }) => seen.set(job, atMs),
    ),
  );
  const submitter = new Submitter(fleet.real.hub.api, "dispatched");
  const parts = { ...fleet.pids, agents: hosts.map(({ pid = 0 }) => pid) };
  const usesOver = async (work: () => Promise<void>): Promise<{ seconds: number; uses: Uses }> => {
    const before = await usesOf(parts);
    const began = performance.now();
    await work();
    return { seconds: (performance.now() - began) / 1000, uses: usedSince(before, await usesOf(parts)) };
  };
  try {
    await untilAllReady(fleet, workers);
    await delay(LATE_MS / 3);
    const idle = await usesOver(() => delay(IDLE_MS));
    await Promise.all((await steadily(submitter, perSecond, WARM_UP_SECONDS)).map(({ created }) => created));
    let jobs: Submitted[] = [];
    const work = await usesOver(async () => {
      jobs = await steadily(submitter, perSecond, seconds);
      await Promise.all(jobs.map(({ created }) => created));
      const deadline = performance.now() + LATE_MS;
      while (jobs.some(({ name }) => !seen.has(name)) && performance.now() < deadline) await delay(50);
    });
    const toMirrorMs = jobs.flatMap(({ name, atMs }) => {
      const mirrored = seen.get(name);
      return mirrored === undefined ? [] : [mirrored - atMs];
    });
    return {
      ...work,
      workers,
      perSecond,
      jobs: jobs.length,
      toMirrorMs,
      missing: jobs.length - toMirrorMs.length,
      idle,
    };
  } finally {
    for (const host of hosts) host.kill("SIGKILL");
    await submitter.close();
  }
}

function startHost(clusters: readonly Enrolled[], onMirror: (seen: MirrorSeen) => void): ChildProcess {
  const host = fork(join(import.meta.dirname, "worker-host.ts"));
  host.on("message", (message) => onMirror(message as MirrorSeen));
  host.send(clusters);
  return host;
}

interface Submitted {
  readonly name: string;
  /** By the wall clock, when the request was sent. */
  readonly atMs: number;
  readonly created: Promise<unknown>;
}

/** Creates Jobs at a steady rate, whether earlier ones have been answered or not. */
async function steadily(submitter: Submitter, perSecond: number, seconds: number): Promise<Submitted[]> {
  const submitted: Submitted[] = [];
  const began = performance.now();
  for (let number = 0; number < perSecond * seconds; number++) {
    await delay(Math.max(0, began + (number * 1000) / perSecond - performance.now()));
    const name = Submitter.newName();
    const atMs = performance.timeOrigin + performance.now();
    submitted.push({ name, atMs, created: submitter.create(name) });
  }
  return submitted;
}

async function untilAllReady(fleet: BenchFleet, count: number): Promise<void> {
  await fleet.real.until(`${count} clusters are connected`, async () => {
    const { items } = await fleet.real.hub.api.list(workerClusters);
    const isReady = ({ type, status }: { type: string; status: string }): boolean =>
      type === "Ready" && status === "True";
    return items.filter(({ status }) => status?.conditions?.some(isReady)).length === count;
  });
}
