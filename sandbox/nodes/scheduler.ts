import { isPodTerminal } from "@jobferry/shared/job/pods.ts";
import { type Amounts, podRequests } from "@jobferry/shared/job/requests.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isConflict, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import { type Clock, timestamp } from "@jobferry/shared/runtime/clock.ts";
import { type Logger, silentLogger } from "@jobferry/shared/runtime/logger.ts";
import type { PodEventSink } from "./events.ts";
import { NodeSlot } from "./node-slot.ts";
import { PendingPods } from "./pending-pods.ts";
import type { PodNeeds } from "./pod-needs.ts";
import { bindings, type KubeNode } from "./resources.ts";

export interface SchedulerOptions {
  api: KubeApi;
  clock: Clock;
  pods: Reflector<Pod>;
  nodes: Reflector<KubeNode>;
  events: PodEventSink;
  logger?: Logger;
}

/** Enough to keep an API server over HTTP busy; more would only pile up promises. */
const BINDS_AT_ONCE = 64;

/** Among more nodes than this, the first ones found to fit are good enough (kube-scheduler samples likewise). */
const NODES_TO_COMPARE = 100;

/** How long a pod waits after a failed bind before it is tried again. */
const BIND_RETRY_MS = 1000;

interface Reservation {
  node: string;
  requests: Amounts;
}

