/** Manager and agents of an embedded fleet, in this process. */
import { Manager } from "@jobferry/manager/manager.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { type FleetCondition, type WorkerCluster, workerClusters } from "@jobferry/shared/kube/fleet-resources.ts";
import { formatPublicKey, generateKeyPair, type KeyPair } from "@jobferry/shared/protocol/keys.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Bus } from "@jobferry/shared/queue/bus.ts";
import { realClock, sleep } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { Agent } from "@jobferry/worker-agent/agent.ts";
import { parse } from "yaml";
import packageJson from "./package.json" with { type: "json" };
import { packagedFile } from "./up-files.ts";

const CRD_FILES = ["deploy/crds/workerclusters.yaml", "deploy/crds/jobqueues.yaml"];
const crds: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const CONNECT_MS = 60_000;
const LOOK_MS = 25;

export interface DispatchOptions {
  hub: KubeApi;
  workers: ReadonlyMap<string, KubeApi>;
  bus: Bus;
  logger: Logger;
  /** Of every WorkerCluster, such as 30s; the resource's default unless given. */
  lostAfter?: string | undefined;
}

interface Part {
  stop(): Promise<void>;
}

interface Worker {
  readonly api: KubeApi;
  readonly keys: KeyPair;
  agent: Part | undefined;
}

/** Keys are made for this run and are nowhere but in memory. */
export class Dispatch {
  readonly #options: DispatchOptions;
  readonly #managerKeys = generateKeyPair();
  readonly #workers: ReadonlyMap<string, Worker>;
  #manager: Part | undefined;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#workers = new Map(
      Array.from(options.workers, ([name, api]) => [name, { api, keys: generateKeyPair(), agent: undefined }]),
    );
  }

  /** Resolves when the manager has heard from every worker. */
  async start(): Promise<void> {
    const { hub, bus, logger, lostAfter } = this.#options;
    for (const file of CRD_FILES) await hub.create(crds, undefined, parse(packagedFile(file)) as KubeObject);
    for (const [name, { keys }] of this.#workers) {
      await hub.create(workerClusters, undefined, {
        metadata: { name, labels: { name } },
        spec: { publicKey: formatPublicKey(keys.publicKey), ...(lostAfter === undefined ? {} : { lostAfter }) },
      });
    }
    const manager = new Manager({
      api: hub,
      bus,
      clock: realClock,
      logger: logger.child({ part: "manager" }),
      signingKey: this.#managerKeys.privateKey,
    });
    this.#manager = this.#run("manager", (signal) => manager.run(signal));
    // A first word that came before the manager's first look would show only at its next.
    await this.#untilConnected("True", "False");
    for (const name of this.#workers.keys()) this.startAgent(name);
    await this.#untilConnected("True");
  }

  startAgent(name: string): void {
    const { bus, logger } = this.#options;
    const worker = this.#workers.get(name);
    if (worker === undefined || worker.agent !== undefined) return;
    const agent = new Agent({
      api: worker.api,
      bus,
      clock: realClock,
      logger: logger.child({ part: "agent", cluster: name }),
      cluster: parseClusterName(name),
      signingKey: worker.keys.privateKey,
      managerKeys: [this.#managerKeys.publicKey],
      version: packageJson.version,
      kubernetesVersion: "v1.36.3",
    });
    worker.agent = this.#run(`agent of ${name}`, (signal) => agent.run(signal));
  }

  async stopAgent(name: string): Promise<void> {
    const worker = this.#workers.get(name);
    const agent = worker?.agent;
    if (worker !== undefined) worker.agent = undefined;
    await agent?.stop();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#manager?.stop(), ...Array.from(this.#workers.keys(), (name) => this.stopAgent(name))]);
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

  /** Waits until the condition of every WorkerCluster has one of these values. */
  async #untilConnected(...values: FleetCondition["status"][]): Promise<void> {
    const deadline = realClock.monotonic() + CONNECT_MS;
    for (;;) {
      const { items } = await this.#options.hub.list(workerClusters);
      const silent = items.filter(({ status }) => !values.includes(connectedOf(status)));
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
