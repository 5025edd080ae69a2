/** A whole fleet in this process on virtual time: sandbox hub and workers, manager, agents, and a bus in memory. */

import { readFileSync } from "node:fs";
import { Manager } from "@jobferry/manager/manager.ts";
import { managerMetrics } from "@jobferry/manager/metrics.ts";
import type { PodSettings } from "@jobferry/manager/pods/settings.ts";
import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import type { NodeSpec } from "@jobferry/sandbox/nodes/node-objects.ts";
import type { VirtualBehaviour } from "@jobferry/sandbox/nodes/virtual-runtime.ts";
import { KUBERNETES_VERSION } from "@jobferry/sandbox/version.ts";
import { type WorkerCluster, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { workQueueMetrics } from "@jobferry/shared/kube/metrics.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { generateKeyPair, type KeyPair, type OwnKeys, type PeerKeys } from "@jobferry/shared/protocol/keys.ts";
import { HUB_MANAGED_BY, HUB_UID_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Quarantined } from "@jobferry/shared/queue/bus.ts";
import { MemoryBus } from "@jobferry/shared/queue/memory-bus.ts";
import { type Logger, silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import type { AcceptancePolicy } from "@jobferry/worker-agent/acceptance/acceptance.ts";
import { Agent } from "@jobferry/worker-agent/agent.ts";
import { generateMirrorKey, type MirrorKeys, parseMirrorKeys } from "@jobferry/worker-agent/proofs.ts";
import type { Registry } from "prom-client";
import { parse } from "yaml";

const NAMESPACE = "default";
const crds: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

interface Running {
  stop(): Promise<void>;
}

interface RunningManager extends Running {
  messageRefused(message: Quarantined): void;
}

interface AgentKeys {
  keys?: OwnKeys;
  /** Those that the agent trusts. */
  managerKeys?: PeerKeys;
  mirrorKeys?: MirrorKeys;
}

interface Worker {
  readonly cluster: SandboxCluster;
  readonly keys: KeyPair;
  readonly mirrorKeys: MirrorKeys;
  agent: Running | undefined;
}

export interface FleetOptions {
  workers?: readonly string[];
  behaviour?: VirtualBehaviour;
  /** Of each worker; one of 8 CPUs unless said otherwise. */
  nodes?: Readonly<Record<string, readonly NodeSpec[]>>;
  spec?: Partial<WorkerCluster["spec"]>;
  /** What the workers let the hub run. */
  accept?: AcceptancePolicy;
  /** What the manager tells its operator. */
  logger?: Logger;
  registry?: Registry;
  /** Pods are shown on the hub. */
  pods?: PodSettings;
  /** What stands between the manager and the hub. */
  managerApi?: (api: KubeApi, clock: VirtualClock) => KubeApi;
  /** Hears of reports that the manager refused. */
  onRefused?: (cluster: string, code: string) => void;
  /** What the agents take of the hub. */
  acceptReferences?: ReadonlySet<"ConfigMap" | "Secret">;
}

export class Fleet {
  readonly clock = new VirtualClock();
  readonly bus = new MemoryBus({
    clock: this.clock,
    onQuarantine: (message) => message.address.box === "reports" && this.#manager?.messageRefused(message),
  });
  readonly hub = new SandboxCluster({ name: "hub", clock: this.clock, seed: 1 });
  readonly workers = new Map<string, Worker>();
  readonly #options: FleetOptions;
  readonly managerKeys = generateKeyPair();
  #manager: RunningManager | undefined;

  constructor(options: FleetOptions = {}) {
    this.#options = options;
  }

  async start(): Promise<this> {
    const { workers = ["east", "west"], behaviour, nodes, spec } = this.#options;
    await this.#let(this.hub.start());
    for (const file of ["workerclusters", "jobqueues"])
      await this.hub.api.create(
        crds,
        undefined,
        parse(readFileSync(new URL(`../../deploy/crds/${file}.yaml`, import.meta.url), "utf8")) as KubeObject,
      );
    for (const [index, name] of workers.entries()) {
      const cluster = new SandboxCluster({
        name,
        clock: this.clock,
        seed: 10 + index,
        kubelet: "virtual",
        nodes: nodes?.[name] ?? [{ name: `${name}-node`, cpu: "8", memory: "16Gi", pods: 100 }],
        behaviour: (pod, container, attempt) => behaviour?.(pod, container, attempt) ?? { runMs: 2_000 },
      });
      await this.#let(cluster.start());
      const keys = generateKeyPair();
      this.workers.set(name, { cluster, keys, mirrorKeys: parseMirrorKeys(generateMirrorKey()), agent: undefined });
      await this.hub.api.create(workerClusters, undefined, {
        metadata: { name, labels: { name } },
        spec: { publicKey: keys.publicKey.text, ...spec },
      });
      this.startAgent(name);
    }
    this.startManager();
    await this.clock.advance(6_000);
    return this;
  }

  startManager(keys: OwnKeys = [this.managerKeys]): void {
    const stop = new AbortController();
    const { logger = silentLogger, registry, onRefused, managerApi = (api: KubeApi) => api } = this.#options;
    const manager: Manager = new Manager({
      api: managerApi(this.hub.apiFor("manager"), this.clock),
      bus: this.bus,
      clock: this.clock,
      logger,
      keys,
      ...(registry && {
        metrics: managerMetrics(registry, () => manager?.status),
        queueMetrics: workQueueMetrics(registry),
      }),
      pods: this.#options.pods,
      ...(onRefused === undefined ? {} : { onRefused }),
    });
    const running = manager.run(stop.signal);
    this.#manager = {
      messageRefused: (message) => manager.messageRefused(message),
      stop: () => {
        stop.abort();
        return this.#let(running);
      },
    };
  }

  async stopManager(): Promise<void> {
    await this.#manager?.stop();
    this.#manager = undefined;
  }

  startAgent(name: string, { keys, mirrorKeys, managerKeys = [this.managerKeys.publicKey] }: AgentKeys = {}): void {
    const worker = this.#worker(name);
    const { acceptReferences } = this.#options;
    const stop = new AbortController();
    const agent = new Agent({
      api: worker.cluster.apiFor("agent"),
      bus: this.bus,
      clock: this.clock,
      logger: silentLogger,
      cluster: parseClusterName(name),
      keys: keys ?? [worker.keys],
      managerKeys,
      mirrorKeys: mirrorKeys ?? worker.mirrorKeys,
      ...(this.#options.accept === undefined ? {} : { accept: this.#options.accept }),
      version: "test",
      kubernetesVersion: KUBERNETES_VERSION,
      retentionMs: 30_000,
      ...(acceptReferences === undefined ? {} : { acceptReferences }),
    });
    const running = agent.run(stop.signal);
    worker.agent = {
      stop: () => {
        stop.abort();
        return this.#let(running);
      },
    };
  }

  async stopAgent(name: string): Promise<void> {
    await this.#worker(name).agent?.stop();
    this.#worker(name).agent = undefined;
  }

  async stop(): Promise<void> {
    await this.stopManager();
    for (const name of this.workers.keys()) await this.stopAgent(name);
    for (const { cluster } of this.workers.values()) await this.#let(cluster.stop());
    await this.#let(this.hub.stop());
  }

  async submit(name: string, spec: Partial<JobSpec> = {}, metadata: Partial<Job["metadata"]> = {}): Promise<Job> {
    return await this.hub.api.create(jobs, NAMESPACE, {
      metadata: { name, ...metadata },
      spec: {
        managedBy: HUB_MANAGED_BY,
        ...spec,
        template: spec.template ?? {
          spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] },
        },
      },
    });
  }

  async edit(name: string, body: object): Promise<void> {
    await this.hub.api.patch(jobs, { namespace: NAMESPACE, name }, { type: "merge", body });
  }

  job(name: string): Promise<Job | undefined> {
    return find(this.hub.api, name);
  }

  /** The mirror and the name of the cluster it is on. */
  async mirrors(name: string): Promise<{ cluster: string; mirror: Job }[]> {
    const found = [];
    for (const [cluster, worker] of this.workers) {
      const mirror = await find(worker.cluster.api, name);
      if (mirror?.metadata.labels?.[HUB_UID_LABEL] !== undefined) found.push({ cluster, mirror });
    }
    return found;
  }

  async podsOn(name: string): Promise<number> {
    return (await this.#worker(name).cluster.api.list(pods, { namespace: NAMESPACE })).items.length;
  }

  async untilFinished(name: string, limitMs = 600_000): Promise<Job> {
    let job: Job | undefined;
    await this.until(async () => {
      job = await this.job(name);
      return job !== undefined && isFinished(job);
    }, limitMs);
    return job as Job;
  }

  async until(condition: () => Promise<boolean>, limitMs = 600_000): Promise<void> {
    for (let elapsed = 0; !(await condition()); elapsed += 250) {
      if (elapsed > limitMs) throw new Error(`not within ${limitMs} ms of virtual time: ${condition}`);
      await this.clock.advance(250);
    }
  }

  #worker(name: string): Worker {
    const worker = this.workers.get(name);
    if (worker === undefined) throw new Error(`no worker ${name}`);
    return worker;
  }

  /** Waits for something that needs virtual time to pass. */
  async #let(promise: Promise<unknown>): Promise<void> {
    let done = false;
    const settled = promise.finally(() => {
      done = true;
    });
    for (let i = 0; !done && i < 1_000; i++) await this.clock.advance(50);
    await settled;
  }
}

async function find(api: KubeApi, name: string): Promise<Job | undefined> {
  try {
    return await api.get(jobs, { namespace: NAMESPACE, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