/**
 * Gives pending pods a node. Driven by watch events alone: a pod is tried when it appears, and a pod that fits nowhere
 * again only when a node changed in a way that could help it. Per-node sums are kept up to date with every event, so a
 * decision never looks at the pods already placed.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #logger: Logger;
  readonly #slots = new Map<string, NodeSlot>();
  #slotList: NodeSlot[] = [];
  #nextSlot = 0;
  readonly #pending = new PendingPods();
  readonly #reservations = new Map<string, Reservation>();
  /** Nodes on which something got better since the last round. */
  readonly #improved = new Set<string>();
  readonly #refusals: WorkQueue;
  readonly #retries = new Set<() => void>();
  #binding = 0;
  #roundPlanned = false;
  #stopped = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#refusals = new WorkQueue({
      name: "scheduler_refusals",
      clock: options.clock,
      concurrency: 16,
      backoff: { baseMs: 1000, maxMs: 30_000 },
      process: (uid) => this.#reportRefusal(uid),
      logger: this.#logger,
    });
  }

  start(): void {
    this.#refusals.start();
    this.#options.nodes.addHandler({
      added: (node) => this.#onNode(node),
      updated: (_, node) => this.#onNode(node),
      deleted: (node) => this.#onNodeGone(node),
    });
    this.#options.pods.addHandler({
      added: (pod) => this.#onPod(pod),
      updated: (_, pod) => this.#onPod(pod),
      deleted: (pod) => this.#forget(pod.metadata.uid ?? ""),
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#retries) cancel();
    await this.#refusals.stop();
  }

  #onNode(node: KubeNode): void {
    const name = node.metadata.name ?? "";
    const known = this.#slots.get(name);
    if (known !== undefined) known.update(node);
    else {
      const slot = new NodeSlot(node);
      for (const { node: on, requests } of this.#reservations.values()) if (on === name) slot.take(requests);
      this.#slots.set(name, slot);
      this.#slotList = [...this.#slots.values()];
    }
    this.#improve(name);
  }

  #onNodeGone(node: KubeNode): void {
    this.#slots.delete(node.metadata.name ?? "");
    this.#slotList = [...this.#slots.values()];
  }

  #onPod(pod: Pod): void {
    const uid = pod.metadata.uid ?? "";
    const { nodeName } = pod.spec;
    if (isPodTerminal(pod)) this.#forget(uid);
    else if (nodeName !== undefined && nodeName !== "") {
      this.#pending.remove(uid);
      if (!this.#reservations.has(uid)) this.#reserve(uid, nodeName, podRequests(pod.spec));
    } else if (pod.metadata.deletionTimestamp !== undefined) this.#pending.remove(uid);
    else if (!this.#reservations.has(uid) && isOurs(pod)) this.#enqueue(pod);
  }

  #enqueue(pod: Pod): void {
    const group = this.#pending.put(pod);
    if (group.blocked === undefined) this.#planRound();
    else if (group.untold.has(pod.metadata.uid ?? "")) this.#refusals.add(pod.metadata.uid ?? "");
  }

  #forget(uid: string): void {
    this.#pending.remove(uid);
    this.#release(uid);
  }

  #reserve(uid: string, node: string, requests: Amounts): void {
    this.#reservations.set(uid, { node, requests });
    this.#slots.get(node)?.take(requests);
  }

  #release(uid: string): void {
    const reservation = this.#reservations.get(uid);
    if (reservation === undefined) return;
    this.#reservations.delete(uid);
    this.#slots.get(reservation.node)?.giveBack(reservation.requests);
    this.#improve(reservation.node);
  }

  #improve(node: string): void {
    if (this.#pending.size === 0) return;
    this.#improved.add(node);
    this.#planRound();
  }

  /** One round after all events that arrived together, not one per event. */
  #planRound(): void {
    if (this.#roundPlanned || this.#stopped) return;
    this.#roundPlanned = true;
    queueMicrotask(() => {
      this.#roundPlanned = false;
      this.#round();
    });
  }

  #round(): void {
    if (this.#stopped || !this.#options.nodes.hasSynced) return;
    if (this.#improved.size > 0) {
      const better = [...this.#improved].map((name) => this.#slots.get(name));
      this.#improved.clear();
      this.#pending.unblock((needs) => better.some((slot) => slot?.misfits(needs).length === 0));
    }
    for (const group of this.#pending.ready()) {
      for (const [uid, pod] of group.pods) {
        if (this.#binding >= BINDS_AT_ONCE) return;
        const node = this.#choose(group.needs);
        if (node === undefined) {
          group.blocked = this.#explain(group.needs);
          for (const waiting of group.untold) this.#refusals.add(waiting);
          break;
        }
        this.#pending.remove(uid);
        this.#reserve(uid, node.name, group.needs.requests);
        void this.#bind(pod, node.name);
      }
    }
  }

  /** The least loaded of the nodes that fit. */
  #choose(needs: PodNeeds): NodeSlot | undefined {
    const count = this.#slotList.length;
    let best: NodeSlot | undefined;
    let bestLoad = Number.POSITIVE_INFINITY;
    let fitting = 0;
    const begin = count > NODES_TO_COMPARE ? this.#nextSlot : 0;
    for (let offset = 0; offset < count && fitting < NODES_TO_COMPARE; offset++) {
      const slot = this.#slotList[(begin + offset) % count];
      this.#nextSlot = (begin + offset + 1) % count;
      if (slot === undefined || slot.misfits(needs).length > 0) continue;
      fitting++;
      const load = slot.load();
      if (load < bestLoad) [best, bestLoad] = [slot, load];
    }
    return best;
  }

  #explain(needs: PodNeeds): string {
    if (this.#slotList.length === 0) return "no nodes available to schedule pods";
    const counts = new Map<string, number>();
    for (const slot of this.#slotList)
      for (const reason of slot.misfits(needs)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
    return `0/${this.#slotList.length} nodes are available: ${reasons.join(", ")}.`;
  }

  async #bind(pod: Pod, node: string): Promise<void> {
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    this.#binding++;
    try {
      await this.#options.api.create(bindings, namespace, {
        metadata: { name, uid },
        target: { apiVersion: "v1", kind: "Node", name: node },
      });
      this.#options.events(pod, "Normal", "Scheduled", `Successfully assigned ${namespace}/${name} to ${node}`);
    } catch (error) {
      this.#release(uid);
      // Gone, re-created or bound by someone else: the watch tells what is true now.
      if (!isNotFound(error) && !isConflict(error)) this.#retryLater(pod, error);
    } finally {
      this.#binding--;
      if (this.#pending.size > 0) this.#planRound();
    }
  }

  #retryLater(pod: Pod, error: unknown): void {
    const { namespace = "", name = "", uid } = pod.metadata;
    this.#logger.warn({ error, pod: `${namespace}/${name}` }, "could not bind a pod, will retry");
    if (this.#stopped) return;
    const cancel = this.#options.clock.after(BIND_RETRY_MS, () => {
      this.#retries.delete(cancel);
      const current = this.#options.pods.get(namespace, name);
      if (current !== undefined && current.metadata.uid === uid) this.#onPod(current);
    });
    this.#retries.add(cancel);
  }

  async #reportRefusal(uid: string): Promise<void> {
    const group = this.#pending.groupOf(uid);
    const pod = group?.pods.get(uid);
    if (group?.blocked === undefined || pod === undefined || !group.untold.has(uid)) return;
    const { namespace = "", name = "" } = pod.metadata;
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message: group.blocked,
      lastTransitionTime: timestamp(this.#options.clock.now()),
    };
    group.untold.delete(uid);
    this.#options.events(pod, "Warning", "FailedScheduling", group.blocked);
    try {
      const body = { metadata: { uid }, status: { conditions: [condition] } };
      await this.#options.api.patch(pods, { namespace, name }, { type: "strategic", body }, { subresource: "status" });
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      if (group.pods.has(uid)) group.untold.add(uid);
      throw error;
    }
  }
}

/** Gated pods are not looked at until their last gate is lifted; other schedulers' pods never. */
function isOurs(pod: Pod): boolean {
  const { schedulingGates, schedulerName } = pod.spec as { schedulingGates?: unknown[]; schedulerName?: string };
  if ((schedulingGates?.length ?? 0) > 0) return false;
  return schedulerName === undefined || schedulerName === "" || schedulerName === "default-scheduler";
}
