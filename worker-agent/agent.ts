import { randomUUID } from "node:crypto";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { namespaces } from "@jobferry/shared/kube/resources.ts";
import { pagesOf, RoundNames } from "@jobferry/shared/protocol/inventory.ts";
import type { OwnKeys, PeerKeys } from "@jobferry/shared/protocol/keys.ts";
import { MAX_SENTENCE_CHARS } from "@jobferry/shared/protocol/limits.ts";
import { WORKER_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Bus, Subscription } from "@jobferry/shared/queue/bus.ts";
import { type AgentTransport, agentTransport } from "@jobferry/shared/queue/transport.ts";
import { type Clock, sleep } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Random, realRandom } from "@jobferry/shared/runtime/random.ts";
import type { Registry } from "prom-client";
import { Capacity } from "./capacity/capacity.ts";
import { NodesNews } from "./capacity/nodes-news.ts";
import { FailedStarts } from "./intake/failed-starts.ts";
import { Intake } from "./intake/intake.ts";
import { isSeeded } from "./intake/mirror.ts";
import { identityOf, Mirrors } from "./intake/mirrors.ts";
import { type RunningJobController, runJobController } from "./job-controller/run.ts";
import { Contact } from "./lease/contact.ts";
import { generationOf, Reporter, seqOf, statusOf } from "./report/reporter.ts";
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
  version: string;
  kubernetesVersion: string;
  controller?: "agent" | "builtin";
  /** The worker's namespace for a hub namespace; the same unless given. */
  mapNamespace?: (hubNamespace: string) => string;
  retentionMs?: number;
  /** Which events of its mirrors' life our Job controller writes on this cluster; only warnings unless given. */
  mirrorEvents?: "all" | "warnings";
  /** Labels of nodes that Jobs may choose by, besides the well-known ones. */
  nodeLabels?: readonly string[];
  heartbeatMs?: number;
  inventoryMs?: number;
  registry?: Registry;
}

const STOP_MS = 3_000;

/** One worker cluster's side of the fleet: takes assignments, runs their mirrors, reports on them. */
export class Agent {
  readonly #options: AgentOptions;
  readonly #transport: AgentTransport;
  readonly #mirrors: Mirrors;
  readonly #intake: Intake;
  readonly #reporter: Reporter;
  readonly #warnings: Warnings;
  readonly #capacity: Capacity;
  readonly #nodesNews = new NodesNews();
  readonly #contact: Contact;
  #controller: RunningJobController | undefined;
  #clusterID = "";
  readonly #rounds = new RoundNames(randomUUID());
  #inventoryDue = 0;
  #ready = false;

