import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { OwnKeys } from "@jobferry/shared/protocol/keys.ts";
import { type HubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { addressName, type Bus, type Quarantined, type Subscription } from "@jobferry/shared/queue/bus.ts";
import { MAX_PRIORITY, type ManagerTransport, managerTransport } from "@jobferry/shared/queue/transport.ts";
import { type Clock, sleep } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Random, realRandom } from "@jobferry/shared/runtime/random.ts";
import { isOurs, uidOf } from "./claim/hub-job.ts";
import { Inventories } from "./clusters/inventories.ts";
import { Membership } from "./clusters/membership.ts";
import { Clusters } from "./clusters/registry.ts";
import { ClusterStatusWriter } from "./clusters/status-writer.ts";
import { Outbox } from "./delivery/outbox.ts";
import { Dispatcher } from "./dispatcher.ts";
import { Hub } from "./hub.ts";
import { HubCache } from "./hub-cache.ts";
import { HubObjects } from "./hub-objects.ts";
import { Inbox } from "./mirror/inbox.ts";
import { Reports } from "./mirror/reports.ts";
import { writeQueueStatus } from "./placement/queue-status.ts";
import { Queues } from "./placement/queues.ts";

export interface ManagerOptions {
  api: KubeApi;
  bus: Bus;
  clock: Clock;
  random?: Random;
  logger: Logger;
  keys: OwnKeys;
  /** Jobs worked on at once. */
  concurrency?: number;
  deletionBoundMs?: number;
  inventoryMs?: number;
  /** Of the hub's API server, for messages. */
  hubVersion?: string | undefined;
  /** Hears of every report that was not acted upon, and why. */
  onRefused?: (cluster: string, code: string) => void;
  /** Hears why an event was not written. */
  onEventDropped?: (why: string) => void;
}

/** Silence is counted, and clusters are looked at, this often. */
const TICK_MS = 5_000;
const STOP_MS = 3_000;
/** Nothing is waited for when an entry is taken, so one that a killed manager had taken need not be left to it for long. */
const INTAKE = { deadlineMs: 5_000, stalledCheckMs: 3_000 };

