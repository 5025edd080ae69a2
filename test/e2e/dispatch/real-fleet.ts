/**
 * A hub, worker clusters and a Redis, all real, with manager and agents as processes. Everything is installed from deploy/ and
 * runs with just the rights that it gives: its service accounts on the clusters, its ACL users in Redis.
 */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Enrolment } from "@jobferry/cli/cluster/enrolment.ts";
import { Grants } from "@jobferry/manager/hub/grants.ts";
import { Phases } from "@jobferry/manager/hub/phase.ts";
import { type WorkerCluster, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { namespaces, serviceAccounts } from "@jobferry/shared/kube/resources.ts";
import { formatPrivateKey, generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { type ClusterName, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { aclForManager, MANAGER_USER } from "@jobferry/shared/queue/acl.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { Redis } from "ioredis";
import { until } from "../../fleet/until.ts";
import { type GuardedProcess, guardedDirectory } from "../../harness/guarded-process.ts";
import type { NodeOptions } from "../../harness/nodes.ts";
import { realCluster } from "../../harness/real-cluster.ts";
import type { RealCluster, RealClusterOptions } from "../../harness/real-cluster-options.ts";
import { startRedis, type TestRedis } from "../../harness/redis.ts";
import { outputOf } from "../../harness/run-command.ts";
import { FleetNamespace, type ScenarioFleet } from "./fleet-namespace.ts";
import { type Build, FleetPrograms } from "./fleet-programs.ts";
import { install, jobferry } from "./installation.ts";

const PASSWORD = "for-tests-only";
/** Many scenarios wait at once: asking more often would keep the API servers from their work. */
const POLL_MS = 100;

export interface RealFleetOptions {
  workers?: readonly string[];
  /** Further flags of every agent. */
  agentFlags?: readonly string[];
  /** And of single ones, by cluster. */
  flagsOf?: Readonly<Record<string, readonly string[]>>;
  managerFlags?: readonly string[];
  /** Pods are shown on the hub. */
  pods?: boolean;
  /** Further options of the hub's API server, and what its kube-controller-manager runs. */
  hubApiServer?: Pick<RealClusterOptions, "apiServerArgs" | "controllers" | "controllerManagerArgs">;
  spec?: Partial<WorkerCluster["spec"]>;
  /** The hub is its own and only worker; its mirrors live in namespaces with this before the name. */
  namespacePrefix?: string;
  /** What kube-controller-manager runs on the workers besides garbage collection. */
  workerControllers?: readonly string[];
  /** The workers have a kube-scheduler and these nodes; otherwise pods are bound to one node without being looked at. */
  workerNodes?: readonly NodeOptions[];
  /** Further options of the workers' control planes; read at every start, so that a restart can change them. */
  workerApiServer?: Pick<RealClusterOptions, "apiServerArgs" | "featureGates" | "controllerManagerArgs">;
  /** The workers have no stand-in for a kubelet: they get real nodes from whoever starts the fleet (test/real-node). */
  realNodes?: boolean;
  /** Pods on the workers need their service account, as they do on every real cluster. */
  serviceAccounts?: boolean;
  /** Neither hub nor workers have a kube-controller-manager: whoever measures wants its work out of the way. */
  withoutControllers?: boolean;
  logLevel?: "debug" | "info";
  /** Another version of manager and agents. */
  build?: Build;
  /** What the agents' Redis users get beyond what their enrolment says. */
  agentRules?: readonly string[];
  /** What stands between manager, agents and all that they talk to. */
  wires?: Wires;
}

/** Where each program finds Redis and its API server. */
export interface Wires {
  redisUrl(program: string, real: string): string;
  kubeconfig(program: string, path: string): string;
  /** Instead of one of the fleet's own. */
  startRedis(): Promise<TestRedis>;
}

export class RealFleet implements ScenarioFleet {
  readonly clock = realClock;
  readonly #options: RealFleetOptions;
  readonly #directory = guardedDirectory("fleet");
  readonly #managerKeys = generateKeyPair();
  readonly #programs: FleetPrograms;
  readonly #clusters: Promise<RealCluster>[] = [];
  readonly #attached: { stop(graceMs?: number): Promise<void> }[] = [];
  readonly workers = new Map<string, RealCluster>();
  #hub: RealCluster | undefined;
  #redis: TestRedis | undefined;
  #admin: Redis | undefined;

  constructor(options: RealFleetOptions = {}) {
    this.#options = options;
    const { agentFlags = [], flagsOf = {}, namespacePrefix = "", logLevel = "debug", build } = options;
    const managerFlags = [...(options.pods === true ? ["--pods=shadow"] : []), ...(options.managerFlags ?? [])];
    this.#programs = new FleetPrograms({
      ...{ managerFlags, namespacePrefix, logLevel, build },
      agentFlags: (cluster) => [...agentFlags, ...(flagsOf[cluster] ?? [])],
      folder: this.#directory.path,
      redisUrl: (program) => options.wires?.redisUrl(program, this.redisUrl) ?? this.redisUrl,
      kubeconfig: options.wires === undefined ? undefined : (...args) => options.wires?.kubeconfig(...args) ?? args[1],
    });
  }

  get #prefix(): string {
    return this.#options.namespacePrefix ?? "";
  }

  get hub(): RealCluster {
    return started(this.#hub);
  }

  /** An administrator's connection. */
  get redis(): Redis {
    return started(this.#admin);
  }

  get redisUrl(): string {
    return started(this.#redis).url;
  }

  /** Ends Redis and starts it again; false where it is not ours to end. Its users come back with it, as those of a file do. */
  async restartRedis(): Promise<boolean> {
    const { restart } = started(this.#redis);
    if (restart === undefined) return false;
    const users = (await this.redis.call("ACL", "LIST")) as string[];
    await restart();
    for (const user of users) {
      const [, name = "", ...rules] = user.split(" ");
      await this.until("Redis takes its users", () =>
        this.redis.call("ACL", "SETUSER", name, ...rules).then(
          () => true,
          () => false,
        ),
      );
    }
    return true;
  }

  /** Reads and writes the marks of assignments as this fleet's manager does. */
  get phases(): Phases {
    return new Phases(new Grants([this.#managerKeys.privateKey]));
  }

  /** The manager's public key, as agents pin it. */
  get managerKey(): string {
    return this.#managerKeys.publicKey.text;
  }

  /** A running manager or agent. */
  process(name: string): GuardedProcess {
    return this.#programs.get(name);
  }

  async start(): Promise<this> {
    const names = this.#options.workers ?? (this.#prefix === "" ? ["east", "west"] : ["self"]);
    this.#redis = await (this.#options.wires?.startRedis ?? startRedis)();
    this.#admin = new Redis(this.#redis.url);
    // Its commands say so, too. A fleet may lose the Redis that it began with.
    this.#admin.on("error", () => {});
    await this.#admin.acl("SETUSER", MANAGER_USER, ...aclForManager(), `>${PASSWORD}`);
    await writeFile(this.#path("manager.password"), PASSWORD);
    await writeFile(this.#path("manager.pem"), formatPrivateKey(this.#managerKeys.privateKey));
    const controllers = ["garbage-collector-controller", "job-controller", "cronjob-controller"];
    this.#hub = await this.#startCluster({
      controllers: this.#options.withoutControllers === true ? [] : [...controllers, "ttl-after-finished-controller"],
      instantPods: this.#prefix !== "",
      ...this.#options.hubApiServer,
    });
    let next = this.#prefix === "" ? this.#newWorker() : Promise.resolve(this.#hub);
    this.#programs.kubeconfigs.set(
      "manager",
      await install(this.hub, this.#options.pods === true ? "hub-pods" : "hub", "jobferry-manager"),
    );
    await outputOf(this.hub.kubectl("wait", "--for=condition=established", "crd/workerclusters.jobferry.dev"));
    this.startManager();
    for (const [index, name] of names.entries()) {
      const worker = await next;
      // One control plane at a time, because each takes a core while it starts, and beside the installation of the last.
      if (index + 1 < names.length) next = this.#newWorker();
      await this.#enrolWorker(name, worker);
      this.startAgent(name);
    }
    for (const name of names) await this.#untilReady(name);
    return this;
  }

  /** Adds a cluster to the fleet and waits until the manager has heard of it. */
  async addWorker(name: string): Promise<void> {
    await this.#enrolWorker(name, await this.#newWorker());
    this.startAgent(name);
    await this.#untilReady(name);
  }

  async #untilReady(name: string): Promise<void> {
    await this.until(`cluster ${name} is ready`, async () => (await this.#condition(name, "Ready")) === "True");
  }

  /** What the hub says of a cluster. */
  async #condition(cluster: string, wanted: string): Promise<string> {
    const { status } = await this.hub.api.get(workerClusters, { name: cluster });
    return status?.conditions?.find(({ type }) => type === wanted)?.status ?? "Unknown";
  }

  /** Changes the spec of a WorkerCluster. */
  async configure(cluster: string, spec: Partial<WorkerCluster["spec"]> | Record<string, null>): Promise<void> {
    await this.hub.api.patch(workerClusters, { name: cluster }, { type: "merge", body: { spec } });
  }

  worker(name: string): RealCluster {
    return started(this.workers.get(name));
  }

  /** A new namespace on the hub and on those workers; on all of them unless they are named. */
  async namespace(name: string, workers: Iterable<string> = this.workers.keys()): Promise<FleetNamespace<RealFleet>> {
    if (name !== "default") await this.hub.api.create(namespaces, undefined, { metadata: { name } });
    for (const worker of workers) await this.addNamespace(worker, name);
    return new FleetNamespace(this, name);
  }

  async addNamespace(cluster: string, name: string): Promise<void> {
    const { api } = this.worker(cluster);
    const mapped = this.mapped(name);
    if (mapped !== "default") await api.create(namespaces, undefined, { metadata: { name: mapped } });
    if (this.#options.serviceAccounts !== true && this.#options.realNodes !== true) return;
    await this.until(`pods may be created in ${mapped}`, async () => {
      return (
        (await api.list(serviceAccounts, { namespace: mapped, fieldSelector: "metadata.name=default" })).items.length >
        0
      );
    });
  }

  /** The namespace of the mirrors of a hub namespace's Jobs. */
  mapped(namespace: string): string {
    return `${this.#prefix}${namespace}`;
  }

  /** Has the end of the fleet end this as well. */
  attach(part: { stop(graceMs?: number): Promise<void> }): void {
    this.#attached.push(part);
  }

  async #enrolWorker(name: string, worker: RealCluster): Promise<void> {
    const cluster = parseClusterName(name);
    this.workers.set(name, worker);
    this.#programs.kubeconfigs.set(name, await install(worker, "worker", "jobferry-agent"));
    const secret = await this.#equip(name, await this.#enrol(cluster));
    await outputOf(
      worker.kubectlWith(JSON.stringify(secret), "apply", "-f", "-", "--dry-run=server", "-n", "jobferry-system"),
    );
    if (this.#options.spec !== undefined) await this.configure(name, this.#options.spec);
  }

  /** Another cluster takes the place of this one: `from` is no longer in the fleet. */
  rebuild(name: string, from: string): void {
    this.workers.set(name, this.worker(from));
    this.workers.delete(from);
    this.#programs.kubeconfigs.set(name, started(this.#programs.kubeconfigs.get(from)));
  }

  /** Enrols the cluster once more; its agent has the new keys from its next start on. */
  async renew(name: string): Promise<void> {
    await this.#equip(name, await this.#enrol(parseClusterName(name), "--renew"));
  }

  /** Does what an enrolment asks for in Redis and on the worker. */
  async #equip(name: string, { secret, acl }: Enrolment): Promise<Enrolment["secret"]> {
    const [command = "", ...rules] = acl.split(" ");
    await this.redis.call(command, ...rules, ...(this.#options.agentRules ?? []));
    await writeFile(this.#path(`${name}.pem`), secret.stringData["key.pem"] ?? "");
    await writeFile(this.#path(`${name}.password`), secret.stringData["redis-password"] ?? "");
    return secret;
  }

  #newWorker(): Promise<RealCluster> {
    const {
      realNodes = false,
      serviceAccounts = realNodes,
      workerControllers = [],
      withoutControllers,
    } = this.#options;
    const { workerApiServer, workerNodes = [] } = this.#options;
    const accounts = serviceAccounts ? ["serviceaccount-controller"] : [];
    const controllers = ["garbage-collector-controller", ...accounts, ...workerControllers];
    return this.#startCluster({
      controllers: withoutControllers === true ? [] : controllers,
      instantPods: !realNodes,
      realNodes,
      nodes: workerNodes,
      serviceAccounts,
      ...workerApiServer,
    });
  }

  /** Whatever becomes of it, `stop` ends it. */
  #startCluster(options: RealClusterOptions): Promise<RealCluster> {
    const starting = realCluster(options);
    starting.catch(() => {});
    this.#clusters.push(starting);
    return starting;
  }

  async #enrol(cluster: ClusterName, ...more: string[]): Promise<Enrolment> {
    const flags = ["--manager-key", this.managerKey, "--labels", `name=${cluster}`];
    const where = ["--kubeconfig", this.hub.kubeconfigPath, "--redis-url", this.redisUrl, "--output", "json"];
    return JSON.parse(await this.jobferry("cluster", "add", cluster, ...where, ...flags, ...more)) as Enrolment;
  }

  /** The command line, as its user runs it. */
  jobferry(...args: string[]): Promise<string> {
    return jobferry(...args);
  }

  /** What is started from now on. */
  use(build: Build): void {
    this.#programs.build = build;
  }

  startManager(name = "manager", nodeFlags: readonly string[] = []): GuardedProcess {
    return this.#programs.startManager(name, nodeFlags);
  }

  /** `managerKey`: the one that the agent trusts. */
  startAgent(name: string, nodeFlags: readonly string[] = [], managerKey = this.managerKey): GuardedProcess {
    return this.#programs.startAgent(name, nodeFlags, managerKey);
  }

  /** A second agent of a cluster. */
  startTwin(cluster: string, as: string): GuardedProcess {
    return this.#programs.startAgent(cluster, [], this.managerKey, as);
  }

  /** Ends a manager or an agent as a crash would. */
  async kill(name: string): Promise<void> {
    await this.#programs.get(name).stop(0);
  }

  /** The end of every program's log. */
  logs(): Promise<string> {
    return this.#programs.logs();
  }

  log(name: string): Promise<string> {
    return this.#programs.get(name).log();
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    await until(what, holds, { everyMs: POLL_MS, explain: () => this.#programs.logs() });
  }

  /** What Redis refused under the ACL rules so far. */
  async denied(): Promise<string> {
    const entries = (await this.redis.call("ACL", "LOG")) as unknown[];
    return JSON.stringify(entries);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#programs, ...this.#attached].map((each) => each.stop(0)));
    this.#admin?.disconnect();
    // One that did not start has stopped by itself.
    const clusters = (await Promise.allSettled(this.#clusters)).filter((each) => each.status === "fulfilled");
    await Promise.all(clusters.map(({ value }) => value.stop()));
    await this.#redis?.stop();
    await this.#directory.remove();
  }

  #path(name: string): string {
    return join(this.#directory.path, name);
  }
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("the fleet has not been started");
  return part;
}
