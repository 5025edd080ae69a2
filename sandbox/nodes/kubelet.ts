import { isPodTerminal } from "@jobferry/shared/job/pods.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isConflict, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { type Logger, silentLogger } from "@jobferry/shared/runtime/logger.ts";
import type { PodEventSink } from "./events.ts";
import { PodWorker } from "./pod-worker.ts";
import type { RestartBackoff } from "./restart-delays.ts";
import type { ContainerRuntime } from "./runtime.ts";
import type { PodVerdict } from "./status.ts";

export interface KubeletOptions {
  api: KubeApi;
  clock: Clock;
  pods: Reflector<Pod>;
  /** The nodes it runs, with their addresses. */
  nodes: ReadonlyMap<string, string>;
  runtime: ContainerRuntime;
  events: PodEventSink;
  restartBackoff?: RestartBackoff;
  logger?: Logger;
}

/** The kubelet's own: the first restart at once, then 10 s doubled up to 5 min. */
const RESTART_BACKOFF: RestartBackoff = { baseMs: 10_000, maxMs: 300_000 };

/** Runs the pods of all nodes of one cluster: a worker per pod, and one queue that writes what the workers report. */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #workers = new Map<string, PodWorker>();
  /** The last status written, as JSON, to spare the server writes that change nothing. */
  readonly #reported = new Map<string, string>();
  readonly #reports: WorkQueue;
  readonly #changed = new Set<string>();
  readonly #silentNodes = new Set<string>();
  #addresses = 0;
  #stopped = false;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#reports = new WorkQueue({
      name: "kubelet_status",
      clock: options.clock,
      concurrency: 64,
      backoff: { baseMs: 200, maxMs: 10_000 },
      process: (uid) => this.#report(uid),
      logger: options.logger ?? silentLogger,
    });
  }

  start(): void {
    this.#reports.start();
    this.#options.pods.addHandler({
      added: (pod) => this.#onPod(pod),
      updated: (_, pod) => this.#onPod(pod),
      deleted: (pod) => this.#onPodGone(pod),
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#reports.stop();
    await this.#options.runtime.close?.();
    this.#workers.clear();
  }

  /** The node's pods go on, but nobody hears of them until `reconnect`. */
  disconnect(node: string): void {
    this.#silentNodes.add(node);
  }

  reconnect(node: string): void {
    this.#silentNodes.delete(node);
    for (const [uid, worker] of this.#workers) if (worker.pod.spec.nodeName === node) this.#reports.add(uid);
    for (const pod of this.#options.pods.list()) this.#onPod(pod);
  }

  /** Ends the pod as Failed, as under node pressure. False when it does not run here. */
  fail(podUid: string, verdict: PodVerdict): boolean {
    const worker = this.#workers.get(podUid);
    worker?.fail(verdict);
    return worker !== undefined;
  }

  #onPod(pod: Pod): void {
    const { nodeName = "" } = pod.spec;
    const hostIP = this.#options.nodes.get(nodeName);
    if (hostIP === undefined || this.#stopped || this.#silentNodes.has(nodeName)) return;
    const uid = pod.metadata.uid ?? "";
    const worker = this.#workers.get(uid);
    if (worker !== undefined) {
      worker.update(pod);
      if (worker.isOver && isPodTerminal(pod)) this.#conclude(uid, pod);
    } else if (!isPodTerminal(pod)) this.#adopt(uid, pod, hostIP);
    else if (awaitsRemoval(pod)) void this.#remove(pod).catch(() => this.#reports.addRateLimited(uid));
  }

  /** Only now that the watch shows the end may the worker go: an older event could otherwise start the pod again. */
  #conclude(uid: string, pod: Pod): void {
    if (awaitsRemoval(pod)) this.#reports.add(uid);
    else this.#forget(uid);
  }

  #adopt(uid: string, pod: Pod, hostIP: string): void {
    const { clock, runtime, events, restartBackoff = RESTART_BACKOFF } = this.#options;
    const podIP = (pod.status?.podIP as string | undefined) ?? this.#nextAddress();
    const changed = (): void => this.#reportSoon(uid);
    const worker = new PodWorker({ pod, clock, runtime, events, podIP, hostIP, restartBackoff, changed });
    this.#workers.set(uid, worker);
    worker.start();
  }

  /** Not at once: what happens in the same instant goes out in one write, a pod that ends immediately in one altogether. */
  #reportSoon(uid: string): void {
    this.#changed.add(uid);
    if (this.#changed.size > 1) return;
    queueMicrotask(() => {
      const changed = [...this.#changed];
      this.#changed.clear();
      for (const each of changed) this.#reports.add(each);
    });
  }

  #onPodGone(pod: Pod): void {
    const uid = pod.metadata.uid ?? "";
    this.#workers.get(uid)?.kill();
    this.#forget(uid);
    this.#options.runtime.podRemoved?.(pod);
  }

  #forget(uid: string): void {
    this.#workers.delete(uid);
    this.#reported.delete(uid);
    this.#reports.forget(uid);
  }

  /** Writes the newest status; whatever changed since the last write goes out in one. */
  async #report(uid: string): Promise<void> {
    const worker = this.#workers.get(uid);
    if (worker === undefined || this.#silentNodes.has(worker.pod.spec.nodeName ?? "")) return;
    const over = worker.isOver;
    const status = worker.status();
    const text = JSON.stringify(status);
    const { namespace = "", name = "" } = worker.pod.metadata;
    try {
      if (this.#reported.get(uid) !== text) {
        const body = { metadata: { uid }, status };
        await this.#options.api.patch(
          pods,
          { namespace, name },
          { type: "strategic", body },
          { subresource: "status" },
        );
        this.#reported.set(uid, text);
      }
      if (over && worker.pod.metadata.deletionTimestamp !== undefined) await this.#remove(worker.pod);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
      worker.kill();
      this.#forget(uid);
    }
  }

  /** Finalizers may keep the object; the kubelet is done with it either way. */
  async #remove(pod: Pod): Promise<void> {
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    try {
      await this.#options.api.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  #nextAddress(): string {
    const n = ++this.#addresses;
    return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  }
}

/** A finished pod that still has a grace period is waiting for its kubelet's word. */
const awaitsRemoval = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp !== undefined && (pod.metadata.deletionGracePeriodSeconds ?? 0) > 0;
