/** Generated workloads on a small fleet, step by step: what placement promises holds at every step, and every Job ends. */
import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { GANG, LEAVING, PREEMPTED, PRIORITY, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { type ClusterName, type HubUid, hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Clusters } from "../clusters/clusters.ts";
import { leavingMark } from "../hub/leaving.ts";
import { nextPreempted, protectedUntil } from "../hub/preempted.ts";
import { readWishes, type Wishes } from "../hub/wishes.ts";
import { aHubJob, epochOf, phases } from "../testing/hub-job.ts";
import { queueObstacle } from "./eligibility.ts";
import { jobNeeds } from "./fit/job-needs.ts";
import { aCluster, aShape } from "./fit/testing.ts";
import { Ledger } from "./ledger.ts";
import { isWithinGuarantee } from "./order/quota.ts";
import { Placement } from "./placement.ts";
import { Queues } from "./queues.ts";

const STEP_MS = 10_000;
/** One node each, so that who leaves surely makes room. */
const CPUS = 8;
const NAMES = ["a", "b"].map(parseClusterName);
const NOWHERE = parseClusterName("nowhere");
const QUEUES: Record<string, NonNullable<JobQueue["spec"]>> = {
  prod: { quota: { resources: { cpu: "8" } }, preemption: { reclaim: "Any" } },
  dev: { quota: { resources: { cpu: "4" } }, cohort: "c", preemption: { withinQueue: "LowerPriority" } },
  guest: { cohort: "c", borrowLimit: { resources: { cpu: "4" } } },
  free: { reserveAfter: "2m" },
};

interface Planned {
  readonly at: number;
  readonly queue: string;
  readonly cpu: number;
  readonly pods: number;
  readonly priority: number;
  readonly steps: number;
}

interface Running {
  readonly cluster: ClusterName;
  left: number;
  /** Steps until a Job that was asked back has gone. */
  leavesIn: number | undefined;
}

class World {
  readonly clock = new VirtualClock();
  readonly clusters = new Clusters(this.clock, "key");
  readonly ledger = new Ledger(this.clusters);
  readonly queues = new Queues({
    queueNamed: (name) => this.#objects.get(name),
    labelsOfNamespace: () => undefined,
    ledger: this.ledger,
    all: () => this.#objects.values(),
    clusters: this.clusters,
    clock: this.clock,
  });
  readonly #objects = new Map<string, JobQueue>();
  readonly asked = new Set<HubUid>();
  readonly jobs = new Map<HubUid, Job>();
  readonly plans = new Map<HubUid, Planned>();
  readonly running = new Map<HubUid, Running>();
  readonly placement = new Placement({
    ...{ clock: this.clock, clusters: this.clusters, queues: this.queues, ledger: this.ledger, phases },
    enqueue: (uid) => this.asked.add(uid),
    jobOf: (uid) => this.jobs.get(uid),
  });
  displacements = 0;

  constructor() {
    for (const [name, spec] of Object.entries(QUEUES)) this.#objects.set(name, { metadata: { name }, spec });
    for (const name of NAMES) this.clusters.upsert(name, { metadata: { name, uid: name }, spec: { publicKey: "" } });
    this.#report();
  }

  used(cluster: ClusterName): number {
    let sum = 0;
    for (const [uid, { cluster: where }] of this.running) if (where === cluster) sum += this.#cpuOf(uid);
    return sum;
  }

  /** Pods that run at a time and have room do. */
  #cpuOf(uid: HubUid): number {
    const { cpu = 0, pods = 0 } = this.plans.get(uid) ?? {};
    return cpu * pods;
  }

  submit(number: number, planned: Planned): void {
    const uid = hubUid.parse(`u-${number}`);
    const annotations = { [GANG]: "true", [PRIORITY]: String(planned.priority) };
    const job = aHubJob({ metadata: { uid, name: uid, annotations, labels: { [QUEUE_LABEL]: planned.queue } } });
    const [container] = job.spec.template.spec.containers;
    if (container !== undefined) container.resources = { requests: { cpu: String(planned.cpu) } };
    this.plans.set(uid, planned);
    this.jobs.set(uid, { ...job, spec: { ...job.spec, parallelism: planned.pods, completions: planned.pods } });
    this.asked.add(uid);
  }

  async step(): Promise<void> {
    for (const [uid, running] of this.running) {
      if (running.leavesIn !== undefined && running.leavesIn-- <= 0) this.#left(uid);
      else if (--running.left <= 0) this.#finished(uid);
    }
    this.#report();
    this.settle();
    await this.clock.advance(STEP_MS);
    this.settle();
  }

  /** Does what the reconciler does with each answer. */
  settle(): void {
    for (const uid of this.asked) {
      this.asked.delete(uid);
      const job = this.jobs.get(uid);
      if (job === undefined) continue;
      if (this.running.has(uid)) this.#askBack(uid, job);
      else this.#consider(uid, job);
    }
  }

  #consider(uid: HubUid, job: Job): void {
    const decision = this.placement.consider(job, wishesOf(job));
    if (!("cluster" in decision)) return;
    const { cluster, queue } = decision;
    const marks = phases.annotationsOf(job, { cluster, queue, epoch: epochOf(1) }, false);
    this.running.set(uid, { cluster, left: this.plans.get(uid)?.steps ?? 1, leavesIn: undefined });
    const status = { ready: this.plans.get(uid)?.pods ?? 1, startTime: timestamp(this.clock.now()) };
    this.#store(uid, { ...job, status }, marks);
  }

  #askBack(uid: HubUid, job: Job): void {
    const why = this.placement.displaced(uid);
    const running = this.running.get(uid);
    if (why === undefined || running === undefined || running.leavesIn !== undefined) return;
    running.leavesIn = 1;
    this.displacements++;
    this.#store(uid, job, { [LEAVING]: leavingMark({ epoch: epochOf(1) }, { kind: "preempted", text: why }) });
  }

  #left(uid: HubUid): void {
    const job = this.jobs.get(uid);
    const running = this.running.get(uid);
    if (job === undefined || running === undefined) return;
    this.running.delete(uid);
    const assignment = { cluster: running.cluster, queue: "", epoch: epochOf(1) };
    const marks = phases.annotationsOf(job, assignment, true);
    const { status: _, ...waiting } = job;
    this.#store(uid, waiting, { ...marks, [LEAVING]: null, [PREEMPTED]: nextPreempted(job, this.clock.now()) });
    this.asked.add(uid);
  }

  #finished(uid: HubUid): void {
    this.running.delete(uid);
    this.jobs.delete(uid);
    this.placement.observe(uid, undefined);
  }

  #store(uid: HubUid, job: Job, marks: Record<string, string | null>): void {
    const all = Object.entries({ ...job.metadata.annotations, ...marks });
    const annotations = Object.fromEntries(all.filter((mark): mark is [string, string] => mark[1] !== null));
    const stored = { ...job, metadata: { ...job.metadata, annotations } };
    this.jobs.set(uid, stored);
    this.placement.observe(uid, stored);
  }

  #report(): void {
    for (const name of NAMES) {
      const free = CPUS - this.used(name);
      const figures = { cpu: String(free), pods: "100" };
      const rows = [{ nodes: 1, room: [free * 1000, 100] }];
      const shape = { nodes: 1, resources: ["cpu", "pods"], allocatable: [CPUS * 1000, 100], free: rows };
      this.clusters.get(name)?.heard({
        ...{ kind: "heartbeat", clusterID: "c", agentVersion: "t", kubernetesVersion: "t", stamp: "s" },
        ...{ resourceVersion: 1, managerKeys: ["key"], capacity: { cpu: String(CPUS), pods: "100" } },
        ...{ free: figures, largestFreeNode: figures, largestNode: { cpu: String(CPUS), pods: "100" } },
        nodes: aCluster([aShape(shape)]),
      });
      this.placement.clusterChanged(name);
    }
  }

  waiting(): [HubUid, Job][] {
    return [...this.jobs].filter(([uid]) => !this.running.has(uid));
  }

  /** Waits although its queue and a cluster would take it, room that is kept aside. */
  overlooked(): HubUid[] {
    return this.waiting().flatMap(([uid, job]) => {
      const view = this.queues.view(wishesOf(job).queue);
      if (view === undefined) return [];
      const held = queueObstacle({ ...jobNeeds(job), namespace: job.metadata.namespace ?? "" }, view);
      return held === undefined && this.placement.fitsElsewhere(job, wishesOf(job), NOWHERE) ? [uid] : [];
    });
  }

  /** Waits for what its queue is guaranteed, while others hold more than theirs that they could give. */
  denied(): HubUid[] {
    return this.waiting().flatMap(([uid, job]) => {
      const { queue } = wishesOf(job);
      const asks = this.#cpuOf(uid) * 1000;
      const asked = new Map([["cpu", asks]]);
      if (QUEUES[queue]?.preemption?.reclaim !== "Any" || !isWithinGuarantee(asked, this.queues.quotaOf(queue)))
        return [];
      const couldHave = NAMES.some((name) => {
        let room = (CPUS - this.used(name)) * 1000;
        const over = new Map<string, number>();
        for (const [holder, { cluster }] of this.running) {
          const other = this.jobs.get(holder);
          if (cluster !== name || other === undefined || protectedUntil(other) > this.clock.now()) continue;
          const owner = wishesOf(other).queue;
          const { used, quota } = this.queues.quotaOf(owner);
          const excess = over.get(owner) ?? (used.get("cpu") ?? 0) - (quota.get("cpu") ?? 0);
          if (owner === queue || excess <= 0) continue;
          room += this.#cpuOf(holder) * 1000;
          over.set(owner, excess - this.#cpuOf(holder) * 1000);
        }
        return room >= asks;
      });
      return couldHave ? [uid] : [];
    });
  }
}

