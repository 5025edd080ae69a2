import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { PRIORITY, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { type ClusterName, hubUid } from "@jobferry/shared/protocol/names.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { describe, expect, it } from "vitest";
import { Clusters } from "../../clusters/clusters.ts";
import { readWishes, type Wishes } from "../../hub/wishes.ts";
import { aHubJob, EAST, epochOf, phases, WEST } from "../../testing/hub-job.ts";
import { aCluster, aShape } from "../fit/testing.ts";
import { Ledger } from "../ledger.ts";
import { Placement } from "../placement.ts";
import { Queues } from "../queues.ts";

const MINUTE = 60_000;
const wishesOf = (job: Job): Wishes => (readWishes(job) as { wishes: Wishes }).wishes;

interface Asks {
  readonly queue?: string;
  readonly priority?: number;
  readonly spec?: object;
}

/** Clusters with nodes of 8 CPUs; how much is free on each is said by `report`. */
class World {
  readonly clock = new VirtualClock();
  readonly #clusters = new Clusters(this.clock, "key");
  readonly #ledger = new Ledger(this.#clusters);
  readonly #jobs = new Map<string, Job>();
  readonly #queues: Map<string, JobQueue>;
  clusterSpec = {};
  readonly placement: Placement;

  constructor(queues: Record<string, NonNullable<JobQueue["spec"]>> = {}) {
    this.#queues = new Map<string, JobQueue>(
      Object.entries({ default: { reserveAfter: "30m" }, ...queues }).map(([name, spec]) => [
        name,
        { metadata: { name }, spec },
      ]),
    );
    const { clock } = this;
    this.placement = new Placement({
      ...{ clock, clusters: this.#clusters, ledger: this.#ledger, phases },
      queues: new Queues({
        ...{ ledger: this.#ledger, clusters: this.#clusters, clock, labelsOfNamespace: () => undefined },
        queueNamed: (name) => this.#queues.get(name),
        all: () => this.#queues.values(),
      }),
      enqueue: () => {},
      jobOf: (uid) => this.#jobs.get(uid),
    });
  }

  editQueue(name: string, spec: NonNullable<JobQueue["spec"]>): void {
    this.#queues.set(name, { metadata: { name }, spec });
    this.placement.queueChanged(name);
  }

  report(name: ClusterName, ...free: number[]): void {
    if (this.#clusters.get(name) === undefined)
      this.#clusters.upsert(name, { metadata: { name, uid: name }, spec: { publicKey: "", ...this.clusterSpec } });
    const node = { resources: ["cpu", "pods"], allocatable: [8000, 100] };
    const gpu = { labels: {}, taints: [{ key: "gpu", effect: "NoSchedule" as const }] };
    const figures = { cpu: "8", pods: "100" };
    this.#clusters.get(name)?.heard({
      ...{ kind: "heartbeat", clusterID: "c", agentVersion: "t", kubernetesVersion: "t", stamp: "s" },
      ...{ resourceVersion: 1, managerKeys: ["key"], capacity: figures },
      ...{ free: figures, largestFreeNode: figures, largestNode: figures },
      nodes: aCluster([
        aShape({ ...node, nodes: free.length, free: free.map((cpu) => ({ nodes: 1, room: [cpu * 1000, 50] })) }),
        aShape({ ...node, ...gpu, nodes: 1, free: [{ nodes: 1, room: [2000, 50] }] }),
      ]),
    });
    this.placement.clusterChanged(name);
  }

  /** Its answer. */
  ask(name: string, cpu: number, { queue = "default", priority = 0, spec = {} }: Asks = {}) {
    const known = this.#jobs.get(name);
    const job = known ?? aJob(name, cpu, queue, priority, spec);
    this.#jobs.set(name, job);
    return this.placement.consider(job, wishesOf(job));
  }

  /** One that has a cluster already. */
  runs(name: string, cluster: ClusterName, cpu: number): void {
    const job = aJob(name, cpu, "default", 0, {});
    const marks = phases.annotationsOf(job, { cluster, queue: "default", epoch: epochOf(1) }, false);
    const annotations = { ...job.metadata.annotations, ...marks } as Record<string, string>;
    const assigned = { ...job, metadata: { ...job.metadata, annotations }, status: { ready: 1 } };
    this.#jobs.set(name, assigned);
    this.placement.observe(hubUid.parse(name), assigned);
  }

  async wait(minutes: number, report: () => void): Promise<void> {
    for (let i = 0; i < minutes * 12; i++) {
      await this.clock.advance(MINUTE / 12);
      report();
    }
  }
}

function aJob(name: string, cpu: number, queue: string, priority: number, spec: object): Job {
  const uid = hubUid.parse(name);
  const annotations = { [PRIORITY]: String(priority) };
  const job = aHubJob({ metadata: { uid, name, annotations, labels: { [QUEUE_LABEL]: queue } } });
  const [container] = job.spec.template.spec.containers;
  if (container !== undefined) container.resources = { requests: { cpu: String(cpu) } };
  Object.assign(job.spec.template.spec, spec);
  return { ...job, spec: { ...job.spec, parallelism: 1, completions: 1 } };
}

/** One pod that needs a whole node, half an hour later; a node of each cluster is half free. */
async function starving(world: World, clusters: readonly ClusterName[]): Promise<() => void> {
  const report = (): void => {
    for (const name of clusters) world.report(name, 4, 0);
  };
  report();
  for (const name of clusters) world.runs(`on-${name}`, name, 4);
  expect(world.ask("big", 8)).not.toHaveProperty("cluster");
  await world.wait(31, report);
  return report;
}

describe("a Job that needs a whole node and has waited for long enough", () => {
  it("has the nodes kept for it: others do not start there, and are told why", async () => {
    const world = new World();
    const report = await starving(world, [EAST]);
    expect(world.ask("small", 1)).toMatchObject({
      reason: "waiting: east: what becomes free is kept for a Job that has waited for long",
    });
    await world.wait(1, report);
    expect(world.ask("big", 8)).toMatchObject({
      reason: expect.stringMatching(
        /^waiting: what becomes free on east is kept for it: no room for one pod now \(cpu: /,
      ),
    });
  });

  it("starts once one of them is empty, and the cluster is open again", async () => {
    const world = new World();
    await starving(world, [EAST]);
    expect(world.ask("small", 1)).not.toHaveProperty("cluster");
    world.report(EAST, 8, 4);
    expect(world.ask("big", 8)).toMatchObject({ cluster: EAST });
    expect(world.ask("small", 1)).toMatchObject({ cluster: EAST });
  });

  it("keeps nobody away whose pods can go to other nodes only, and no other cluster", async () => {
    const world = new World();
    await starving(world, [EAST]);
    const spec = { tolerations: [{ key: "gpu" }], nodeSelector: { only: "gpu" } };
    const tainted = world.ask("elsewhere", 1, { spec });
    expect(tainted).not.toMatchObject({ reason: expect.stringContaining("is kept for") });
    world.report(WEST, 4, 0);
    expect(world.ask("small", 1)).toMatchObject({ cluster: WEST });
  });

  it("has another cluster kept when nothing becomes free on the first", async () => {
    const world = new World();
    const report = await starving(world, [EAST, WEST]);
    const kept = (): string => /on (east|west) is kept/.exec(String(Object.values(world.ask("big", 8))[0]))?.[1] ?? "";
    await world.wait(1, report);
    const first = kept();
    expect(first).not.toBe("");
    await world.wait(31, report);
    const second = kept();
    expect([first, second].sort()).toEqual(["east", "west"]);
    // And back, after twice as long.
    await world.wait(31, report);
    expect(kept()).toBe(second);
    await world.wait(31, report);
    expect(kept()).toBe(first);
  });

  it("gives up a cluster on which none of our Jobs is in the way", async () => {
    const world = new World();
    const report = (): void => world.report(EAST, 4, 0);
    report();
    expect(world.ask("big", 8)).not.toHaveProperty("cluster");
    await world.wait(31, report);
    expect(world.ask("one", 1)).not.toHaveProperty("cluster");
    await world.wait(3, report);
    expect(world.ask("two", 1)).toMatchObject({ cluster: EAST });
  });

  it.each<[string, NonNullable<JobQueue["spec"]>]>([
    ["is paused", { paused: true }],
    ["has a quota that is too small", { quota: { resources: { cpu: "4" } } }],
  ])("keeps nothing once its queue %s", async (_, spec) => {
    const world = new World({ other: {} });
    const report = await starving(world, [EAST]);
    expect(world.ask("one", 1, { queue: "other" })).not.toHaveProperty("cluster");
    world.editQueue("default", { reserveAfter: "30m", ...spec });
    await world.wait(1, report);
    expect(world.ask("two", 1, { queue: "other" })).toMatchObject({ cluster: EAST });
  });

  it("has a cluster kept that runs all the Jobs that it may", async () => {
    const world = new World();
    world.clusterSpec = { maxJobs: 1 };
    await starving(world, [EAST]);
    world.placement.observe(hubUid.parse("on-east"), undefined);
    expect(world.ask("small", 1)).not.toHaveProperty("cluster");
    world.report(EAST, 8, 4);
    expect(world.ask("big", 8)).toMatchObject({ cluster: EAST });
  });

  it.each<[string, NonNullable<JobQueue["spec"]>, boolean]>([
    ["nothing", {}, false],
    ["a quota alone", { quota: { resources: { cpu: "4" } } }, false],
    ["the right to take back its quota", { quota: { resources: { cpu: "4" } }, preemption: { reclaim: "Any" } }, true],
    ["a quota that is too small", { quota: { resources: { cpu: "500m" } }, preemption: { reclaim: "Any" } }, false],
  ])("yields to a Job whose queue has %s: %s", async (_, spec, yields) => {
    const world = new World({ other: spec });
    const report = await starving(world, [EAST]);
    expect(world.ask("small", 1, { queue: "other" })).not.toHaveProperty("cluster");
    await world.wait(1, report);
    expect("cluster" in world.ask("small", 1, { queue: "other" })).toBe(yields);
  });
});