/** The leading manager: from its first list of the hub to the loss of its Lease. */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #abort = new AbortController();
  readonly #hub: HubObjects;
  readonly #clusters: Clusters;
  readonly #cache: HubCache;
  readonly #outbox: Outbox;
  readonly #inbox = new Inbox();
  readonly #recorder: EventRecorder;
  readonly #transport: ManagerTransport;
  readonly #dispatcher: Dispatcher;
  readonly #queues: Queues;
  readonly #reports: Reports;
  readonly #status: ClusterStatusWriter;
  readonly #work: WorkQueue;
  readonly #membership: Membership;
  readonly #inventories: Inventories;

  constructor(options: ManagerOptions) {
    this.#options = options;
    const { api, clock, random = realRandom, logger, bus, keys } = options;
    this.#hub = new HubObjects({ api, clock, random, logger });
    this.#clusters = new Clusters(clock, keys[0].publicKey.text);
    this.#cache = new HubCache(this.#hub.jobs);
    this.#transport = managerTransport({ bus, keys, clusterKeys: (cluster) => this.#clusters.keys(cluster) });
    this.#outbox = new Outbox(this.#transport);
    this.#recorder = new EventRecorder({
      ...{ api, clock, logger, component: "jobferry-manager" },
      ...(options.onEventDropped && { onDropped: options.onEventDropped }),
    });
    this.#status = new ClusterStatusWriter(api, clock, this.#clusters);
    this.#inventories = new Inventories({
      jobs: this.#hub.jobs,
      clusters: this.#clusters,
      status: this.#status,
      transport: this.#transport,
      clock,
      logger,
      everyMs: options.inventoryMs ?? 30_000,
    });
    this.#queues = new Queues(
      (name) => this.#hub.queues.get(undefined, name),
      (name) => this.#hub.namespaces.get(undefined, name)?.metadata.labels,
    );
    const again = (uid: HubUid, afterMs = 0): void => this.#work.addAfter(uid, afterMs);
    this.#dispatcher = new Dispatcher({
      hub: new Hub(api),
      cache: this.#cache,
      clusters: this.#clusters,
      queues: this.#queues,
      outbox: this.#outbox,
      inbox: this.#inbox,
      recorder: this.#recorder,
      logger,
      clock,
      again,
      enqueue: (uid, priority) => this.#transport.enqueueIntake({ uid, priority: MAX_PRIORITY - priority }),
      deletionBoundMs: options.deletionBoundMs ?? 60_000,
      hubVersion: options.hubVersion,
      onRefused: options.onRefused,
    });
    this.#reports = new Reports({
      cache: this.#cache,
      clusters: this.#clusters,
      inbox: this.#inbox,
      outbox: this.#outbox,
      recorder: this.#recorder,
      logger,
      onRefused: options.onRefused,
      again,
      clusterChanged: (cluster, isNew) => this.#membership.changed(cluster, isNew),
    });
    this.#membership = new Membership({
      clusters: this.#clusters,
      status: this.#status,
      inventories: this.#inventories,
      reports: this.#reports,
      outbox: this.#outbox,
      transport: this.#transport,
      logger,
      again,
      reconsider: () => this.#reconsider(),
    });
    this.#work = new WorkQueue({
      name: "hub-jobs",
      clock,
      logger,
      concurrency: options.concurrency ?? 32,
      backoff: { baseMs: 250, maxMs: 30_000 },
      process: (uid) => this.#dispatcher.reconcile(uid as HubUid),
    });
  }

  get ready(): boolean {
    return this.#hub.hasSynced;
  }

  /** Most clusters are silent at once: none of them is counted as lost. */
  get lossTimersFrozen(): boolean {
    return this.#clusters.frozen;
  }

  get waiting(): number {
    return this.#dispatcher.placer.waiting;
  }

  /** A message that could not be read. Whoever runs the fleet has to act: enrol the cluster again, upgrade one side. */
  messageRefused({ address, code, reason }: Quarantined): void {
    if (!("cluster" in address)) return;
    const object = this.#hub.clusters.get(undefined, address.cluster);
    if (object === undefined) return;
    this.#clusters.refused(address.cluster, `${code}: ${reason}`);
    const text = `A message of ${addressName(address)} was refused: ${code}: ${reason}`;
    this.#recorder.record(workerClusters, object, "Warning", "MessageRefused", text);
  }

  /** Leads until `signal` aborts, then finishes what is under way and returns. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#abort.abort();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      await this.#lead();
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async #lead(): Promise<void> {
    const { signal } = this.#abort;
    this.#hub.clusters.addHandler({
      added: (object) => this.#membership.seen(object),
      updated: (_, object) => this.#membership.seen(object),
      deleted: (object) => this.#membership.left(object),
    });
    this.#hub.jobs.addHandler({
      added: (job) => this.#jobSeen(job),
      updated: (_, job) => this.#jobSeen(job),
      deleted: (job) => this.#jobSeen(job),
    });
    const retry = {
      added: () => this.#reconsider(),
      updated: () => this.#reconsider(),
      deleted: () => this.#reconsider(),
    };
    this.#hub.queues.addHandler(retry);
    this.#hub.namespaces.addHandler(retry);
    const watching = this.#hub.run(signal);
    let intake: Subscription | undefined;
    await Promise.race([this.#hub.whenSynced(), aborted(signal)]);
    if (!signal.aborted) {
      for (const job of this.#hub.jobs.list()) this.#dispatcher.recall(job);
      this.#work.start();
      intake = this.#transport.onIntake(async ({ uid }) => this.#dispatcher.intake.admit(uid), INTAKE);
      const unsubscribe = this.#transport.onReachable((reachable) => reachable && this.#redisReturned());
      await this.#tick(signal);
      unsubscribe();
    }
    await Promise.all([intake?.stop(STOP_MS), this.#membership.stop()]);
    await this.#work.stop();
    await this.#recorder.stop(STOP_MS);
    await watching;
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      this.#clusters.countSilence(this.#transport.reachable);
      this.#dispatcher.intake.repair();
      for (const name of this.#clusters.names()) {
        await this.#status
          .write(name)
          .catch((error) => this.#options.logger.warn({ error, cluster: name }, "cluster status not written"));
        if (this.#clusters.isLost(name)) for (const uid of this.#clusters.jobsOn(name)) this.#work.add(uid);
      }
      // A cluster that we do not hear must not go on hearing us: it counts our silence too.
      for (const name of this.#clusters.names())
        if (this.#clusters.isConnected(name) && this.#inventories.isDue(name))
          await this.#inventories.send(parseClusterName(name));
      await this.#showQueues();
      await sleep(clock, TICK_MS, signal).catch(() => {});
    }
  }

  async #showQueues(): Promise<void> {
    const { api, logger } = this.#options;
    const pending = this.#dispatcher.placer.waitingByQueue();
    await writeQueueStatus(api, this.#hub.queues.list(), (name) => ({
      pending: pending.get(name) ?? 0,
      running: this.#queues.running(name),
    })).catch((error) => logger.warn({ error }, "queue status not written"));
  }

  #jobSeen(job: Job): void {
    if (isOurs(job)) this.#work.add(uidOf(job));
  }

  #reconsider(): void {
    this.#dispatcher.placer.changed();
  }

  #redisReturned(): void {
    this.#outbox.doubtAll();
    this.#dispatcher.intake.refill();
    for (const job of this.#hub.jobs.list()) this.#jobSeen(job);
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
