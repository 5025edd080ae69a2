import { isDeepStrictEqual } from "node:util";
import { type JobQueue, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject } from "@jobferry/shared/kube/api.ts";
import { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { type MeasureQueue, WorkQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { ListPods, ReadLog } from "@jobferry/shared/protocol/delivery.ts";
import type { OwnKeys, PublicKey } from "@jobferry/shared/protocol/keys.ts";
import { DEFAULT_QUEUE, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import type { ClusterName, HubUid } from "@jobferry/shared/protocol/names.ts";
import { addressName, type Bus, type Quarantined } from "@jobferry/shared/queue/bus.ts";
import { type ManagerTransport, managerTransport } from "@jobferry/shared/queue/transport.ts";
import { aborted } from "@jobferry/shared/runtime/aborted.ts";
import { type Clock, sleep } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Random, realRandom } from "@jobferry/shared/runtime/random.ts";
import type { Cluster } from "./clusters/cluster.ts";
import { Clusters } from "./clusters/clusters.ts";
import { Inventories } from "./clusters/inventories.ts";
import { JobHealth } from "./clusters/job-health.ts";
import { Membership } from "./clusters/membership.ts";
import { ClusterStatusWriter } from "./clusters/status-writer.ts";
import { Outbox } from "./delivery/outbox.ts";
import { FleetStatus } from "./fleet-status.ts";
import { Grants } from "./hub/grants.ts";
import { HubJobs } from "./hub/jobs.ts";
import { isOurs, Phases, uidOf } from "./hub/phase.ts";
import { HubWatch } from "./hub/watch.ts";
import { readWishes } from "./hub/wishes.ts";
import { Reconciler } from "./hub-job/reconcile.ts";
import type { DispatchMetrics } from "./metrics.ts";
import { Budgets } from "./placement/budgets.ts";
import { Ledger } from "./placement/ledger.ts";
import { classNameOf, priorityOf } from "./placement/order/priority.ts";
import { Placement } from "./placement/placement.ts";
import { Queues } from "./placement/queues.ts";
import type { KubeletAddress } from "./pods/node.ts";
import { PodSide } from "./pods/pod-side.ts";
import { type PodSettings, shadowPodsOf } from "./pods/settings.ts";
import type { ShownLogs } from "./pods/shown-logs.ts";
import { JobLogs } from "./readings/job-logs.ts";
import { Asks } from "./references/asks.ts";
import { ChangedUnderWay } from "./references/changed-under-way.ts";
import { Hashes } from "./references/hashes.ts";
import { HubReferences } from "./references/hub-references.ts";
import { Inbox } from "./reports/inbox.ts";
import { Reports } from "./reports/reports.ts";

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
  /** Undefined: pods are not shown on the hub. */
  pods?: PodSettings | undefined;
  /** Where the API server reads logs of shown pods. */
  kubelet?: KubeletAddress | undefined;
  /** Hears of every report that was not acted upon, and why. */
  onRefused?: (cluster: string, code: string) => void;
  /** Hears why an event was not written. */
  onEventDropped?: (why: string) => void;
  metrics?: DispatchMetrics;
  queueMetrics?: MeasureQueue;
}

/** Silence is counted, and clusters are looked at, this often. */
const TICK_MS = 5_000;
const STOP_MS = 3_000;
/** PriorityClasses that come later than this change the order when they come. */
const RANKS_MS = 2_000;
/** What takes longer lets others run in between. */
const LINE_UP_MS = 20;

/** The leading manager: from its first list of the hub to the loss of its Lease. Wiring, and what happens every few seconds. */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #abort = new AbortController();
  readonly #hub: HubWatch;
  readonly #phases: Phases;
  readonly #jobs: HubJobs;
  readonly #clusters: Clusters;
  readonly #budgets: Budgets;
  readonly #placement: Placement;
  readonly #health: JobHealth;
  readonly #transport: ManagerTransport;
  readonly #outbox: Outbox;
  readonly #recorder: EventRecorder;
  readonly status: FleetStatus;
  readonly #inventories: Inventories;
  readonly #membership: Membership;
  readonly #reports: Reports;
  readonly #work: WorkQueue;
  readonly #pods: PodSide | undefined;
  /** Logs of Jobs whose pods need not be shown on the hub. */
  readonly jobLogs: JobLogs;
  /** Lost clusters whose Jobs were looked at since something changed that may help them. */
  readonly #lookedAt = new Set<Cluster>();

  constructor(options: ManagerOptions) {
    this.#options = options;
    const { api, clock, random = realRandom, logger, bus, keys, onRefused, queueMetrics } = options;
    const phases = new Phases(new Grants(keys.map(({ privateKey }) => privateKey)));
    this.#phases = phases;
    this.#hub = new HubWatch({
      ...{ api, clock, random, logger, phases },
      showsPods: options.pods !== undefined,
    });
    const jobs = new HubJobs({ api, watched: this.#hub.jobs, phases });
    this.#jobs = jobs;
    const clusters = new Clusters(clock, keys[0].publicKey.text, random);
    this.#clusters = clusters;
    const clusterKeys = (name: Cluster["name"]): readonly PublicKey[] => clusters.get(name)?.keys ?? [];
    const transport = managerTransport({ bus, keys, clusterKeys });
    this.#transport = transport;
    const wantedPods = (job: Job): number => {
      const queue = this.#phases.assignmentOf(job)?.queue ?? job.metadata.labels?.[QUEUE_LABEL] ?? DEFAULT_QUEUE;
      return shadowPodsOf(job, options.pods, queues.pods(queue));
    };
    const classValue = (name: string): number | undefined =>
      name === "" ? undefined : this.#hub.priorityClasses.get(undefined, name)?.value;
    const importance = (job: Job, queue: string): number => {
      const read = readWishes(job);
      const asked = "wishes" in read ? read.wishes.priority : undefined;
      return priorityOf({ asked, ofClass: classValue(classNameOf(job)), most: queues.maxPriority(queue) });
    };
    const outbox = new Outbox({ transport, clusters, shadowPodsOf: wantedPods, priorityOf: importance });
    this.#outbox = outbox;
    const onDropped = options.onEventDropped === undefined ? {} : { onDropped: options.onEventDropped };
    const recorder = new EventRecorder({
      api,
      clock,
      logger,
      component: "jobferry-manager",
      queueMetrics,
      ...onDropped,
    });
    this.#recorder = recorder;
    const ledger = new Ledger(clusters);
    const queues = new Queues({
      queueNamed: (name) => this.#hub.queues.get(undefined, name),
      labelsOfNamespace: (name) => this.#hub.namespaces.get(undefined, name)?.metadata.labels,
      ledger,
      all: () => this.#hub.queues.list(),
      clusters,
      clock,
      spent: (name) => this.#budgets.obstacle(name),
    });
    this.#budgets = new Budgets({
      clock,
      queues: () => this.#hub.queues.list(),
      held: (name) => ledger.loadOf(name).used,
      changed: (name) => this.#queueChanged(name),
    });
    const enqueue = (uid: HubUid, resend = false): void => {
      if (resend) outbox.forget(uid);
      this.#work.add(uid);
      if (resend) this.#pods?.changed(uid);
    };
    const placement = new Placement({
      ...{ clock, clusters, queues, ledger, phases, enqueue },
      jobOf: (uid) => jobs.byUid(uid),
      priorityClass: classValue,
    });
    this.#placement = placement;
    const health = new JobHealth({
      ...{ clusters, clock, recorder },
      jobOf: (uid) => jobs.byUid(uid),
      changed: (name) => this.#clusterChanged(name),
    });
    this.#health = health;
    const references = new HubReferences({ api, clock, queues, hashes: new Hashes(keys) });
    const inbox = new Inbox();
    const changed = new ChangedUnderWay({
      ...{ inbox, phases, recorder, queues },
      enqueue: (uid, resend) => {
        reconciler.listAnew(uid);
        enqueue(uid, resend);
      },
    });
    const asks = new Asks({
      ...{ references, transport, logger, onRefused },
      changed: (...what) => changed.take(...what),
      unavailable: (...what) => changed.gone(...what),
      onSent: (cluster, kind) => options.metrics?.contentsSent(cluster, kind),
    });
    const reconciler = new Reconciler({
      jobs,
      phases,
      clusters,
      queues,
      ledger,
      placement,
      inbox,
      outbox,
      references,
      health,
      priorityClass: classValue,
      recorder,
      logger,
      clock,
      onRefused,
      metrics: options.metrics,
      deletionBoundMs: options.deletionBoundMs ?? 60_000,
      hubVersion: options.hubVersion,
      shadowPodsOf: wantedPods,
      endHeldMs: (uid, job) => this.#pods?.endHeldMs(uid, job) ?? 0,
    });
    this.#work = new WorkQueue({
      name: "hub-jobs",
      metrics: queueMetrics,
      clock,
      logger,
      concurrency: options.concurrency ?? 32,
      backoff: { baseMs: 250, maxMs: 30_000 },
      process: (uid) => reconciler.reconcile(uid as HubUid),
    });
    const clusterStatus = new ClusterStatusWriter({
      api,
      clock,
      clusters,
      runningJobs: (cluster) => jobs.onCluster(cluster).length,
    });
    this.status = new FleetStatus({
      ...{ api, logger, clusters, clusterStatus, transport, queues, ledger, placement, budgets: this.#budgets },
      listQueues: () => this.#hub.queues.list(),
    });
    this.#inventories = new Inventories({
      jobs,
      phases,
      status: clusterStatus,
      transport,
      clock,
      random,
      logger,
      everyMs: options.inventoryMs ?? 30_000,
    });
    const reconsider = ({ name }: Cluster): void => this.#clusterChanged(name);
    const jobNamed = (namespace: string, name: string): Job | undefined => {
      const seen = this.#hub.jobs.get(namespace, name);
      return seen && isOurs(seen) ? jobs.byUid(uidOf(seen)) : undefined;
    };
    this.jobLogs = new JobLogs({ jobNamed, phases });
    if (options.pods !== undefined)
      this.#pods = new PodSide({
        ...{ api, clock, random, logger, jobs, phases, clusters, transport, recorder, queueMetrics },
        settings: options.pods,
        kubelet: options.kubelet,
        shadowPodsOf: wantedPods,
        onEndShown: (uid) => this.#work.add(uid),
      });
    const reports = new Reports({
      jobs,
      phases,
      inbox,
      outbox,
      health,
      recorder,
      logger,
      onRefused,
      enqueue,
      reconsider,
      asked: async (job, ask) => {
        const assignment = phases.assignmentOf(job);
        if (assignment !== undefined) await asks.answer(job, assignment, ask);
      },
      mended: (uid, { name }) => ledger.mended(uid, name, clock.monotonic()),
      mendedAll: ({ name }) => ledger.mendedAll(name, clock.monotonic()),
      pods: this.#pods,
      connected: (cluster) => this.#membership.connected(cluster),
      transport,
      clock,
    });
    this.#reports = reports;
    this.#membership = new Membership({
      api,
      clusters,
      jobs,
      status: clusterStatus,
      inventories: this.#inventories,
      transport,
      logger,
      report: (cluster, report) => reports.handle(cluster, report),
      enqueue,
      reconsider,
    });
    jobs.onChange((uid, job) => {
      // First: clients look for pods as soon as they have created the Job.
      this.#pods?.changed(uid);
      placement.observe(uid, job);
      this.#work.add(uid);
    });
  }

  get ready(): boolean {
    return this.#hub.hasSynced;
  }

  /** Logs of the pods that are shown on the hub. */
  get logs(): ShownLogs | undefined {
    return this.#pods?.logs;
  }

  /** Asks an agent for a log. */
  async askForLog(cluster: ClusterName, ask: ReadLog | ListPods): Promise<void> {
    await this.#transport.sendDelivery(cluster, ask);
  }

  /** A message that could not be read. Whoever runs the fleet has to act: enrol the cluster again, upgrade one side. */
  messageRefused({ address, code, reason }: Quarantined): void {
    const object = this.#hub.clusters.get(undefined, address.cluster);
    if (object === undefined) return;
    this.#clusters.get(address.cluster)?.refused(`${code}: ${reason}`);
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
    const edited = ({ metadata: { name } }: JobQueue): void => this.#queueChanged(name);
    this.#hub.queues.addHandler({
      added: edited,
      // What we write ourselves is its status.
      updated: (before, after) => before.metadata.generation !== after.metadata.generation && edited(after),
      deleted: edited,
    });
    const labelled = (): void => this.#queueChanged();
    this.#hub.namespaces.addHandler({
      added: labelled,
      updated: ({ metadata: { labels: before } }, { metadata: { labels: after } }) =>
        !isDeepStrictEqual(before, after) && labelled(),
      deleted: labelled,
    });
    const ranked = ({ metadata: { name } }: KubeObject): void => this.#priorityClassChanged(name ?? "");
    this.#hub.priorityClasses.addHandler({ added: ranked, updated: (_, after) => ranked(after), deleted: ranked });
    const watching = this.#hub.run(signal);
    const pods = this.#pods?.run(signal);
    await Promise.race([this.#hub.whenSynced(), aborted(signal)]);
    const ranks = Promise.race([this.#hub.priorityClasses.whenSynced(), aborted(signal)]);
    if (!signal.aborted) await Promise.race([ranks, sleep(this.#options.clock, RANKS_MS, signal).catch(() => {})]);
    if (!signal.aborted) {
      this.#budgets.count();
      await this.#lineUp();
      this.#work.start();
      this.#membership.listen();
      const unsubscribe = this.#transport.onReachable((reachable) => reachable && this.#redisReturned());
      await this.#tick(signal);
      unsubscribe();
    }
    this.#placement.stop();
    this.#reports.stop();
    this.#health.stop();
    await this.#membership.stop();
    await this.#work.stop();
    await this.#recorder.stop(STOP_MS);
    await watching;
    await pods;
  }

  /** Every Job that waits stands in line before the first one is placed: the most important goes first, not the first listed. */
  async #lineUp(): Promise<void> {
    const { clock } = this.#options;
    let since = clock.monotonic();
    for (const job of [...this.#jobs.all()]) {
      if (clock.monotonic() - since >= LINE_UP_MS) {
        await sleep(clock, 0);
        since = clock.monotonic();
      }
      const read = readWishes(job);
      const phase = this.#phases.of(job);
      if (phase.phase === "waiting" && phase.forged === undefined && "wishes" in read)
        this.#placement.enter(job, read.wishes);
    }
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    while (!signal.aborted) {
      this.#budgets.count();
      this.#clusters.countSilence((name) => this.#transport.reachable && this.#membership.reaches(name));
      // A cluster that we do not hear must not go on hearing us: it counts our silence too.
      const due = [...this.#clusters].filter((cluster) => cluster.isConnected && this.#inventories.isDue(cluster));
      await Promise.all(due.map((cluster) => this.#inventories.send(cluster)));
      for (const cluster of this.#clusters) this.#lookAtLost(cluster);
      // Not waited for: a hub that is slow to answer must not keep agents waiting for their next inventory.
      this.status
        .write()
        .catch((error: unknown) => logger.warn({ error }, "status of clusters and queues not written"));
      await sleep(clock, TICK_MS, signal).catch(() => {});
    }
  }

  /** The Jobs of a lost cluster may leave it, once it is lost and whenever another cluster may have room. */
  #lookAtLost(cluster: Cluster): void {
    if (!cluster.silence.isLost) {
      this.#lookedAt.delete(cluster);
      return;
    }
    const stops = this.#jobs.onCluster(cluster.name);
    for (const job of stops) {
      const waitsForItsPods = this.#phases.holderOf(job)?.stopAfterSeconds !== undefined;
      if (!this.#lookedAt.has(cluster) || waitsForItsPods) this.#work.add(uidOf(job));
      if (!this.#lookedAt.has(cluster)) this.#pods?.changed(uidOf(job));
    }
    this.#lookedAt.add(cluster);
  }

  #clusterChanged(name: ClusterName): void {
    this.#lookedAt.clear();
    this.#placement.clusterChanged(name);
  }

  #queueChanged(name?: string): void {
    this.#lookedAt.clear();
    this.#placement.queueChanged(name);
  }

  /** Those that wait have another place in the order. Such classes are made once in a while, by hand. */
  #priorityClassChanged(name: string): void {
    for (const job of this.#jobs.all()) if (classNameOf(job) === name) this.#work.add(uidOf(job));
  }

  #redisReturned(): void {
    this.#outbox.forgetAll();
    for (const job of this.#jobs.all()) this.#work.add(uidOf(job));
  }
}
