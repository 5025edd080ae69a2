/** Placement as the manager wires it, with clusters that are full and Jobs that wait for them. No hub, no Redis. */

import { Clusters } from "@jobferry/manager/clusters/clusters.ts";
import type { Health } from "@jobferry/manager/clusters/health.ts";
import { Grants } from "@jobferry/manager/hub/grants.ts";
import { Phases, uidOf } from "@jobferry/manager/hub/phase.ts";
import { readWishes, type Wishes } from "@jobferry/manager/hub/wishes.ts";
import { Ledger } from "@jobferry/manager/placement/ledger.ts";
import { Placement } from "@jobferry/manager/placement/placement.ts";
import { Queues } from "@jobferry/manager/placement/queues.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { HUB_MANAGED_BY, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { type ClusterName, epoch, type HubUid, hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { NodeShape } from "@jobferry/shared/protocol/node-shapes.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";

const Gi = 2 ** 30;
const QUEUES = ["research", "batch", "nightly", "ad-hoc"];
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
  readonly clusters = new Clusters(realClock, this.#managerKey);
  readonly ledger = new Ledger(this.clusters);
  readonly #phases = new Phases(new Grants([generateKeyPair().privateKey]));
  readonly names: ClusterName[];
  readonly jobs = new Map<HubUid, Job>();
  readonly asked = new Set<HubUid>();
  readonly placement: Placement;
  readonly #shapes = new Map<HubUid, number>();
  #created = 0;
  placed = 0;

  constructor(size: Size) {
    this.names = Array.from({ length: size.clusters }, (_, i) => parseClusterName(`cluster-${i}`));
    for (const name of this.names) {
      this.clusters.upsert(name, { metadata: { name, uid: name, labels: { name } }, spec: { publicKey: "" } });
      this.report(name, 0);
    }
    const queues = new Queues({
      queueNamed: (name) => ({ metadata: { name } }),
      labelsOfNamespace: () => undefined,
      ledger: this.ledger,
    });
    this.placement = new Placement({
      clock: realClock,
      clusters: this.clusters,
      queues,
      ledger: this.ledger,
      phases: this.#phases,
      enqueue: (uid) => this.asked.add(uid),
    });
    for (let i = 0; i < size.waiting; i++) this.#add(i, i % size.shapes);
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
      labels: { [QUEUE_LABEL]: QUEUES[shape % QUEUES.length] ?? "" },
      annotations: {},
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
