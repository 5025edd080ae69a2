import { JOB_NAME_LABEL } from "@jobferry/shared/job/keys.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { type MeasureQueue, type ProcessResult, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import { MAX_SENTENCE_CHARS } from "@jobferry/shared/protocol/limits.ts";
import { GANG } from "@jobferry/shared/protocol/marks.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import { leanPods } from "../lean-pods.ts";
import { identityOf, type Mirrors, wantsPods } from "../mirrors.ts";

export interface UnschedulableOptions {
  api: KubeApi;
  clock: Clock;
  random: Random;
  logger: Logger;
  mirrors: Mirrors;
  transport: Pick<AgentTransport, "sendReport">;
  queueMetrics?: MeasureQueue | undefined;
}

/** Pods without a node. The API server leaves out all others, and says when one has found its node. */
const WITHOUT_NODE = "spec.nodeName=,status.phase=Pending";
const BY_OWNER = "owner";

/** A scheduler may be busy for a moment. */
const FIRST_MS = 10_000;
/** Said again and again while it is so: who hears it decides at that moment, and need not remember. */
const REPEAT_MS = 30_000;
/** With very many such mirrors each is told of more seldom. */
const EACH_MS = 50;

/**
 * Tells the manager of mirrors whose pods find no node: all that there are, or of a gang any. Whether that is long enough for the
 * Job to go elsewhere is the manager's to say.
 */
export class Unschedulable {
  readonly #options: UnschedulableOptions;
  readonly #pods: Reflector<Pod>;
  readonly #queue: WorkQueue;
  /** Since when, on our clock. */
  readonly #since = new Map<HubUid, number>();

  constructor(options: UnschedulableOptions) {
    this.#options = options;
    const { api, clock, random, logger, mirrors, queueMetrics: metrics } = options;
    this.#pods = new Reflector({
      ...{ api, clock, random, logger, resource: leanPods, fieldSelector: WITHOUT_NODE, transform: trim },
      labelSelector: JOB_NAME_LABEL,
      indexers: { [BY_OWNER]: (pod) => [ownerOf(pod)?.uid ?? []].flat() },
    });
    const changed = (pod: Pod): void => {
      const mirror = this.#mirrorOf(pod);
      if (mirror !== undefined) this.#mirrorChanged(mirror);
    };
    this.#pods.addHandler({ added: changed, updated: (_, pod) => changed(pod), deleted: changed });
    mirrors.reflector.addHandler({
      updated: (_, mirror) => this.#mirrorChanged(mirror),
      deleted: (mirror) => this.#mirrorChanged(mirror),
    });
    this.#queue = new WorkQueue({
      ...{ name: "unschedulable", clock, logger, metrics, concurrency: 4, backoff: { baseMs: 1_000, maxMs: 60_000 } },
      process: (uid) => this.#look(uid as HubUid),
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#queue.start();
    await this.#pods.start(signal);
    await this.#queue.stop();
  }

  #mirrorOf(pod: Pod): Job | undefined {
    const owner = ownerOf(pod);
    const mirror = this.#options.mirrors.reflector.get(pod.metadata.namespace, owner?.name ?? "");
    return mirror?.metadata.uid === owner?.uid ? mirror : undefined;
  }

  /** Most mirrors never get here: their pods have nodes before anybody looks. */
  #mirrorChanged(mirror: Job): void {
    const identity = identityOf(mirror);
    if (identity === undefined) return;
    const { uid } = identity;
    const stuck = this.#stuckPods(mirror);
    if (stuck.length === 0) {
      this.#since.delete(uid);
      return;
    }
    if (this.#since.has(uid)) return;
    // Also those before us have waited: by the youngest of them, it has been so at least since then.
    const { clock } = this.#options;
    const waited = Math.min(...stuck.map((pod) => clock.now() - transitionOf(pod)));
    this.#since.set(uid, clock.monotonic() - Math.max(0, waited || 0));
    this.#queue.addAfter(uid, Math.max(0, FIRST_MS - waited));
  }

  async #look(uid: HubUid): Promise<ProcessResult> {
    const { mirrors, transport, clock } = this.#options;
    const since = this.#since.get(uid);
    const mirror = mirrors.of(uid).find((one) => this.#stuckPods(one).length > 0);
    const identity = mirror === undefined ? undefined : identityOf(mirror);
    const [pod] = mirror === undefined ? [] : this.#stuckPods(mirror);
    if (since === undefined || identity === undefined || pod === undefined) {
      this.#since.delete(uid);
      return;
    }
    const { reason = "", message = "" } = conditionOf(pod) ?? {};
    const regarding = { kind: "Pod" as const, name: pod.metadata.name ?? "" };
    await transport.sendReport({
      ...{ kind: "event", uid, epoch: identity.epoch },
      warnings: [{ reason, message: message.slice(0, MAX_SENTENCE_CHARS), count: 1, regarding }],
      unschedulable: { seconds: Math.floor((clock.monotonic() - since) / 1000) },
    });
    return { requeueAfterMs: Math.max(REPEAT_MS, EACH_MS * this.#since.size) };
  }

  /** Those that a scheduler gave up on for now, if they are all that the mirror has. */
  #stuckPods(mirror: Job): Pod[] {
    if (!wantsPods(mirror)) return [];
    const without = this.#pods.byIndex(BY_OWNER, mirror.metadata.uid ?? "").filter(isWanted);
    const isGang = mirror.metadata.annotations?.[GANG] === "true";
    if (!isGang && without.length < (mirror.status?.active ?? 0)) return [];
    return without.filter((pod) => conditionOf(pod) !== undefined);
  }
}

const ownerOf = ({ metadata }: Pod) =>
  metadata.ownerReferences?.find(({ controller, kind }) => controller === true && kind === "Job");

const isWanted = ({ metadata }: Pod): boolean => metadata.deletionTimestamp === undefined;

const conditionOf = ({ status }: Pod) =>
  status?.conditions?.find(
    ({ type, status: holds, reason }) => type === "PodScheduled" && holds === "False" && reason === "Unschedulable",
  );

const transitionOf = (pod: Pod): number => Date.parse(conditionOf(pod)?.lastTransitionTime ?? "");

/** What is left of a cached pod. */
function trim(pod: Pod): Pod {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, ownerReferences } = pod.metadata;
  const condition = conditionOf(pod);
  return {
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    spec: { restartPolicy: "Never", containers: [] },
    status: condition === undefined ? {} : { conditions: [condition] },
  };
}
