/** Placement looks only at what changed. Here it is compared, after every change, with looking at everything. */
import type { JobQueue, WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { CLUSTER_SELECTOR, GANG, PRIORITY, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { type ClusterName, type HubUid, hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Clusters } from "../clusters/clusters.ts";
import type { Health } from "../clusters/health.ts";
import { readWishes, type Wishes } from "../hub/wishes.ts";
import { aHubJob, epochOf, phases } from "../testing/hub-job.ts";
import { queueObstacle } from "./eligibility.ts";
import { hasRoom } from "./fit/fits.ts";
import { jobNeeds } from "./fit/job-needs.ts";
import { aCluster, aShape } from "./fit/testing.ts";
import { type Booking, Ledger } from "./ledger.ts";
import { Placement } from "./placement.ts";
import { Queues } from "./queues.ts";

const NAMES = ["a", "b", "c"].map(parseClusterName);
const NOWHERE = parseClusterName("nowhere");
const QUEUES: Record<string, NonNullable<JobQueue["spec"]>> = {
  free: {},
  tight: { quota: { jobs: 4, resources: { cpu: "8" } } },
  west: { clusterSelector: { matchLabels: { name: "c" } }, placement: "Pack" },
};

const health = (free: readonly number[]): Health => ({
  kind: "heartbeat",
  clusterID: "c",
  agentVersion: "t",
  kubernetesVersion: "t",
  capacity: {},
  free: { cpu: String(free.reduce((sum, cpu) => sum + cpu, 0)), pods: "300" },
  largestFreeNode: { cpu: String(Math.max(0, ...free)), pods: "100" },
  largestNode: { cpu: "8", pods: "100" },
  nodes: aCluster(
    free.length === 0
      ? []
      : [
          aShape({
            nodes: free.length,
            resources: ["cpu", "pods"],
            allocatable: [8000, 100],
            free: free.map((cpu) => ({ nodes: 1, room: [cpu * 1000, 100] })),
          }),
        ],
  ),
  stamp: "s",
  resourceVersion: 1,
  managerKeys: ["key"],
});

/** What is given away must be there at that moment. */
class StrictLedger extends Ledger {
  readonly wrong: string[] = [];
  readonly #clusters: Clusters;

  constructor(clusters: Clusters) {
    super(clusters);
    this.#clusters = clusters;
  }

  override reserve(uid: HubUid, booking: Booking): void {
    const { capacity, object } = this.#clusters.get(booking.cluster) ?? {};
    if (capacity?.nodes !== undefined && !hasRoom(booking.needs, capacity.nodes)) this.wrong.push(`${uid}: no room`);
    if (this.runningOn(booking.cluster) > (object?.spec.maxJobs ?? 99)) this.wrong.push(`${uid}: maxJobs`);
    const { jobs, used } = this.loadOf("tight");
    if (jobs > 4 || (used.get("cpu") ?? 0) > 8000) this.wrong.push(`${uid}: quota`);
    super.reserve(uid, booking);
  }
}

class World {
  readonly clock = new VirtualClock();
  readonly clusters = new Clusters(this.clock, "key");
  readonly ledger = new StrictLedger(this.clusters);
  readonly objects = new Map<string, JobQueue>();
  readonly queues = new Queues({
    queueNamed: (name) => this.objects.get(name),
    labelsOfNamespace: () => undefined,
    ledger: this.ledger,
  });
  readonly asked = new Set<HubUid>();
  readonly placement = new Placement({
    clock: this.clock,
    clusters: this.clusters,
    queues: this.queues,
    ledger: this.ledger,
    phases,
    enqueue: (uid) => this.asked.add(uid),
    undecidedLimit: 2,
  });
  readonly waiting = new Map<HubUid, Job>();
  readonly running = new Map<HubUid, ClusterName>();

  constructor() {
    for (const [name, spec] of Object.entries(QUEUES)) this.objects.set(name, { metadata: { name }, spec });
    for (const name of NAMES) this.edit(name, {});
  }

  edit(name: ClusterName, spec: Partial<WorkerCluster["spec"]>): void {
    const metadata = { name, uid: name, labels: { name } };
    this.clusters.upsert(name, { metadata, spec: { publicKey: "", ...spec } });
    this.placement.clusterChanged(name);
  }

  report(name: ClusterName, free: readonly number[]): void {
    this.clusters.get(name)?.heard(health(free));
    this.placement.clusterChanged(name);
  }

  submit(
    number: number,
    queue: string,
    cpu: number,
    pods: number,
    gang: boolean,
    priority: number,
    only: boolean,
  ): void {
    const uid = hubUid.parse(`u-${number}`);
    const annotations = {
      [GANG]: String(gang),
      [PRIORITY]: String(priority),
      ...(only ? { [CLUSTER_SELECTOR]: "name=b" } : {}),
    };
    const job = aHubJob({ metadata: { uid, name: uid, annotations, labels: { [QUEUE_LABEL]: queue } } });
    const [container] = job.spec.template.spec.containers;
    if (container !== undefined) container.resources = { requests: { cpu: String(cpu) } };
    this.waiting.set(uid, { ...job, spec: { ...job.spec, parallelism: pods, completions: pods } });
    this.asked.add(uid);
  }

  finish(which: number): void {
    const uid = [...this.running.keys()][which % Math.max(1, this.running.size)];
    if (uid === undefined) return;
    this.running.delete(uid);
    this.placement.observe(uid, undefined);
  }

  /** Does what the reconciler does with each answer. */
  settle(): void {
    for (const uid of this.asked) {
      this.asked.delete(uid);
      const job = this.waiting.get(uid);
      if (job === undefined) continue;
      const decision = this.placement.consider(job, wishesOf(job));
      if (!("cluster" in decision)) continue;
      const { cluster, queue } = decision;
      const marks = phases.annotationsOf(job, { cluster, queue, epoch: epochOf(1) }, false);
      const annotations = { ...job.metadata.annotations, ...marks } as Record<string, string>;
      this.waiting.delete(uid);
      this.running.set(uid, cluster);
      this.placement.observe(uid, { ...job, metadata: { ...job.metadata, annotations } });
    }
  }

  /** Those that wait although their queue and a cluster would take them. */
  overlooked(): HubUid[] {
    return [...this.waiting].flatMap(([uid, job]) => {
      const wishes = wishesOf(job);
      const view = this.queues.view(wishes.queue);
      if (view === undefined) return [];
      const held = queueObstacle({ ...jobNeeds(job), namespace: job.metadata.namespace ?? "" }, view);
      return held === undefined && this.placement.fitsElsewhere(job, wishes, NOWHERE) ? [uid] : [];
    });
  }
}

const wishesOf = (job: Job): Wishes => (readWishes(job) as { wishes: Wishes }).wishes;

const cluster = fc.constantFrom(...NAMES);
const free = fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 3 });
type Act = readonly [string, ...unknown[]];
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(
      fc.constant("submit"),
      fc.constantFrom(...Object.keys(QUEUES)),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 2 }),
      fc.boolean(),
      fc.nat(2),
      fc.boolean(),
    ),
  },
  { weight: 4, arbitrary: fc.tuple(fc.constant("report"), cluster, free) },
  { weight: 4, arbitrary: fc.tuple(fc.constant("finish"), fc.nat(9)) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constant("edit"), cluster, fc.record({ cordoned: fc.boolean(), maxJobs: fc.nat(4) })),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constant("pause"), fc.constantFrom(...Object.keys(QUEUES)), fc.boolean()) },
);