  constructor(options: AgentOptions) {
    this.#options = options;
    const { api, bus, clock, random = realRandom, logger, cluster, keys, managerKeys } = options;
    this.#transport = agentTransport({ bus, cluster, keys, managerKeys });
    this.#mirrors = new Mirrors({ api, clock, random, logger });
    this.#reporter = new Reporter({ transport: this.#transport, mirrors: this.#mirrors, clock, logger });
    this.#contact = new Contact({
      ...{ api, clock, random, logger, mirrors: this.#mirrors },
      onStandstill: () => {
        this.#cutOff();
        this.#reintroduce();
      },
    });
    this.#intake = new Intake({
      api,
      clock,
      logger,
      mirrors: this.#mirrors,
      controller: options.controller ?? "agent",
      mapNamespace: options.mapNamespace ?? ((namespace) => namespace),
      retentionMs: options.retentionMs ?? 600_000,
      refuse: ({ uid, epoch }, { reason, message }) =>
        this.#transport.sendReport({
          kind: "refused",
          uid,
          epoch,
          reason,
          message: message.slice(0, MAX_SENTENCE_CHARS),
        }),
      withdrawn: ({ uid, epoch }, last) =>
        this.#transport.sendReport({
          kind: "withdrawn",
          uid,
          epoch,
          ...(last === undefined ? {} : { last: { seq: seqOf(last), status: statusOf(last) } }),
        }),
      inContact: (stopAfterSeconds) => this.#contact.holds(stopAfterSeconds),
      isAnswer: (stamp) => this.#contact.isAnswer(stamp),
      look: () => this.#contact.look(),
      mirrored: (assignments) => this.#reporter.mirrored(assignments),
      reportNow: (mirror) => this.#reporter.now(mirror),
    });
    const failedStarts = new FailedStarts();
    this.#warnings = new Warnings({
      ...{ api, clock, random, logger, mirrors: this.#mirrors, transport: this.#transport },
      onFailedCreate: (mirror, message, times) => {
        const refusal = failedStarts.note(mirror, message, times);
        const identity = identityOf(mirror);
        if (refusal !== undefined && identity !== undefined) this.#intake.giveBack(identity, refusal);
      },
    });
    // Somebody may have deleted it by hand: the manager should not find out half a minute later.
    this.#mirrors.reflector.addHandler({
      deleted: (mirror) => {
        if (!isFinished(mirror)) this.#inventoryDue = 0;
      },
    });
    this.#capacity = new Capacity({ api, clock, random, logger, nodeLabels: options.nodeLabels });
  }

  get ready(): boolean {
    return this.#ready && (this.#controller?.ready ?? true);
  }

  /** Serves until `signal` aborts, then finishes the writes under way and returns. */
  async run(signal: AbortSignal): Promise<void> {
    const { api, clock, logger } = this.#options;
    this.#clusterID = (await api.get(namespaces, { name: "kube-system" })).metadata.uid ?? "";
    const background = [
      this.#mirrors.reflector.start(signal),
      this.#capacity.start(signal),
      this.#warnings.start(signal),
    ];
    await Promise.race([
      Promise.all([this.#mirrors.reflector.whenSynced(), this.#capacity.whenSynced()]),
      aborted(signal),
    ]);
    let subscription: Subscription | undefined;
    let unsubscribe = (): void => {};
    if (!signal.aborted) {
      if (this.#options.controller !== "builtin") this.#controller = this.#startController();
      this.#intake.start();
      this.#reporter.start();
      subscription = this.#transport.onDelivery(async (delivery) => {
        if (delivery.kind === "inventory") this.#contact.heard(delivery.heard);
        this.#intake.take(delivery);
      });
      unsubscribe = this.#transport.onReachable((reachable) => {
        if (reachable) this.#reintroduce();
        else this.#cutOff();
      });
      this.#ready = true;
      await Promise.all([this.#beat(signal), this.#contact.watch(signal)]);
    }
    this.#ready = false;
    unsubscribe();
    await subscription?.stop(STOP_MS);
    await Promise.all([this.#intake.stop(), this.#controller?.stop()]);
    await this.#reporter.stop();
    await Promise.all(background);
    logger.info({ at: clock.now() }, "agent stopped");
  }

  #startController(): RunningJobController {
    const { api, clock, random = realRandom, logger, registry, mirrorEvents = "warnings" } = this.#options;
    return runJobController({
      api,
      clock,
      random,
      logger,
      events: mirrorEvents,
      claim: { managedBy: WORKER_MANAGED_BY, also: isSeeded },
      ...(registry === undefined ? {} : { registry }),
    });
  }

  async #beat(signal: AbortSignal): Promise<void> {
    const { clock, logger, heartbeatMs = 5_000, inventoryMs = 30_000 } = this.#options;
    let kind: "hello" | "heartbeat" = "hello";
    while (!signal.aborted) {
      try {
        await this.#sendHealth(kind);
        if (kind === "hello") this.#reporter.repeatAll();
        kind = "heartbeat";
        if (clock.monotonic() >= this.#inventoryDue) {
          this.#inventoryDue = clock.monotonic() + inventoryMs;
          await this.#sendInventory();
        }
      } catch (error) {
        logger.warn({ error }, "heartbeat not sent");
      }
      await sleep(clock, heartbeatMs, signal).catch(() => {});
    }
  }

  #cutOff(): void {
    this.#contact.cutOff();
    this.#intake.cutOff();
  }

  /** Redis was away and may have forgotten everything, or we were. */
  #reintroduce(): void {
    const introduce = async (): Promise<void> => {
      await this.#sendHealth("hello");
      this.#reporter.repeatAll();
      await this.#sendInventory();
    };
    introduce().catch((error) => this.#options.logger.warn({ error }, "could not introduce ourselves again"));
  }

  async #sendHealth(kind: "hello" | "heartbeat"): Promise<void> {
    const nodes = this.#capacity.nodes();
    const now = this.#options.clock.monotonic();
    const tells = kind === "hello" || this.#nodesNews.isDue(nodes, now);
    await this.#transport.sendReport({ ...this.#health(kind), ...(tells ? { nodes } : {}) });
    if (tells) this.#nodesNews.sent(nodes, now);
  }

  #health(kind: "hello" | "heartbeat") {
    return {
      kind,
      clusterID: this.#clusterID,
      agentVersion: this.#options.version,
      kubernetesVersion: this.#options.kubernetesVersion,
      ...this.#capacity.report(),
      stamp: this.#contact.stamp(),
      resourceVersion: Math.max(1, Number(this.#mirrors.reflector.resourceVersion)),
      managerKeys: this.#options.managerKeys.map(({ text }) => text),
    };
  }

  /** Mirrors that only wait for the end of their retention are not in it: the manager has done with them. */
  async #sendInventory(): Promise<void> {
    const mirrors = [];
    for (const {
      mirror,
      identity: { uid, epoch },
    } of this.#mirrors.all())
      if (!this.#intake.isReleased(uid))
        mirrors.push({ uid, epoch, generation: generationOf(mirror), finished: isFinished(mirror) });
    const pages = pagesOf(mirrors);
    const round = this.#rounds.next();
    for (const [index, page] of pages.entries())
      await this.#transport.sendReport({
        kind: "inventory",
        round,
        page: index + 1,
        pages: pages.length,
        mirrors: page,
      });
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
