/**
 * Three real worker clusters and a hub, two managers and an agent for each worker, Redis with a replica and a Sentinel, all
 * behind proxies; Jobs of all kinds, and a fault every second. In the end every Job must have its one right outcome.
 */
import { setTimeout as delay } from "node:timers/promises";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { HUB_UID_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { Redis } from "ioredis";
import { Random } from "../../differential/random.ts";
import type { FleetNamespace } from "../../e2e/dispatch/fleet-namespace.ts";
import { RealFleet } from "../../e2e/dispatch/real-fleet.ts";
import { until } from "../../fleet/until.ts";
import { Faults, PROGRAMS, WORKERS } from "./faults.ts";
import { Network } from "./network.ts";
import { type Planned, problemsOf } from "./outcome.ts";
import { Watch } from "./watch.ts";
import { live } from "./work.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly jobs: number;
  readonly seconds: number;
}

export interface ChaosResult extends ChaosOptions {
  readonly problems: readonly string[];
  readonly faults: readonly string[];
  /** After the last fault: until an unfinished Job changed, and until all were over. */
  readonly moved: { readonly jobs: number; readonly p50: number; readonly p99: number; readonly max: number };
  readonly overAfterMs: number;
}

/** After the last fault. The longest back-off of anything that failed meanwhile is 30 seconds. */
const OVER_MS = 240_000;

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const network = await Network.of(PROGRAMS);
  const fleet = new RealFleet({ workers: WORKERS, pods: true, logLevel: "info", wires: network });
  const watch = new Watch();
  try {
    await fleet.start();
    await network.pair.copyUsers();
    fleet.startManager("second");
    const at = await fleet.namespace("chaos");
    await watch.start(at);
    return await storm(options, { network, fleet, watch, at });
  } finally {
    await watch.stop();
    await fleet.stop();
    await network.close();
  }
}

interface Scene {
  readonly network: Network;
  readonly fleet: RealFleet;
  readonly watch: Watch;
  readonly at: FleetNamespace;
}

async function storm(options: ChaosOptions, scene: Scene): Promise<ChaosResult> {
  const { seed, seconds, jobs: count } = options;
  const { network, fleet, watch, at } = scene;
  const faults = new Faults(fleet, network, new Random(seed));
  const work = new Random(seed + 1);
  const lives: Promise<Planned>[] = [];
  for (let second = 0; second < seconds; second++) {
    for (; lives.length < (count * (second + 1)) / seconds; ) {
      const life = live(at, new Random(work.int(0, 2 ** 31)), `j${lives.length}`);
      life.catch(() => {});
      lives.push(life);
    }
    if (second === Math.floor(seconds / 2)) faults.failOver();
    else faults.strike();
    await delay(1_000);
  }
  await faults.end();
  watch.calm();
  const calmAt = performance.now();
  const problems: string[] = [];
  const planned = await Promise.all(lives);
  await until("every Job is over", () => watch.unfinished().length === 0, { limitMs: OVER_MS, everyMs: 250 }).catch(
    () => {
      for (const name of watch.unfinished())
        problems.push(`${name} is not over: ${JSON.stringify(watch.job(name)?.status)}`);
    },
  );
  const overAfterMs = Math.round(performance.now() - calmAt);
  await until("nothing is left", async () => (await leftovers(scene)).length === 0, {
    limitMs: 90_000,
    everyMs: 500,
  }).catch(async () => problems.push(...(await leftovers(scene))));
  for (const plan of planned) problems.push(...problemsOf(plan, watch.job(plan.name), watch.pods(plan.name)));
  if (problems.length > 0) problems.push(await fleet.logs());
  const moved = watch.movedAfter();
  const rank = (part: number): number => moved[Math.min(moved.length - 1, Math.floor(part * moved.length))] ?? 0;
  return {
    ...options,
    problems,
    faults: faults.happened,
    moved: { jobs: moved.length, p50: rank(0.5), p99: rank(0.99), max: rank(1) },
    overAfterMs,
  };
}

export const lineOf = ({ seed, jobs: count, seconds, faults, problems, moved, overAfterMs }: ChaosResult): string =>
  `chaos seed ${seed}: ${count} Jobs, ${faults.length} faults in ${seconds} s, ${problems.length} problems; after the last fault ` +
  `${moved.jobs} Jobs moved again, p50 ${moved.p50} ms, p99 ${moved.p99} ms, at most ${moved.max} ms; all over after ${overAfterMs} ms`;

/** Mirrors, pods with finalizers, shadows without an end, and messages that nobody takes. */
async function leftovers({ fleet, network, at }: Scene): Promise<string[]> {
  const left: string[] = [];
  for (const [cluster, { api }] of fleet.workers) {
    for (const { metadata } of (await api.list(jobs, { namespace: at.mapped, labelSelector: HUB_UID_LABEL })).items)
      left.push(`a mirror ${metadata.name} on ${cluster}`);
    for (const { metadata } of (await api.list(pods, { namespace: at.mapped })).items)
      left.push(`a pod ${metadata.name} on ${cluster}, finalizers ${metadata.finalizers ?? "none"}`);
  }
  const existing = new Set(
    (await fleet.hub.api.list(jobs, { namespace: at.name })).items.map((job) => job.metadata.uid),
  );
  for (const { metadata, status } of (await fleet.hub.api.list(pods, { namespace: at.name })).items) {
    const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
    if (!isOver || !existing.has(metadata.ownerReferences?.[0]?.uid))
      left.push(`shown pod ${metadata.name}: ${status?.phase}`);
  }
  const redis = new Redis(network.pair.url);
  try {
    for (const state of ["wait", "active", "prioritized", "failed"])
      for (const key of await redis.keys(`*:${state}`)) left.push(`messages in ${key}`);
  } finally {
    redis.disconnect();
  }
  return left;
}