/** A Job fits a cluster while its queue has no quota left; the quota comes back from another cluster. */
const HELD_BY_QUOTA: Act[] = [
  ["report", parseClusterName("b"), [4]],
  ["submit", "tight", 4, 1, false, 0, true],
  ["report", parseClusterName("a"), [0]],
  ["submit", "tight", 4, 1, false, 0, false],
  ["report", parseClusterName("b"), [2]],
  ["submit", "tight", 2, 1, false, 0, true],
  ["report", parseClusterName("a"), [4]],
  ["finish", 1],
];

it("no Job waits while its queue and a cluster would take it, and none is given what is not there", () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const world = new World();
      for (const [number, [what, ...args]] of acts.entries()) {
        if (what === "submit") world.submit(number, ...(args as [string, number, number, boolean, number, boolean]));
        else if (what === "report") world.report(...(args as [ClusterName, number[]]));
        else if (what === "finish") world.finish(args[0] as number);
        else if (what === "edit") world.edit(...(args as [ClusterName, object]));
        else {
          const [name, paused] = args as [string, boolean];
          world.objects.set(name, { metadata: { name }, spec: { ...QUEUES[name], paused } });
          world.placement.queueChanged(name);
        }
        world.settle();
        expect(world.overlooked()).toEqual([]);
      }
      expect(world.ledger.wrong).toEqual([]);
    }),
    { numRuns: 300, examples: [[HELD_BY_QUOTA]] },
  );
});
