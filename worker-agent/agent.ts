import { CONTROLLER_UID_LABEL, LEGACY_CONTROLLER_UID_LABEL } from "@jobferry/shared/job/keys.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { workQueueMetrics } from "@jobferry/shared/kube/metrics.ts";
import { namespaces } from "@jobferry/shared/kube/resources.ts";
import type { MeasureQueue } from "@jobferry/shared/kube/workqueue.ts";
import type { Delivery } from "@jobferry/shared/protocol/delivery.ts";
import type { OwnKeys, PeerKeys } from "@jobferry/shared/protocol/keys.ts";
import { HUB_UID_LABEL, WORKER_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Bus, Subscription } from "@jobferry/shared/queue/bus.ts";
import { type AgentTransport, agentTransport } from "@jobferry/shared/queue/transport.ts";
import type { CopiedKind } from "@jobferry/shared/references/contents.ts";
import { aborted } from "@jobferry/shared/runtime/aborted.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Random, realRandom } from "@jobferry/shared/runtime/random.ts";
import type { Registry } from "prom-client";
import { Acceptance, type AcceptancePolicy, ALL_NAMESPACES } from "./acceptance/acceptance.ts";
import { Assignments } from "./assignments/assignments.ts";
import { Awaited } from "./assignments/awaited.ts";
import { FailedStarts } from "./assignments/failed-starts.ts";
import { refusalOf } from "./assignments/refusal.ts";
import { Capacity } from "./capacity/capacity.ts";
import { Contact } from "./contact/contact.ts";
import { type About, Heartbeat } from "./contact/heartbeat.ts";
import { StartGate } from "./contact/start-gate.ts";
import { type RunningJobController, runJobController } from "./job-controller/run.ts";
import { identityOf, isSeeded, Mirrors, wantsPods } from "./mirrors.ts";
import type { LogTaker } from "./pods/log-sender.ts";
import { MirrorPods } from "./pods/mirror-pods.ts";
import { PodReporter } from "./pods/pod-reporter.ts";
import { type MirrorKeys, Proofs } from "./proofs.ts";
import { Copies } from "./references/copies.ts";
import { CopyMaker } from "./references/copy.ts";
import { CopyGuard } from "./references/copy-guard.ts";
import { Sweeper } from "./references/sweeper.ts";
import { Reporter } from "./report/reporter.ts";
import { Unschedulable } from "./report/unschedulable.ts";
import { Warnings } from "./report/warnings.ts";

export interface AgentOptions {
  api: KubeApi;
  bus: Bus;
  clock: Clock;
  random?: Random;
  logger: Logger;
  cluster: ClusterName;
  keys: OwnKeys;
  managerKeys: PeerKeys;
  /** What this agent knows its own mirrors by. */
  mirrorKeys: MirrorKeys;
  version: string;
  kubernetesVersion: string;
  /** What the hub may run here; in all namespaces but the system's unless given. */
  accept?: AcceptancePolicy;
  controller?: "agent" | "builtin";
  /** The worker's namespace for a hub namespace; the same unless given. */
  mapNamespace?: (hubNamespace: string) => string;
  retentionMs?: number;
  /** Which events of its mirrors' life our Job controller writes on this cluster; only warnings unless given. */
  mirrorEvents?: "all" | "warnings";
  heartbeatMs?: number;
  inventoryMs?: number;
  registry?: Registry;
  /** Who reads logs of these pods for the hub; without it nobody there can read them. */
  logs?: ((pods: MirrorPods) => LogTaker) | undefined;
  /** What may be copied to this cluster; ConfigMaps unless given. */
  acceptReferences?: ReadonlySet<CopiedKind>;
  /** Labels of nodes that Jobs may choose by, besides the well-known ones. */
  nodeLabels?: readonly string[];
}

const STOP_MS = 3_000;

/** A selector written by hand may match pods that are somebody else's: of a mirror only its own come back to it. */
const isMadeFor = ({ metadata: { uid, labels } }: Job, pod: Pod): boolean =>
  labels?.[HUB_UID_LABEL] === undefined ||
  [CONTROLLER_UID_LABEL, LEGACY_CONTROLLER_UID_LABEL].some((label) => pod.metadata.labels?.[label] === uid);