const wishesOf = (job: Job): Wishes => (readWishes(job) as { wishes: Wishes }).wishes;

const planned: fc.Arbitrary<Planned> = fc
  .record({
    at: fc.nat(40),
    queue: fc.constantFrom(...Object.keys(QUEUES)),
    cpu: fc.integer({ min: 1, max: 4 }),
    pods: fc.integer({ min: 1, max: 2 }),
    priority: fc.nat(3),
    steps: fc.integer({ min: 1, max: 30 }),
  })
  // What could never run would only wait.
  .map((job) => (job.queue === "dev" || job.queue === "guest" ? { ...job, pods: 1 } : job));

/** A look is made every five seconds at the latest, one Job of a queue displaces others in each, and they need two steps to go. */
const PATIENCE_STEPS = 12;
const LIMIT_STEPS = 2_000;

describe("generated workloads", () => {
  it("no node holds more than it has; who is owed something gets it; nobody is overlooked; every Job ends", async () => {
    let displacements = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(planned, { minLength: 4, maxLength: 25 }), async (plan) => {
        const world = new World();
        const deniedFor = new Map<HubUid, number>();
        for (let step = 0; step < LIMIT_STEPS && (step <= 40 || world.jobs.size > 0); step++) {
          for (const [number, job] of plan.entries()) if (job.at === step) world.submit(number, job);
          await world.step();
          for (const name of NAMES) expect(world.used(name)).toBeLessThanOrEqual(CPUS);
          expect(world.overlooked()).toEqual([]);
          const denied = world.denied();
          for (const uid of deniedFor.keys()) if (!denied.includes(uid)) deniedFor.delete(uid);
          for (const uid of denied.slice(0, 1)) deniedFor.set(uid, (deniedFor.get(uid) ?? 0) + 1);
          expect(Math.max(0, ...deniedFor.values())).toBeLessThanOrEqual(PATIENCE_STEPS);
        }
        displacements += world.displacements;
        expect(world.jobs.size).toBe(0);
      }),
      { numRuns: 40 },
    );
    // Otherwise this would say nothing about them.
    expect(displacements).toBeGreaterThan(20);
  });
});
