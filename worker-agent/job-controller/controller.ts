/** Wires caches, queue, sync and executor into one Job controller. Nothing here decides anything about a Job. */
import { CONTROLLER_UID_LABEL } from "@jobferry/shared/job/keys.ts";
import type { Job, LabelSelector, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { withoutManagedFields } from "@jobferry/shared/kube/managed-fields.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { keyOf } from "@jobferry/shared/kube/store.ts";
import { type MeasureQueue, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { type Logger, silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { leanPods } from "../lean-pods.ts";
import { Batching, UnfinishedPods } from "./batching.ts";
import { type Claim, isClaimed } from "./core/admit.ts";
import { type Rules, rules as specifiedRules } from "./core/rules.ts";
import { defaultLimits, type EventNote, type Limits } from "./core/types.ts";
import { Executor } from "./executor/executor.ts";
import { WriteGate } from "./executor/write-gate.ts";
import { Handlers } from "./handlers.ts";
import { Memories } from "./memory.ts";
import type { JobMetrics } from "./metrics.ts";
import { Orphans } from "./orphans.ts";
import {
  heldIn,
  heldOf,
  live,
  orphansFor,
  POD_INDEX,
  podIndexValues,
  selectedUid,
  settled,
  trimPod,
} from "./pod-cache.ts";
import { type JobCache, JobSync } from "./sync.ts";

export interface JobControllerOptions {
  api: KubeApi;
  clock: Clock;
  claim: Claim;
  metrics: JobMetrics;
  /** Puts an event on the Job; must not throw or wait. */
  emit(job: Job, note: EventNote): void;
  logger?: Logger;
  /** Absent: all namespaces. */
  namespace?: string;
  /** K-8 */
  workers?: number;
  limits?: Partial<Limits>;
  /** Client-side limit on writes; none unless given. */
  rate?: { perSecond: number; burst: number };
  queueMetrics?: MeasureQueue;
  random?: () => number;
  /** For tests that bring a regression back. */
  rules?: Partial<Rules>;
}

/** Enough to keep an API server busy, few enough not to flood it. */
const WRITES_IN_FLIGHT = 64;
/** Leaves a running sync time for its last write within the 5 s that a stop may take. */
const STOP_GRACE_MS = 4000;
/** Jobs with a selector written by hand, by namespace; all others are found by the UID in their selector. */
const MANUAL_SELECTORS = "manual";
const UID = "uid";

export class JobController {
  readonly #jobs: Reflector<Job>;
  readonly #pods: Reflector<Pod>;
  readonly #queue: WorkQueue;
  readonly #orphans: Orphans;
  readonly #batching: Batching;
  readonly #gate: WriteGate;
  readonly #claim: Claim;
  readonly #abort = new AbortController();
  #stopped: Promise<void> | undefined;

  constructor(options: JobControllerOptions) {
    const { api, clock, claim, metrics, emit, logger = silentLogger, workers = 5 } = options;
    this.#claim = claim;
    const limits = { ...defaultLimits, ...options.limits };
    const rules = { ...specifiedRules, ...options.rules };
    const memories = new Memories();
    this.#gate = new WriteGate({ clock, inFlight: WRITES_IN_FLIGHT, ...(options.rate && { rate: options.rate }) });
    const executor = new Executor({ api, clock, gate: this.#gate, metrics, emit });
    [this.#jobs, this.#pods] = createCaches(options, logger);
    const sync = new JobSync({
      claim,
      limits,
      rules,
      clock,
      memories,
      executor,
      metrics,
      logger,
      emit,
      cache: this.#cache(),
      begins: (key) => this.#batching.syncBegins(key),
      ends: (key) => this.#batching.syncEnds(key),
    });
    this.#queue = new WorkQueue({
      name: "job",
      clock,
      concurrency: workers,
      backoff: { baseMs: limits.retryBaseMs, maxMs: limits.retryMaxMs },
      stopGraceMs: STOP_GRACE_MS,
      logger,
      ...(options.queueMetrics && { metrics: options.queueMetrics }),
      process: async (key) => {
        // Lets the events that arrived together be applied first.
        await Promise.resolve();
        return await sync.run(key);
      },
    });
    this.#batching = new Batching({ clock, batchMs: limits.syncBatchMs, add: (key) => this.#queue.add(key) });
    this.#orphans = new Orphans({
      claim,
      rules,
      limits,
      clock,
      workers,
      executor,
      logger,
      ...(options.queueMetrics && { queueMetrics: options.queueMetrics }),
      pod: (namespace, name) => this.#pods.get(namespace, name),
      job: (namespace, name) => this.#jobs.get(namespace, name),
      heldPods: (namespace, selector) => this.#heldPods(namespace, selector),
    });
    const handlers = new Handlers({
      claim,
      clock,
      batching: this.#batching,
      memories,
      metrics,
      unfinished: new UnfinishedPods(),
      job: (namespace, name) => this.#jobs.get(namespace, name),
      jobsThatMayAdopt: (pod) => this.#jobsThatMayAdopt(pod),
      syncAfter: (key, ms) => this.#queue.addAfter(key, ms),
      orphans: this.#orphans,
    });
    this.#connect(handlers);
  }

  /** both caches are filled. */
  get ready(): boolean {
    return this.#jobs.hasSynced && this.#pods.hasSynced;
  }

  /** Resolves when the caches are filled and syncs have begun, or when stopped before. */
  async start(): Promise<void> {
    const { signal } = this.#abort;
    this.#stopped = Promise.all([this.#jobs.start(signal), this.#pods.start(signal)]).then(() => {});
    await Promise.race([Promise.all([this.#jobs.whenSynced(), this.#pods.whenSynced()]), this.#stopped]);
    if (signal.aborted) return;
    this.#queue.start();
    this.#orphans.queue.start();
  }

  /** Q-2 for every Job there is: the claim takes in others than before. */
  syncAll(): void {
    for (const job of this.#jobs.list()) if (isClaimed(job, this.#claim)) this.#batching.now(keyOf(job));
  }

  /** Writes under way finish; everything else is left to the successor, which the order of writes allows. */
  async stop(): Promise<void> {
    this.#batching.stop();
    this.#gate.close();
    await Promise.all([this.#queue.stop(), this.#orphans.queue.stop()]);
    this.#abort.abort();
    await this.#stopped;
  }

  /** Ends at once, as a crash would: no call is begun after this, and nobody waits for those under way. */
  abandon(): void {
    void this.stop();
    this.#abort.abort();
  }

  #connect(handlers: Handlers): void {
    this.#jobs.addHandler({
      added: (job) => handlers.jobAdded(job),
      updated: (before, after) => handlers.jobUpdated(before, after),
      deleted: (job) => handlers.jobDeleted(job),
    });
    this.#pods.addHandler({
      added: (pod) => handlers.podAdded(pod),
      updated: (before, after) => handlers.podUpdated(before, after),
      deleted: (pod) => handlers.podDeleted(pod),
    });
  }

  #cache(): JobCache {
    return {
      job: (key) => {
        const slash = key.indexOf("/");
        return this.#jobs.get(key.slice(0, slash), key.slice(slash + 1));
      },
      ownedPods: (job, settledToo) => {
        const uid = job.metadata.uid ?? "";
        const current = this.#pods.byIndex(POD_INDEX, live(uid));
        return settledToo ? [...current, ...this.#pods.byIndex(POD_INDEX, settled(uid))] : current;
      },
      orphanPods: (job) =>
        this.#pods
          .byIndex(POD_INDEX, orphansFor(job))
          .filter((pod) => pod.metadata.namespace === job.metadata.namespace),
      resourceVersions: () => ({ job: this.#jobs.resourceVersion, pods: this.#pods.resourceVersion }),
    };
  }

  #heldPods(namespace: string, selector: LabelSelector): Pod[] {
    const uid = selectedUid(selector);
    const held = this.#pods.byIndex(POD_INDEX, uid === undefined ? heldIn(namespace) : heldOf(uid));
    return held.filter((pod) => pod.metadata.namespace === namespace);
  }

  #jobsThatMayAdopt(pod: Pod): Job[] {
    const uid = pod.metadata.labels?.[CONTROLLER_UID_LABEL];
    const generated = uid === undefined ? [] : this.#jobs.byIndex(UID, uid);
    return [...generated, ...this.#jobs.byIndex(MANUAL_SELECTORS, pod.metadata.namespace ?? "")].filter(
      (job) => job.metadata.namespace === pod.metadata.namespace,
    );
  }
}

function createCaches(options: JobControllerOptions, logger: Logger): [Reflector<Job>, Reflector<Pod>] {
  const { api, clock, namespace, random } = options;
  const common = { api, clock, logger, ...(namespace !== undefined && { namespace }), ...(random && { random }) };
  return [
    new Reflector({
      ...common,
      resource: jobs,
      indexers: {
        [UID]: (job) => {
          const uid = selectedUid(job.spec.selector);
          return uid === undefined ? [] : [uid];
        },
        [MANUAL_SELECTORS]: (job) =>
          selectedUid(job.spec.selector) === undefined ? [job.metadata.namespace ?? ""] : [],
      },
      transform: withoutManagedFields,
    }),
    new Reflector({ ...common, resource: leanPods, indexers: { [POD_INDEX]: podIndexValues }, transform: trimPod }),
  ];
}