/** One worker cluster's side of the fleet: takes assignments, runs their mirrors, reports on them. */
export class Agent {
  readonly #options: AgentOptions;
  readonly #transport: AgentTransport;
  readonly #proofs: Proofs;
  readonly #mirrors: Mirrors;
  readonly #assignments: Assignments;
  readonly #reporter: Reporter;
  readonly #warnings: Warnings;
  readonly #unschedulable: Unschedulable;
  readonly #pods: PodReporter;
  readonly #logs: LogTaker | undefined;
  readonly #capacity: Capacity;
  readonly #contact: Contact;
  readonly #heartbeat: Heartbeat;
  readonly #gate: StartGate;
  readonly #queueMetrics: MeasureQueue | undefined;
  readonly #awaited: Awaited;
  readonly #acceptance: Acceptance;
  readonly #copies: Copies;
  readonly #guard: CopyGuard;
  readonly #sweeper: Sweeper;
  #controller: RunningJobController | undefined;
  #about: About | undefined;
  #ready = false;

  constructor(options: AgentOptions) {
    this.#options = options;
    const { api, bus, clock, random = realRandom, logger, cluster, keys, managerKeys } = options;
    this.#transport = agentTransport({ bus, cluster, keys, managerKeys });
    this.#proofs = new Proofs(options.mirrorKeys);
    this.#mirrors = new Mirrors({ api, clock, random, logger, proofs: this.#proofs });
    const queueMetrics = options.registry === undefined ? undefined : workQueueMetrics(options.registry);
    this.#queueMetrics = queueMetrics;
    this.#reporter = new Reporter({ transport: this.#transport, mirrors: this.#mirrors, clock, logger, queueMetrics });
    this.#contact = new Contact({
      ...{ api, clock, random, logger, mirrors: this.#mirrors },
      onStandstill: () => this.#stoodStill(),
    });
    this.#gate = new StartGate({ clock, onOpen: () => this.#controller?.syncAll() });
    this.#awaited = new Awaited({ transport: this.#transport, clock, logger });
    this.#acceptance = new Acceptance({ api, clock, random, logger, policy: options.accept ?? ALL_NAMESPACES });
    const maker = new CopyMaker(options.mirrorKeys);
    this.#copies = new Copies({
      ...{ api, clock, logger, maker, transport: this.#transport, mirrors: this.#mirrors },
      accepts: options.acceptReferences ?? new Set(["ConfigMap"]),
      refusalOf,
      settled: (jobs) => this.#assignments.lookAgain(jobs),
      made: (...copy) => this.#guard.made(...copy),
    });
    this.#guard = new CopyGuard({
      ...{ api, clock, random, logger, maker, transport: this.#transport, mirrors: this.#mirrors },
      restore: (jobs, place, hubNamespace) => this.#copies.restore(jobs, place, hubNamespace),
    });
    this.#sweeper = new Sweeper({
      ...{ api, clock, logger, mirrors: this.#mirrors, copies: this.#copies, maker },
      served: () => this.#acceptance.served(),
    });
    this.#assignments = new Assignments({
      ...{ api, clock, logger, mirrors: this.#mirrors, reporter: this.#reporter },
      ...{
        transport: this.#transport,
        contact: this.#contact,
        awaited: this.#awaited,
        queueMetrics,
        proofs: this.#proofs,
        acceptance: this.#acceptance,
        copies: this.#copies,
        guard: this.#guard,
      },
      controller: options.controller ?? "agent",
      mapNamespace: options.mapNamespace ?? ((namespace) => namespace),
      retentionMs: options.retentionMs ?? 600_000,
      onStandstill: () => this.#stoodStill(),
      onAnswer: () => this.#gate.open(),
    });
    const failedStarts = new FailedStarts();
    this.#warnings = new Warnings({
      ...{ api, clock, random, logger, mirrors: this.#mirrors, transport: this.#transport, queueMetrics },
      onFailedCreate: (mirror, message, times) => {
        const refusal = failedStarts.note(mirror, message, times);
        const identity = identityOf(mirror);
        if (refusal !== undefined && identity !== undefined) this.#assignments.giveBack(identity, refusal, mirror);
      },
    });
    this.#unschedulable = new Unschedulable({
      ...{ api, clock, random, logger, mirrors: this.#mirrors, transport: this.#transport, queueMetrics },
    });
    this.#pods = new PodReporter({
      ...{ api, clock, random, logger, mirrors: this.#mirrors, transport: this.#transport },
      inventoryMs: options.inventoryMs ?? 30_000,
    });
    this.#logs = options.logs?.(new MirrorPods(api, this.#mirrors));
    this.#capacity = new Capacity({ api, clock, random, logger, nodeLabels: options.nodeLabels });
    this.#heartbeat = new Heartbeat({
      ...{ transport: this.#transport, clock, random, logger, contact: this.#contact, mirrors: this.#mirrors },
      capacity: this.#capacity,
      isReleased: (ref) => this.#assignments.isReleased(ref),
      hubRevision: () => this.#assignments.hubRevision,
      onHello: () => this.#reporter.repeatAll(),
      everyMs: options.heartbeatMs ?? 5_000,
      inventoryMs: options.inventoryMs ?? 30_000,
    });
  }

  get ready(): boolean {
    return this.#ready && (this.#controller?.ready ?? true);
  }

  /** Serves until `signal` aborts, then finishes the writes under way and returns. */
  async run(signal: AbortSignal): Promise<void> {
    const { api, clock, logger, version, kubernetesVersion, managerKeys } = this.#options;
    const about: About = {
      clusterID: (await api.get(namespaces, { name: "kube-system" })).metadata.uid ?? "",
      agentVersion: version,
      kubernetesVersion,
      managerKeys: managerKeys.map(({ text }) => text),
    };
    this.#about = about;
    const background = [
      this.#mirrors.reflector.start(signal),
      this.#capacity.start(signal),
      this.#warnings.start(signal),
      this.#unschedulable.start(signal),
      this.#acceptance.start(signal),
    ];
    await Promise.race([
      Promise.all([this.#mirrors.reflector.whenSynced(), this.#capacity.whenSynced(), this.#acceptance.whenSynced()]),
      aborted(signal),
    ]);
    let subscription: Subscription | undefined;
    let unsubscribe = (): void => {};
    if (!signal.aborted) {
      this.#gate.close();
      // What fails is tried again at the next start; until then both keys must stay.
      void this.#mirrors
        .renewProofs()
        .catch((error: unknown) => logger.warn({ error }, "not every mirror is marked with the new mirror key"));
      if (this.#options.controller !== "builtin") this.#controller = this.#startController();
      this.#assignments.start();
      this.#reporter.start();
      this.#sweeper.start();
      this.#guard.start(signal);
      subscription = this.#transport.onDelivery((delivery) => this.#take(delivery));
      unsubscribe = this.#transport.onReachable((reachable) => {
        if (reachable) this.#returned();
        else this.#cutOff();
      });
      this.#ready = true;
      await Promise.all([this.#heartbeat.run(about, signal), this.#contact.watch(signal), this.#pods.run(signal)]);
    }
    this.#ready = false;
    unsubscribe();
    this.#gate.stop();
    this.#awaited.stop();
    this.#copies.stop();
    await Promise.all([this.#sweeper.stop(), this.#guard.stop()]);
    await subscription?.stop(STOP_MS);
    await this.#logs?.stop();
    await Promise.all([this.#assignments.stop(), this.#controller?.stop()]);
    await this.#reporter.stop();
    await Promise.all(background);
    logger.info({ at: clock.now() }, "agent stopped");
  }

  async #take(delivery: Delivery): Promise<void> {
    if (delivery.kind === "pods-wanted") this.#pods.wanted(delivery.mirrors);
    else if (delivery.kind === "delete-pod") await this.#pods.delete(delivery);
    else if (delivery.kind === "read-log" || delivery.kind === "list-pods") this.#logs?.take(delivery);
    else if (delivery.kind === "challenge") await this.#challenged(delivery);
    else this.#assignments.take(delivery);
  }

  async #challenged({ nonce, again }: Extract<Delivery, { kind: "challenge" }>): Promise<void> {
    this.#contact.nonce = nonce;
    if (again !== undefined && this.#about !== undefined) await this.#heartbeat.again(again, this.#about);
  }

  #startController(): RunningJobController {
    const { api, clock, random = realRandom, logger, registry, mirrorEvents = "warnings" } = this.#options;
    return runJobController({
      api,
      clock,
      random,
      logger,
      events: mirrorEvents,
      claim: {
        managedBy: WORKER_MANAGED_BY,
        also: (job) => this.#runs(job),
        adopts: isMadeFor,
      },
      ...(registry === undefined ? {} : { registry }),
      ...(this.#queueMetrics === undefined ? {} : { queueMetrics: this.#queueMetrics }),
    });
  }

  /** Another agent's mirror, or a Job that only looks like one, is not ours to run. */
  #runs(job: Job): boolean {
    if (!isSeeded(job) || this.#proofs.isForeign(job)) return false;
    return !wantsPods(job) || (this.#gate.admits(job) && this.#assignments.mayStart(job));
  }

  #cutOff(): void {
    this.#contact.cutOff();
    this.#assignments.cutOff();
  }

  #stoodStill(): void {
    this.#cutOff();
    this.#returned();
  }

  /** Redis was away and may have forgotten everything, or we were: the manager says what is still ours. */
  #returned(): void {
    this.#gate.close();
    if (this.#about !== undefined) void this.#heartbeat.introduce(this.#about);
  }
}
