import { isPodTerminal } from "@jobferry/shared/job/pods.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isConflict, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import { type Clock, timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { KubeNode } from "../nodes/resources.ts";

export interface PodGcOptions {
  api: KubeApi;
  clock: Clock;
  pods: Reflector<Pod>;
  nodes: Reflector<KubeNode>;
  logger?: Logger;
}

/** The built-in collector looks around every 20 s; ours waits that long once for each pod it has to deal with. */
const LOOK_AFTER_MS = 20_000;
/** A node must be gone this long before its pods are taken for lost. */
const NODE_QUARANTINE_MS = 40_000;

/** Clears away pods that no kubelet will ever report on again (GC-1). Finished pods in excess are left alone. */
export class PodGc {
  readonly #options: PodGcOptions;
  readonly #queue: WorkQueue;

  constructor(options: PodGcOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      name: "pod_gc",
      clock: options.clock,
      concurrency: 5,
      backoff: { baseMs: 1000, maxMs: 60_000 },
      process: (key) => this.#sync(key),
      ...(options.logger === undefined ? {} : { logger: options.logger }),
    });
  }

  start(): void {
    const consider = (pod: Pod): void => {
      if (isUnscheduledAndTerminating(pod)) this.#queue.addAfter(keyOf(pod), LOOK_AFTER_MS);
      else if (this.#isOrphaned(pod)) this.#queue.addAfter(keyOf(pod), NODE_QUARANTINE_MS);
    };
    this.#options.pods.addHandler({ added: consider, updated: (_, pod) => consider(pod) });
    this.#options.nodes.addHandler({
      deleted: () => {
        for (const pod of this.#options.pods.list()) consider(pod);
      },
    });
    this.#queue.start();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  #isOrphaned({ spec: { nodeName } }: Pod): boolean {
    const { nodes } = this.#options;
    return nodeName !== undefined && nodeName !== "" && nodes.hasSynced && nodes.get(undefined, nodeName) === undefined;
  }

  async #sync(key: string): Promise<void> {
    const [namespace = "", name = ""] = key.split("/");
    const pod = this.#options.pods.get(namespace, name);
    if (pod === undefined) return;
    const orphaned = this.#isOrphaned(pod);
    if (!orphaned && !isUnscheduledAndTerminating(pod)) return;
    const { uid = "" } = pod.metadata;
    try {
      if (!isPodTerminal(pod)) await this.#markFailed(pod, orphaned);
      const options = { gracePeriodSeconds: 0, preconditions: { uid } };
      await this.#options.api.delete(pods, { namespace, name }, options);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  async #markFailed(pod: Pod, orphaned: boolean): Promise<void> {
    const { namespace = "", name = "", uid } = pod.metadata;
    const disruption = {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByPodGC",
      message: "PodGC: node no longer exists",
      lastTransitionTime: timestamp(this.#options.clock.now()),
    };
    const status = { phase: "Failed", ...(orphaned ? { conditions: [disruption] } : {}) };
    const body = { metadata: { uid }, status };
    await this.#options.api.patch(pods, { namespace, name }, { type: "strategic", body }, { subresource: "status" });
  }
}

const keyOf = ({ metadata: { namespace, name } }: Pod): string => `${namespace}/${name}`;

/** Without finalizers the API server would have removed it at once; a finished one waits for its finalizers only. */
const isUnscheduledAndTerminating = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp !== undefined &&
  (pod.spec.nodeName === undefined || pod.spec.nodeName === "") &&
  !isPodTerminal(pod);
