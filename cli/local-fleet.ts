/** Manager and agents of a fleet, in this process. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { Manager } from "@jobferry/manager/manager.ts";
import type { KubeletAddress } from "@jobferry/manager/pods/node.ts";
import { DEFAULT_POD_SETTINGS } from "@jobferry/manager/pods/settings.ts";
import { type FleetCondition, type WorkerCluster, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeApi, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { fencedApi } from "@jobferry/shared/kube/fenced-api.ts";
import { LeaderElector } from "@jobferry/shared/kube/lease.ts";
import type { PodLogs } from "@jobferry/shared/kube/pod-logs.ts";
import { generateKeyPair, type OwnKeys, parseOwnKeys } from "@jobferry/shared/protocol/keys.ts";
import { type ClusterName, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Bus } from "@jobferry/shared/queue/bus.ts";
import type { Lanes } from "@jobferry/shared/queue/lanes.ts";
import { MemoryLanes } from "@jobferry/shared/queue/memory-lanes.ts";
import { realClock, sleep } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { Agent } from "@jobferry/worker-agent/agent.ts";
import { LogSender } from "@jobferry/worker-agent/pods/log-sender.ts";
import type { MirrorPods } from "@jobferry/worker-agent/pods/mirror-pods.ts";
import { generateMirrorKey, type MirrorKeys, parseMirrorKeys } from "@jobferry/worker-agent/proofs.ts";
import { addCluster } from "./cluster/actions.ts";
import packageJson from "./package.json" with { type: "json" };

const CONNECT_MS = 60_000;
const LOOK_MS = 25;
/** Longer than the Lease of a manager that died lasts. */
const LEAD_MS = 20_000;
/** The agents of this process are handed its bus; what an enrolment says of Redis is for others. */
const NO_REDIS = "redis://127.0.0.1";

export interface FleetCluster {
  readonly api: KubeApi;
  /** Such as `v1.36.3`. */
  readonly version: string;
  /** Before the name of a hub namespace, to get this cluster's; nothing unless the hub is its own worker. */
  readonly namespacePrefix?: string;
  /** Of a worker: reads what its containers have written. */
  readonly logs?: PodLogs;
}

export interface LocalFleetOptions {
  hub: FleetCluster;
  workers: ReadonlyMap<string, FleetCluster>;
  bus: Bus;
  logger: Logger;
  /** Pods are shown on the hub, whose API server reads their logs here; unless given they are not. */
  kubelet?: KubeletAddress | undefined;
  /** The way of logs to whoever serves them; unless given nobody does. */
  lanes?: Lanes | undefined;
  /** Of every WorkerCluster, such as 30s; the resource's default unless given. */
  lostAfter?: string | undefined;
  /** Where others may manage the same hub: the Lease that decides who does. */
  lease?: Required<ObjectKey>;
  /** Those of an earlier run, where its Jobs are to stay where they are; new ones unless given. */
  keys?: FleetKeys;
}

/** What Jobs and mirrors are marked with, for as long as they live. */
export interface FleetKeys {
  readonly manager: OwnKeys;
  readonly mirrors: MirrorKeys;
}

interface Part {
  stop(): Promise<void>;
}

/** Keys of agents are made for this run and are nowhere but in memory. */
export class LocalFleet {
  readonly #options: LocalFleetOptions;
  readonly #keys: FleetKeys;
  readonly #agents = new Map<string, Part>();
  readonly #agentKeys = new Map<string, OwnKeys>();
  #manager: Part | undefined;
  #leading: Manager | undefined;

  constructor(options: LocalFleetOptions) {
    this.#options = options;
    this.#keys = options.keys ?? { manager: [generateKeyPair()], mirrors: parseMirrorKeys(generateMirrorKey()) };
  }

