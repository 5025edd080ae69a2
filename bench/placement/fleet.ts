/** Placement as the manager wires it, with clusters that are full and Jobs that wait for them. No hub, no Redis. */

import { Clusters } from "@jobferry/manager/clusters/clusters.ts";
import type { Health } from "@jobferry/manager/clusters/health.ts";
import { Grants } from "@jobferry/manager/hub/grants.ts";
import { Phases, uidOf } from "@jobferry/manager/hub/phase.ts";
import { readWishes, type Wishes } from "@jobferry/manager/hub/wishes.ts";
import { Budgets } from "@jobferry/manager/placement/budgets.ts";
import { Ledger } from "@jobferry/manager/placement/ledger.ts";
import { Placement } from "@jobferry/manager/placement/placement.ts";
import { Queues } from "@jobferry/manager/placement/queues.ts";
import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { HUB_MANAGED_BY, PRIORITY, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { type ClusterName, epoch, type HubUid, hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { NodeShape } from "@jobferry/shared/protocol/node-shapes.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";

const Gi = 2 ** 30;
/** Every rule that a queue can have. The quotas are large: what stops a Job is that no node has room. */
const QUEUES: Record<string, NonNullable<JobQueue["spec"]>> = {
  research: {
    ...{ weight: 2, cohort: "company", quota: { resources: { cpu: "900000" } }, reserveAfter: "1s" },
    preemption: { reclaim: "LowerPriority", withinQueue: "LowerPriority" },
  },
  batch: { cohort: "company", quota: { resources: { cpu: "400000" } }, borrowLimit: { resources: { cpu: "100000" } } },
  nightly: { budget: { window: "720h", resourceHours: { cpu: "100000000" } }, maxPriority: 3 },
  "ad-hoc": { reserveAfter: "1s" },
};
const QUEUE_NAMES = Object.keys(QUEUES);
/** Jobs of ours that run on each cluster. They are less important than some that wait, and too small to make room for one. */
const RUNNING = 10;
const BUDGETS_MS = 5_000;
/** Node groups of a cluster: plain, two architectures, with GPUs. Each with rows of nodes that are nearly full. */
const GROUPS = [
  { labels: { "kubernetes.io/arch": "amd64" }, gpus: 0, taints: [] },
  { labels: { "kubernetes.io/arch": "arm64" }, gpus: 0, taints: [] },
  { labels: { "kubernetes.io/arch": "amd64", "nvidia.com/gpu.product": "A100" }, gpus: 8, taints: ["gpu"] },
];
const ROWS = 8;

export interface Size {
  readonly waiting: number;
  readonly shapes: number;
  readonly clusters: number;
}

export class PlacementBench {
  readonly #managerKey = "the manager's key";
  readonly clusters: Clusters;
  readonly ledger: Ledger;
  readonly #phases = new Phases(new Grants([generateKeyPair().privateKey]));
  readonly names: ClusterName[];
  readonly jobs = new Map<HubUid, Job>();
  readonly asked = new Set<HubUid>();
  readonly placement: Placement;
  readonly #running = new Map<HubUid, Job>();
  #stopBudgets = (): void => {};
  readonly #shapes = new Map<HubUid, number>();
  #created = 0;
  placed = 0;

  constructor(size: Size, clock: Clock) {
    this.clusters = new Clusters(clock, this.#managerKey);
    this.ledger = new Ledger(this.clusters);
    this.names = Array.from({ length: size.clusters }, (_, i) => parseClusterName(`cluster-${i}`));
    for (const name of this.names) {
      this.clusters.upsert(name, { metadata: { name, uid: name, labels: { name } }, spec: { publicKey: "" } });
      this.report(name, 0);
    }
    const objects = new Map(QUEUE_NAMES.map((name) => [name, { metadata: { name }, spec: QUEUES[name] ?? {} }]));
    const { ledger, clusters } = this;
    const budgets = new Budgets({
      clock,
      queues: () => objects.values(),
      held: (name) => ledger.loadOf(name).used,
      changed: (name) => this.placement.queueChanged(name),
    });
    const queues = new Queues({
      ...{ ledger, clusters, clock, labelsOfNamespace: () => undefined },
      queueNamed: (name) => objects.get(name),
      all: () => objects.values(),
      spent: (name) => budgets.obstacle(name),
    });
    this.placement = new Placement({
      ...{ clock, clusters, queues, ledger, phases: this.#phases },
      enqueue: (uid) => this.asked.add(uid),
      jobOf: (uid) => this.jobs.get(uid) ?? this.#running.get(uid),
    });
    const count = (): void => {
      budgets.count();
      this.#stopBudgets = clock.after(BUDGETS_MS, count);
    };
    count();
    for (const [i, name] of this.names.entries()) for (let j = 0; j < RUNNING; j++) this.#runs(name, i * RUNNING + j);
    for (let i = 0; i < size.waiting; i++) this.#add(i, i % size.shapes);
  }

  stop(): void {
    this.#stopBudgets();
    this.placement.stop();
  }

  /** A small Job of ours that the cluster has. */
  #runs(cluster: ClusterName, number: number): void {
    const uid = hubUid.parse(`00000000-0000-4000-9000-${String(number).padStart(12, "0")}`);
    const queue = QUEUE_NAMES[number % QUEUE_NAMES.length] ?? "";
    const waiting = aJob(uid, number, 0);
    const [container] = waiting.spec.template.spec.containers;
    if (container !== undefined) container.resources = { requests: { cpu: "50m", memory: "64Mi" } };
    const marks = this.#phases.annotationsOf(waiting, { cluster, queue, epoch: epoch.parse(1) }, false);
    const annotations = { ...waiting.metadata.annotations, ...marks } as Record<string, string>;
    const status = { ready: 1, startTime: "2026-01-01T00:00:00Z" };
    const job = { ...waiting, metadata: { ...waiting.metadata, annotations }, status };
    this.#running.set(uid, job);
    this.placement.observe(uid, job);
  }

  /** What the agent says: every node has next to nothing free, but one of the plain ones, which has this many CPUs. */
  report(name: ClusterName, freeCpus: number): void {
    const shapes = GROUPS.map(({ labels, gpus, taints }, group): NodeShape => {
      const plain = ["cpu", "memory", "pods"];
      const allocatable = [64_000, 256 * Gi, 110];
      const rows = Array.from({ length: ROWS }, (_, row) => ({ nodes: 4, room: [90 - row * 10, (row + 1) * Gi, 50] }));
      if (group === 0 && freeCpus > 0) rows[0] = { nodes: 1, room: [freeCpus * 1000, freeCpus * 4 * Gi, 50] };
      return {
        nodes: ROWS * 4,
        labels,
        taints: taints.map((key) => ({ key, effect: "NoSchedule" })),
        resources: gpus === 0 ? plain : ["nvidia.com/gpu", ...plain],
        allocatable: gpus === 0 ? allocatable : [gpus, ...allocatable],
        free: gpus === 0 ? rows : rows.map(({ nodes, room }) => ({ nodes, room: [0, ...room] })),
      };
    });
    this.clusters.get(name)?.heard(health(this.#managerKey, shapes));
  }

  /** The reconciler's part: takes the answer, and stores it at once. */
  consider(uid: HubUid): void {
    const job = this.jobs.get(uid);
    if (job === undefined) return;
    const decision = this.placement.consider(job, wishesOf(job));
    if (!("cluster" in decision)) return;
    const { cluster, queue } = decision;
    const marks = this.#phases.annotationsOf(job, { cluster, queue, epoch: epoch.parse(1) }, false);
    const annotations = { ...job.metadata.annotations, ...marks } as Record<string, string>;
    this.jobs.delete(uid);
    this.placed++;
    // Another one of its shape comes: as many wait at the end as at the beginning.
    const shape = this.#shapes.get(uid) ?? 0;
    this.#shapes.delete(uid);
    this.asked.add(this.#add(this.#created, shape));
    this.placement.observe(uid, { ...job, metadata: { ...job.metadata, annotations } });
  }

  /** Everything that was asked for again, most of it reasons that changed. */
  answer(): void {
    for (const uid of this.asked) {
      this.asked.delete(uid);
      this.consider(uid);
    }
  }

  #add(number: number, shape: number): HubUid {
    this.#created++;
    const uid = hubUid.parse(`00000000-0000-4000-8000-${String(number).padStart(12, "0")}`);
    const job = aJob(uid, number, shape);
    this.jobs.set(uidOf(job), job);
    this.#shapes.set(uid, shape);
    return uid;
  }
}

const wishesOf = (job: Job): Wishes => (readWishes(job) as { wishes: Wishes }).wishes;

/** Shapes differ in CPU, memory and GPUs; some have a node selector, some tolerate the GPU nodes. */
function aJob(uid: HubUid, number: number, shape: number): Job {
  const cpu = 500 + 50 * (shape % 300);
  const memory = 1024 + 37 * Math.floor(shape / 7);
  const kind = shape % 5;
  const gpus = kind === 4 ? { "nvidia.com/gpu": String(1 + (shape % 8)) } : {};
  const resources = { requests: { cpu: `${cpu}m`, memory: `${memory}Mi`, ...gpus }, limits: gpus };
  return {
    metadata: {
      name: `job-${number}`,
      namespace: `team-${shape % 3}`,
      uid,
      resourceVersion: String(number + 1),
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { [QUEUE_LABEL]: QUEUE_NAMES[shape % QUEUE_NAMES.length] ?? "" },
      annotations: { [PRIORITY]: String(shape % 11) },
    },
    spec: {
      managedBy: HUB_MANAGED_BY,
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [{ name: "main", image: "registry.example.com/team/image:1", command: ["run", "it"], resources }],
          ...(kind === 1 ? { nodeSelector: { "kubernetes.io/arch": "arm64" } } : {}),
          ...(kind === 4 ? { tolerations: [{ key: "gpu", operator: "Exists" }] } : {}),
        },
      },
    },
  };
}

const health = (managerKey: string, shapes: NodeShape[]): Health => ({
  kind: "heartbeat",
  clusterID: "c",
  agentVersion: "bench",
  kubernetesVersion: "bench",
  capacity: { cpu: "6144", memory: "24576Gi", pods: "10560", "nvidia.com/gpu": "256" },
  free: { cpu: "5", memory: "400Gi", pods: "4800" },
  largestFreeNode: { cpu: "20", memory: "80Gi", pods: "50" },
  largestNode: { cpu: "64", memory: "256Gi", pods: "110", "nvidia.com/gpu": "8" },
  nodes: { shapes, hiddenLabels: [], leftOut: 0 },
  stamp: "s",
  resourceVersion: 1,
  managerKeys: [managerKey],
});
