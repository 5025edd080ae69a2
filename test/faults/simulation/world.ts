import { readFileSync } from "node:fs";
import { Manager } from "@jobferry/manager/manager.ts";
import { DEFAULT_POD_SETTINGS } from "@jobferry/manager/pods/settings.ts";
import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { jobQueues, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeApi, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { fencedApi } from "@jobferry/shared/kube/fenced-api.ts";
import { LeaderElector } from "@jobferry/shared/kube/lease.ts";
import { configMaps, namespaces } from "@jobferry/shared/kube/resources.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { type Logger, silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { Agent } from "@jobferry/worker-agent/agent.ts";
import { parse } from "yaml";
import { Random } from "../../differential/random.ts";
import { ApiLink } from "./api-link.ts";
import { ApiServer, type Request } from "./api-server.ts";
import { keysOf, mirrorKeysOf } from "./keys.ts";
import { Machine, type Party } from "./party.ts";
import { PodLives } from "./pod-lives.ts";
import { Program } from "./program.ts";
import { RedisLink } from "./redis-link.ts";
import { RedisServer } from "./redis-server.ts";
import { Scheduler } from "./scheduler.ts";
import { Trace } from "./trace.ts";
import { Weather } from "./weather.ts";

export const NAMESPACE = "default";
const SYSTEM = "jobferry-system";
export const RETENTION_MS = 30_000;

export interface WorldOptions {
  readonly seed: number;
  readonly workers: readonly string[];
  /** Clusters that were enrolled and have no agent yet. */
  readonly planned: readonly string[];
  /** Clusters with a second agent. */
  readonly twins?: readonly string[];
  readonly lostAfterSeconds: number;
  /** Of each request, answer and watch event. */
  readonly maxLagMs: number;
  /** How wrong the clocks of each machine are; `hub`, the workers and the programs have one each. */
  readonly clocks?: Readonly<Record<string, { readonly offsetMs: number; readonly drift: number }>>;
  /** Pods are shown on the hub. */
  readonly shadows?: boolean;
  /** Jobs may bring the ConfigMap with them. */
  readonly copies?: boolean;
}

/** On the hub, where Jobs may bring it with them. */
export const CONFIG_MAP = "words";

/** Sees every request that reaches a server, and its answer; says when one of them gets lost on its way. */
export interface WorldObserver {
  onRequest(request: Request): "lost" | undefined;
  onAnswer(request: Request, error: unknown): "lost" | undefined;
}

const crds: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const DEFINITIONS = ["workerclusters", "jobqueues"].map(
  (file) => parse(readFileSync(new URL(`../../../deploy/crds/${file}.yaml`, import.meta.url), "utf8")) as KubeObject,
);

/** A hub, its workers, two managers, an agent for each worker and a Redis, all on one scheduler. */
export class World {
  readonly options: WorldOptions;
  readonly trace = new Trace();
  readonly scheduler: Scheduler;
  readonly weather: Weather;
  readonly redis: RedisServer;
  readonly hub: ApiServer;
  readonly workers = new Map<string, ApiServer>();
  readonly managers = new Map<string, Program>();
  readonly agents = new Map<string, Program>();
  readonly twins = new Map<string, Program>();
  readonly lives = new PodLives();
  isRedisUp = true;
  observer: WorldObserver = { onRequest: () => undefined, onAnswer: () => undefined };

  constructor(options: WorldOptions) {
    this.options = options;
    this.scheduler = new Scheduler(this.random("order"), this.trace);
    this.weather = new Weather(this.scheduler);
    this.redis = new RedisServer(this.scheduler);
    this.hub = this.#server("hub");
    for (const name of options.workers) this.workers.set(name, this.#server(name));
    for (const name of ["m1", "m2"])
      this.managers.set(
        name,
        this.#program(name, (...args) => this.#manage(...args)),
      );
    for (const name of options.workers)
      this.agents.set(
        name,
        this.#program(agentOf(name), (...args) => this.#serve(name, ...args)),
      );
    for (const name of options.twins ?? [])
      this.twins.set(
        name,
        this.#program(twinOf(name), (...args) => this.#serve(name, ...args)),
      );
  }

  /** A stream of its own for each purpose, so that what one draws does not move what another does. */
  random(purpose: string): Random {
    let mixed = this.options.seed ^ 0x9e3779b9;
    for (const letter of purpose) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193);
    return new Random(mixed);
  }

  programs(): Program[] {
    return [...this.managers.values(), ...this.agents.values(), ...this.twins.values()];
  }

  server(name: string): ApiServer {
    const server = name === "hub" ? this.hub : this.workers.get(name);
    if (server === undefined) throw new Error(`no cluster ${name}`);
    return server;
  }

  /** What users and administrators do goes through undisturbed. */
  apiOf(name: string): KubeApi {
    return this.server(name).cluster.api;
  }

  async start(): Promise<void> {
    const { scheduler, hub } = this;
    await scheduler.drive(hub.cluster.start());
    for (const definition of DEFINITIONS) await scheduler.drive(hub.cluster.api.create(crds, undefined, definition));
    await scheduler.drive(hub.cluster.api.create(namespaces, undefined, { metadata: { name: SYSTEM } }));
    for (const { cluster } of this.workers.values()) {
      await scheduler.drive(cluster.start());
      await scheduler.drive(cluster.api.create(namespaces, undefined, { metadata: { name: SYSTEM } }));
    }
    for (const name of [...this.workers.keys(), ...this.options.planned]) {
      const publicKey = keysOf(name)[0].publicKey.text;
      const spec = { publicKey, lostAfter: `${this.options.lostAfterSeconds}s` };
      await scheduler.drive(
        hub.cluster.api.create(workerClusters, undefined, { metadata: { name, labels: { name } }, spec }),
      );
    }
    if (this.options.copies === true) await this.#offerCopies();
    for (const program of [...this.managers.values(), ...this.agents.values()]) program.start();
    for (const program of this.twins.values()) scheduler.at(1_000, `${program.name} start`, () => program.start());
  }

  async #offerCopies(): Promise<void> {
    const { scheduler, hub } = this;
    const words = { metadata: { name: CONFIG_MAP }, data: { greeting: "hello" } };
    await scheduler.drive(hub.cluster.api.create(configMaps, NAMESPACE, words));
    const queue = { metadata: { name: "default" }, spec: { references: { configMaps: "Copy" as const } } };
    await scheduler.drive(hub.cluster.api.create(jobQueues, undefined, queue));
  }

  #server(name: string): ApiServer {
    const machine = this.#machine(name);
    const random = this.random(`server ${name}`);
    const cluster = new SandboxCluster({
      name,
      clock: machine.clock(`${name} timer`),
      seed: random.int(1, 1_000_000_000),
      ...(name === "hub"
        ? {}
        : {
            kubelet: "virtual" as const,
            nodes: [{ name: `${name}-node`, cpu: "64", memory: "256Gi", pods: 1_000 }],
            behaviour: (pod) => this.lives.of(pod),
          }),
    });
    return new ApiServer({ cluster, maxLagMs: this.options.maxLagMs, scheduler: this.scheduler, random });
  }

  #machine(name: string): Machine {
    // Two agents of one cluster have the same time.
    const { offsetMs = 0, drift = 0 } = this.options.clocks?.[name.replace(/^twin-/, "agent-")] ?? {};
    return new Machine(this.scheduler, { offsetMs, drift, bootMs: this.random(`boot ${name}`).int(0, 1_000_000) });
  }

  #program(name: string, launch: (party: Party, program: Program, stop: AbortSignal) => Promise<void>): Program {
    return new Program({
      name,
      machine: this.#machine(name),
      scheduler: this.scheduler,
      randomOf: (start) => this.random(`${name} ${start}`),
      launch,
      isRedisUp: () => this.isRedisUp,
    });
  }

  #link(party: Party, server: ApiServer): ApiLink {
    return new ApiLink({
      party,
      server,
      api: server.cluster.apiFor(party.name),
      scheduler: this.scheduler,
      onRequest: (request) => this.observer.onRequest(request),
      onAnswer: (request, error) => this.observer.onAnswer(request, error),
    });
  }

  #bus(party: Party, program: Program): RedisLink {
    const { redis, scheduler } = this;
    const bus = new RedisLink({
      party,
      redis,
      scheduler,
      maxLagMs: Math.min(3, this.options.maxLagMs),
      extraLagMs: () => program.redisLagMs,
      isOpen: () => program.isRedisOpen,
    });
    program.connected(bus);
    return bus;
  }

  /** Its warnings stand in the trace. */
  #logger({ name }: Party): Logger {
    const warn = (fields: object, message: string): void =>
      this.trace.say(`${name} warns: ${message} ${JSON.stringify(fields, readable).slice(0, 300)}`);
    const logger: Logger = { ...silentLogger, warn, error: warn, child: () => logger };
    return logger;
  }

  async #manage(party: Party, program: Program, stop: AbortSignal): Promise<void> {
    const { clock } = party;
    const random = (): number => party.random.next();
    const api = this.#link(party, this.hub);
    const bus = this.#bus(party, program);
    const keys = keysOf("manager");
    const elector = new LeaderElector({
      api,
      clock,
      random,
      lease: { namespace: SYSTEM, name: "jobferry-manager" },
      identity: `${party.name}@${party.startedAt}`,
      lead: (signal, holds) => {
        this.trace.say(`${party.name} leads`);
        return new Manager({
          ...{ api: fencedApi(api, holds), bus, clock, random, logger: this.#logger(party), keys },
          pods: this.options.shadows === true ? DEFAULT_POD_SETTINGS : undefined,
        }).run(signal);
      },
    });
    await elector.start(stop);
  }

  async #serve(cluster: string, party: Party, program: Program, stop: AbortSignal): Promise<void> {
    const { clock } = party;
    const random = (): number => party.random.next();
    const api = this.#link(party, this.server(cluster));
    const bus = this.#bus(party, program);
    const elector = new LeaderElector({
      api,
      clock,
      random,
      lease: { namespace: SYSTEM, name: "jobferry-agent" },
      // The pod's: whoever is restarted in it goes on at once.
      identity: party.name,
      atDeadline: "hold",
      lead: (signal, holds) => {
        this.trace.say(`${party.name} works`);
        return new Agent({
          api: fencedApi(api, holds),
          bus,
          clock,
          random,
          logger: this.#logger(party),
          cluster: parseClusterName(cluster),
          keys: keysOf(cluster),
          managerKeys: [keysOf("manager")[0].publicKey],
          mirrorKeys: mirrorKeysOf(cluster),
          version: "simulated",
          kubernetesVersion: "v1.36.3",
          retentionMs: RETENTION_MS,
        }).run(signal);
      },
    });
    await elector.start(stop);
  }
}

export const twinOf = (cluster: string): string => `twin-${cluster}`;
export const agentOf = (cluster: string): string => `agent-${cluster}`;

const readable = (_: string, value: unknown): unknown => (value instanceof Error ? value.message : value);