  /** Resolves when the manager has heard from every worker. The resource definitions are there already. */
  async start(): Promise<void> {
    const { hub, logger, lease, kubelet } = this.#options;
    const manager = (api: KubeApi): Manager => {
      this.#leading = new Manager({
        api,
        bus: this.#options.bus,
        clock: realClock,
        logger: logger.child({ part: "manager" }),
        keys: this.#keys.manager,
        hubVersion: hub.version,
        ...(kubelet === undefined ? {} : { pods: DEFAULT_POD_SETTINGS, kubelet }),
      });
      return this.#leading;
    };
    if (lease === undefined) this.#manager = this.#run("manager", (signal) => manager(hub.api).run(signal));
    else await this.#lead(lease, manager);
    for (const name of this.#options.workers.keys()) await this.#enrol(parseClusterName(name));
    // A first word that came before the manager's first look would show only at its next.
    await this.#until((status) => connectedOf(status) !== "Unknown");
    for (const name of this.#options.workers.keys()) this.startAgent(name);
    await this.#until((status) => connectedOf(status) === "True" && Boolean(status?.clusterID));
  }

  startAgent(name: string): void {
    const { bus, logger, workers } = this.#options;
    const worker = workers.get(name);
    const keys = this.#agentKeys.get(name);
    if (worker === undefined || keys === undefined || this.#agents.has(name)) return;
    const { api, version, namespacePrefix = "", logs } = worker;
    const agent = new Agent({
      api,
      bus,
      clock: realClock,
      logger: logger.child({ part: "agent", cluster: name }),
      cluster: parseClusterName(name),
      keys,
      managerKeys: [this.#keys.manager[0].publicKey],
      mirrorKeys: this.#keys.mirrors,
      version: packageJson.version,
      kubernetesVersion: version,
      mapNamespace: (namespace) => `${namespacePrefix}${namespace}`,
      ...(logs === undefined ? {} : { logs: (pods) => this.#sender(name, logs, pods) }),
    });
    this.#agents.set(
      name,
      this.#run(`agent of ${name}`, (signal) => agent.run(signal)),
    );
  }

  /** Undefined until it has started. */
  get manager(): Manager | undefined {
    return this.#leading;
  }

  #sender(cluster: string, logs: PodLogs, pods: MirrorPods): LogSender {
    const { logger, lanes = new MemoryLanes() } = this.#options;
    return new LogSender({ logs, pods, lanes, clock: realClock, logger, cluster: parseClusterName(cluster) });
  }

  async stopAgent(name: string): Promise<void> {
    const agent = this.#agents.get(name);
    this.#agents.delete(name);
    await agent?.stop();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#manager?.stop(), ...Array.from(this.#agents.keys(), (name) => this.stopAgent(name))]);
  }

  /** As `jobferry cluster add` does it. A cluster that an earlier run has enrolled gets new keys and keeps its Jobs. */
  async #enrol(name: ClusterName): Promise<void> {
    const { hub, lostAfter } = this.#options;
    const managerKey = this.#keys.manager[0].publicKey.text;
    const { secret } = await addCluster(hub.api, name, {
      redis: { url: NO_REDIS },
      managerKey,
      labels: { name },
      renew: true,
    });
    this.#agentKeys.set(name, parseOwnKeys(secret.stringData["key.pem"] ?? ""));
    if (lostAfter !== undefined)
      await hub.api.patch(workerClusters, { name }, { type: "merge", body: { spec: { lostAfter } } });
  }

  /** Resolves when we are the hub's only manager. */
  async #lead(lease: Required<ObjectKey>, manager: (api: KubeApi) => Manager): Promise<void> {
    const { hub, logger } = this.#options;
    const elector = new LeaderElector({
      api: hub.api,
      clock: realClock,
      logger,
      lease,
      identity: `${hostname()}_${randomUUID()}`,
      lead: (signal, holds) => manager(fencedApi(hub.api, holds)).run(signal),
    });
    this.#manager = this.#run("manager", (signal) => elector.start(signal));
    const deadline = realClock.monotonic() + LEAD_MS;
    while (!elector.isLeading) {
      if (realClock.monotonic() > deadline)
        throw new ConfigError(
          `--hub: ${elector.leader || "another manager"} manages this hub already; stop it first, or add the workers to it with \`jobferry cluster add\``,
        );
      await sleep(realClock, LOOK_MS);
    }
  }

  #run(part: string, run: (signal: AbortSignal) => Promise<void>): Part {
    const stop = new AbortController();
    const running = run(stop.signal).catch((error) => this.#options.logger.error({ error, part }, "ended by an error"));
    return {
      async stop() {
        stop.abort();
        await running;
      },
    };
  }

  /** Waits until this holds of the status of every WorkerCluster of ours. */
  async #until(holds: (status: WorkerCluster["status"]) => boolean): Promise<void> {
    const { hub, workers } = this.#options;
    const deadline = realClock.monotonic() + CONNECT_MS;
    for (;;) {
      const { items } = await hub.api.list(workerClusters);
      const silent = items.filter(({ metadata, status }) => workers.has(metadata.name ?? "") && !holds(status));
      if (silent.length === 0) return;
      if (realClock.monotonic() > deadline)
        throw new Error(
          `no word from ${silent.map(({ metadata }) => metadata.name).join(", ")} in ${CONNECT_MS / 1000} s`,
        );
      await sleep(realClock, LOOK_MS);
    }
  }
}

const connectedOf = (status: WorkerCluster["status"]): FleetCondition["status"] =>
  status?.conditions?.find(({ type }) => type === "Connected")?.status ?? "Unknown";
