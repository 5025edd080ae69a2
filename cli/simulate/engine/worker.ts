import type { Health } from "@jobferry/manager/clusters/health.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { labelFilter } from "@jobferry/worker-agent/capacity/node-labels.ts";
import { NodesNews } from "@jobferry/worker-agent/capacity/nodes-news.ts";
import { roomReport } from "@jobferry/worker-agent/capacity/room-report.ts";
import { NodeShapes } from "@jobferry/worker-agent/capacity/shapes.ts";
import type { NodeKind, Scoring } from "../fleet/fleet.ts";
import type { JobShape, TraceJob } from "../trace/trace-job.ts";
import { NodeScheduler, type SimulatedNode } from "./node-scheduler.ts";

/** One assignment of a Job as its worker sees it. */
export interface Mirror {
  readonly uid: HubUid;
  readonly job: TraceJob;
  /** Pods that no node has room for yet. */
  pending: number;
  readonly running: Set<RunningPod>;
  /** Pods that are done. */
  done: number;
}

interface RunningPod {
  readonly node: SimulatedNode;
  readonly cancel: () => void;
}

export interface WorkerOptions {
  readonly name: ClusterName;
  readonly kinds: readonly NodeKind[];
  readonly scoring: Scoring;
  readonly clock: Clock;
  readonly managerKey: string;
  /** A pod was bound to a node (1), or has left it (-1). */
  onPod(shape: JobShape, sign: 1 | -1): void;
  onFinished(mirror: Mirror): void;
}

/** A worker cluster: its nodes, its scheduler, and the part of its agent that says what room there is. */
export class SimulatedWorker {
  readonly name: ClusterName;
  readonly #options: WorkerOptions;
  readonly #scheduler: NodeScheduler;
  readonly #shapes: NodeShapes;
  readonly #news = new NodesNews();
  /** With pods that wait for a node, the more important first, then in the order in which they came. */
  readonly #pending = new Set<Mirror>();
  #introduced = false;
  #version = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.name = options.name;
    this.#scheduler = new NodeScheduler(options.name, options.kinds, options.scoring);
    // Whatever a Job of the trace can choose by is reported.
    this.#shapes = new NodeShapes(labelFilter(options.kinds.flatMap(({ labels }) => Object.keys(labels))));
    for (const { name, kind } of this.#scheduler.nodes)
      this.#shapes.put({
        metadata: { name, labels: { ...kind.labels, "kubernetes.io/hostname": name } },
        spec: { taints: kind.taints.map(({ key, value = "", effect }) => ({ key, value, effect })) },
        status: {
          allocatable: Object.fromEntries(
            [...kind.allocatable].map(([resource, units]) => [resource, resource === "cpu" ? `${units}m` : `${units}`]),
          ),
        },
      });
  }

  /** Grows with every pod that comes or goes. */
  get version(): number {
    return this.#version;
  }

  get pendingPods(): number {
    let pods = 0;
    for (const { pending } of this.#pending) pods += pending;
    return pods;
  }

  couldEver(shape: JobShape): boolean {
    return this.#scheduler.couldEver(shape);
  }

  /** The Job has arrived; says how many of its pods were bound at once. */
  deliver(uid: HubUid, job: TraceJob, done: number): { mirror: Mirror; bound: number } {
    const mirror: Mirror = { uid, job, pending: job.shape.pods - done, running: new Set(), done };
    this.#bindAll(mirror);
    if (mirror.pending > 0) this.#pending.add(mirror);
    return { mirror, bound: mirror.running.size };
  }

  /** The Job is taken away: what runs is stopped, what is done stays done. */
  withdraw(mirror: Mirror): void {
    this.#pending.delete(mirror);
    for (const pod of mirror.running) {
      pod.cancel();
      this.#leave(mirror, pod);
    }
    this.#bindPending();
  }

  /** What the agent's next heartbeat says. */
  health(): Health {
    const { clock, managerKey } = this.#options;
    const nodes = this.#shapes.report();
    const now = clock.monotonic();
    const tellsNodes = !this.#introduced || this.#news.isDue(nodes, now);
    if (tellsNodes) this.#news.sent(nodes, now);
    const kind = this.#introduced ? "heartbeat" : "hello";
    this.#introduced = true;
    return {
      kind,
      clusterID: this.name,
      agentVersion: "simulated",
      kubernetesVersion: "simulated",
      ...roomReport(this.#shapes),
      ...(tellsNodes ? { nodes } : {}),
      stamp: "",
      resourceVersion: 1,
      managerKeys: [managerKey],
    };
  }

  #bindAll(mirror: Mirror): void {
    while (mirror.pending > 0 && this.#bindOne(mirror)) mirror.pending--;
  }

  #bindOne(mirror: Mirror): boolean {
    const { shape, runMs } = mirror.job;
    const node = this.#scheduler.bind(shape);
    if (node === undefined) return false;
    this.#shapes.take(node.name, withPod(shape), 1);
    this.#version++;
    this.#options.onPod(shape, 1);
    const pod: RunningPod = { node, cancel: this.#options.clock.after(runMs, () => this.#end(mirror, pod)) };
    mirror.running.add(pod);
    return true;
  }

  #end(mirror: Mirror, pod: RunningPod): void {
    this.#leave(mirror, pod);
    mirror.done++;
    this.#bindPending();
    if (mirror.done === mirror.job.shape.pods) this.#options.onFinished(mirror);
  }

  #leave(mirror: Mirror, pod: RunningPod): void {
    const { shape } = mirror.job;
    mirror.running.delete(pod);
    this.#scheduler.release(pod.node, shape);
    this.#shapes.take(pod.node.name, withPod(shape), -1);
    this.#version++;
    this.#options.onPod(shape, -1);
  }

  /** There is more room than before. A shape for which there is not enough need not be tried twice. */
  #bindPending(): void {
    if (this.#pending.size === 0) return;
    const tooLarge = new Set<JobShape>();
    const inOrder = [...this.#pending].sort((one, other) => other.job.shape.priority - one.job.shape.priority);
    for (const mirror of inOrder) {
      if (tooLarge.has(mirror.job.shape)) continue;
      this.#bindAll(mirror);
      if (mirror.pending === 0) this.#pending.delete(mirror);
      else tooLarge.add(mirror.job.shape);
    }
  }
}

const pods = new WeakMap<JobShape, ReadonlyMap<string, number>>();

/** Every pod takes one of its node's `pods`. */
function withPod(shape: JobShape): ReadonlyMap<string, number> {
  let amounts = pods.get(shape);
  if (amounts === undefined) {
    amounts = new Map([...shape.perPod, ["pods", 1]]);
    pods.set(shape, amounts);
  }
  return amounts;
}
