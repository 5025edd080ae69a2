/**
 * `StopThenRedispatch` promises that no two clusters run pods of a Job at once, as long as the agent and its API server live.
 * From the shortest lostAfter that the resource permits to its default, every way to lose contact, every change of a pod.
 */

import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, EPOCH, ON_CLUSTER_LOST } from "@jobferry/shared/protocol/marks.ts";
import type { Address } from "@jobferry/shared/queue/bus.ts";
import { afterEach, describe, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

let fleet: Fleet;
let running: RunningPods;
afterEach(async () => {
  running.stop();
  await fleet.stop();
});

const GRACE_SECONDS = 30;
const STEP_MS = 5_000;
const LIMIT_MS = 40 * 60_000;

/** Loses contact with a cluster in some way; may go on for a while, and is called only once. */
type Fault = (from: string, lostAfterSeconds: number) => Promise<void>;

const about = (address: Address, cluster: string): boolean => "cluster" in address && address.cluster === cluster;
const cut = (from: string): void => {
  fleet.bus.fate = (address) => (about(address, from) ? [] : [0]);
};

const faults: Record<string, Fault> = {
  "nothing gets through": async (from) => cut(from),
  "only its reports are lost": async (from) => {
    fleet.bus.fate = (address) => (about(address, from) && address.box === "reports" ? [] : [0]);
  },
  "its reports are lost and what it hears is a minute old": async (from) => {
    fleet.bus.fate = (address) => (!about(address, from) ? [0] : address.box === "reports" ? [] : [60_000]);
  },
  "its agent is restarted meanwhile": async (from, lostAfterSeconds) => {
    cut(from);
    await watch((lostAfterSeconds * 1000) / 2);
    await fleet.stopAgent(from);
    fleet.startAgent(from);
  },
  "the manager is restarted meanwhile": async (from, lostAfterSeconds) => {
    cut(from);
    await watch((lostAfterSeconds * 1000) / 2);
    await fleet.stopManager();
    fleet.startManager();
  },
  "it is heard for a moment, and the manager restarted": async (from, lostAfterSeconds) => {
    cut(from);
    await watch(lostAfterSeconds * 1000 - 5_000);
    fleet.bus.fate = () => [0];
    await watch(6_000);
    cut(from);
    await fleet.stopManager();
    fleet.startManager();
  },
  "its lostAfter is made shorter meanwhile": async (from) => {
    cut(from);
    await watch(10_000);
    await fleet.hub.api.patch(workerClusters, { name: from }, { type: "merge", body: { spec: { lostAfter: "30s" } } });
  },
};

/** The clusters on which a pod of any Job is not over yet, now and at any time before. */
class RunningPods {
  readonly #clusterOf = new Map<string, string>();
  readonly #stop = new AbortController();
  /** What must never be. */
  readonly overlaps: string[] = [];

  constructor({ workers, clock }: Fleet) {
    for (const [name, { cluster }] of workers) {
      const reflector = new Reflector({ api: cluster.api, clock, resource: pods });
      const seen = (pod: Pod): void => this.#seen(name, pod);
      reflector.addHandler({ added: seen, updated: (_, pod) => seen(pod), deleted: (pod) => this.#over(pod) });
      void reflector.start(this.#stop.signal);
    }
  }

  get clusters(): string[] {
    return [...new Set(this.#clusterOf.values())];
  }

  stop(): void {
    this.#stop.abort();
  }

  #seen(cluster: string, pod: Pod): void {
    const { phase } = pod.status ?? {};
    if (phase === "Succeeded" || phase === "Failed") this.#over(pod);
    else this.#clusterOf.set(pod.metadata.uid ?? "", cluster);
    if (this.clusters.length > 1) this.overlaps.push(this.clusters.join(" and "));
  }

  #over({ metadata }: Pod): void {
    this.#clusterOf.delete(metadata.uid ?? "");
  }
}

async function watch(durationMs: number, over: () => boolean = () => false): Promise<void> {
  for (let left = durationMs; left > 0 && !over(); left -= STEP_MS) {
    await fleet.clock.advance(Math.min(left, STEP_MS));
    expect(running.overlaps).toEqual([]);
  }
}

const seconds = (duration: string): number => Number(duration.slice(0, -1)) * (duration.endsWith("m") ? 60 : 1);

async function loseContact(lostAfter: string, fault: Fault, graceSeconds: number): Promise<void> {
  fleet = await new Fleet({
    spec: { lostAfter },
    workers: ["east", "west", "north"],
    // As long as a pod may take to stop.
    behaviour: () => ({ runMs: 24 * 3_600_000, stopMs: graceSeconds * 1000 - 100 }),
  }).start();
  running = new RunningPods(fleet);
  const containers = [{ name: "main", image: "busybox" }];
  const template = { spec: { restartPolicy: "Never", terminationGracePeriodSeconds: graceSeconds, containers } };
  await fleet.submit("x", { template }, { annotations: { [ON_CLUSTER_LOST]: "StopThenRedispatch" } });
  await fleet.until(async () => (await fleet.job("x"))?.status?.active === 1);
  await fleet.clock.advance(60_000);
  const from = (await fleet.job("x"))?.metadata.annotations?.[CLUSTER] ?? "";
  expect(running.clusters).toEqual([from]);
  await fault(from, seconds(lostAfter));
  const hasMoved = (): boolean => running.clusters.length === 1 && running.clusters[0] !== from;
  await watch(LIMIT_MS, hasMoved);
  expect(hasMoved()).toBe(true);
  expect((await fleet.job("x"))?.metadata.annotations?.[EPOCH]).toBe("2");
}

describe.each(["30s", "45s", "90s", "3m", "15m"])("StopThenRedispatch with lostAfter %s", (lostAfter) => {
  it.each(Object.entries(faults))("%s: one cluster stops before another starts", async (_, fault) => {
    await loseContact(lostAfter, fault, GRACE_SECONDS);
  });
});

it.each([1, 300])("StopThenRedispatch of pods that take %d s to stop", async (graceSeconds) => {
  await loseContact("30s", async (from) => cut(from), graceSeconds);
});
