/**
 * A hub, worker clusters and a Redis, all real, with manager and agents as processes. Everything is installed from deploy/ and
 * runs with just the rights that it gives: its service accounts on the clusters, its ACL users in Redis.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Enrolment } from "@jobferry/cli/cluster-enrolment.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { type WorkerCluster, workerClusters } from "@jobferry/shared/kube/fleet-resources.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { formatPrivateKey, formatPublicKey, generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { CLUSTER, HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { type ClusterName, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { aclForManager, clusterUser, MANAGER_USER } from "@jobferry/shared/queue/acl.ts";
import { Redis } from "ioredis";
import { type GuardedProcess, guardedDirectory, startGuarded } from "../../harness/guarded-process.ts";
import { readAccess, writeKubeconfig } from "../../harness/kubeconfig.ts";
import { realCluster } from "../../harness/real-cluster.ts";
import type { RealCluster } from "../../harness/real-cluster-options.ts";
import { startRedis, type TestRedis } from "../../harness/redis.ts";
import { runCommand } from "../../harness/run-command.ts";

const NAMESPACE = "default";
const PASSWORD = "for-tests-only";
const MANAGER = "manager";
const LIMIT_MS = 90_000;
const root = join(import.meta.dirname, "../../..");

export interface RealFleetOptions {
  workers?: readonly string[];
  /** Further flags of every agent. */
  agentFlags?: readonly string[];
  spec?: Partial<WorkerCluster["spec"]>;
  /** The hub is its own and only worker; its mirrors live in namespaces with this before the name. */
  namespacePrefix?: string;
  /** What kube-controller-manager runs on the workers besides garbage collection. */
  workerControllers?: readonly string[];
}

export class RealFleet {
  readonly #options: RealFleetOptions;
  readonly #directory = guardedDirectory("fleet");
  readonly #managerKeys = generateKeyPair();
  readonly #processes = new Map<string, GuardedProcess>();
  readonly #kubeconfigs = new Map<string, string>();
  readonly workers = new Map<string, RealCluster>();
  #hub: RealCluster | undefined;
  #redis: TestRedis | undefined;
  #admin: Redis | undefined;

  constructor(options: RealFleetOptions = {}) {
    this.#options = options;
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

  async start(): Promise<this> {
    const names = this.#options.workers ?? (this.#prefix === "" ? ["east", "west"] : ["self"]);
    this.#redis = await startRedis();
    this.#admin = new Redis(this.#redis.url);
    await this.#admin.acl("SETUSER", MANAGER_USER, ...aclForManager(), `>${PASSWORD}`);
    await writeFile(this.#path(`${MANAGER}.password`), PASSWORD);
    await writeFile(this.#path("manager.pem"), formatPrivateKey(this.#managerKeys.privateKey));
    const controllers = ["garbage-collector-controller", "job-controller", "cronjob-controller"];
    this.#hub = await realCluster({
      controllers: [...controllers, "ttl-after-finished-controller"],
      instantPods: this.#prefix !== "",
    });
    this.#kubeconfigs.set("manager", await this.#install(this.hub, "hub", "jobferry-manager"));
    await must(this.hub.kubectl("wait", "--for=condition=established", "crd/workerclusters.jobferry.dev"));
    for (const name of names) await this.#addWorker(name);
    this.startManager();
    for (const name of names) this.startAgent(name);
    await this.until("every cluster is connected", async () => {
      const { items } = await this.hub.api.list(workerClusters);
      return items.every(({ status }) =>
        status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True"),
      );
    });
    return this;
  }

  async #addWorker(name: string): Promise<void> {
    const cluster = parseClusterName(name);
    const worker = this.#prefix === "" ? await this.#newWorker() : this.hub;
    this.workers.set(name, worker);
    this.#kubeconfigs.set(name, await this.#install(worker, "worker", "jobferry-agent"));
    const { secret, acl } = await this.#enrol(cluster);
    const [command = "", ...rules] = acl.split(" ");
    await this.redis.call(command, ...rules);
    await writeFile(this.#path(`${name}.pem`), secret.stringData["signing-key.pem"] ?? "");
    await writeFile(this.#path(`${name}.password`), secret.stringData["redis-password"] ?? "");
    await must(
      worker.kubectlWith(JSON.stringify(secret), "apply", "-f", "-", "--dry-run=server", "-n", "jobferry-system"),
    );
    await this.hub.api.patch(workerClusters, { name }, { type: "merge", body: { spec: this.#options.spec ?? {} } });
  }

  #newWorker(): Promise<RealCluster> {
    const controllers = ["garbage-collector-controller", ...(this.#options.workerControllers ?? [])];
    return realCluster({ controllers, instantPods: true });
  }

  async #enrol(cluster: ClusterName): Promise<Enrolment> {
    const flags = ["--manager-key", formatPublicKey(this.#managerKeys.publicKey), "--labels", `name=${cluster}`];
    const where = [
      "--kubeconfig",
      this.hub.kubeconfigPath,
      "--redis-url",
      started(this.#redis).url,
      "--output",
      "json",
    ];
    return JSON.parse(await this.jobferry("cluster", "add", cluster, ...where, ...flags)) as Enrolment;
  }

  /** The command line, as its user runs it. */
  jobferry(...args: string[]): Promise<string> {
    return must(runCommand(process.execPath, [join(root, "cli/main.ts"), ...args]));
  }

  /** Applies a folder of deploy/; a kubeconfig that acts as its service account. */
  async #install(cluster: RealCluster, folder: string, account: string): Promise<string> {
    await must(cluster.kubectl("apply", "-k", join(root, "deploy", folder)));
    const token = await must(cluster.kubectl("create", "token", account, "-n", "jobferry-system"));
    const path = `${cluster.kubeconfigPath}-${account}`;
    const admin = readAccess(await readFile(cluster.kubeconfigPath, "utf8"));
    await writeKubeconfig(path, { ...admin, token: token.trim() });
    return path;
  }

  startManager(name = "manager"): GuardedProcess {
    const flags = ["--signing-key-file", this.#path("manager.pem")];
    return this.#run(name, "manager/main.ts", this.#kubeconfigs.get("manager"), MANAGER_USER, flags);
  }

  startAgent(name: string): GuardedProcess {
    const flags = ["--cluster", name, "--signing-key-file", this.#path(`${name}.pem`)];
    const key = formatPublicKey(this.#managerKeys.publicKey);
    const more = [
      "--manager-key",
      key,
      "--retention-seconds",
      "5",
      "--namespace-prefix",
      this.#prefix,
      ...(this.#options.agentFlags ?? []),
    ];
    const user = clusterUser(parseClusterName(name));
    return this.#run(name, "worker-agent/main.ts", this.#kubeconfigs.get(name), user, ["start", ...flags, ...more]);
  }

  #run(
    name: string,
    program: string,
    kubeconfig: string | undefined,
    user: string,
    flags: readonly string[],
  ): GuardedProcess {
    const url = new URL(started(this.#redis).url);
    url.username = user;
    const process_ = startGuarded({
      name,
      command: process.execPath,
      args: [join(root, program), ...flags, "--metrics-port", "0", "--log-level", "debug"],
      logFile: this.#path(`${name}.log`),
      env: {
        ...process.env,
        JOBFERRY_KUBECONFIG: kubeconfig,
        JOBFERRY_REDIS_URL: url.href,
        JOBFERRY_REDIS_PASSWORD_FILE: this.#path(`${user === MANAGER_USER ? MANAGER : name}.password`),
      },
    });
    this.#processes.set(name, process_);
    return process_;
  }

  /** Ends a manager or an agent as a crash would. */
  async kill(name: string): Promise<void> {
    await started(this.#processes.get(name)).stop(0);
  }

  async log(name: string): Promise<string> {
    return (await this.#processes.get(name)?.log()) ?? "";
  }

  async submit(name: string, options: SubmitOptions = {}): Promise<Job> {
    const { spec, annotations, pod, namespace = NAMESPACE } = options;
    return await this.hub.api.create(jobs, namespace, {
      metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
      spec: {
        managedBy: HUB_MANAGED_BY,
        ...spec,
        template: {
          metadata: { annotations: pod ?? {} },
          spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] },
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

  /** The name of the cluster that the Job is assigned to, and its mirror there. */
  async mirror(name: string): Promise<{ cluster: string; mirror: Job | undefined }> {
    const cluster = (await this.job(name))?.metadata.annotations?.[CLUSTER] ?? "";
    const worker = this.workers.get(cluster);
    return { cluster, mirror: worker === undefined ? undefined : await find(worker.api, name, this.#mirrorNamespace) };
  }

  async podsOn(cluster: string): Promise<number> {
    return (await started(this.workers.get(cluster)).api.list(pods, { namespace: this.#mirrorNamespace })).items.length;
  }

  async untilFinished(name: string): Promise<Job> {
    await this.until(`${name} is finished`, async () => {
      const job = await this.job(name);
      return job !== undefined && isFinished(job);
    });
    return started(await this.job(name));
  }

  async untilActive(name: string, active: number): Promise<void> {
    await this.until(
      `${name} has ${active} active`,
      async () => ((await this.job(name))?.status?.active ?? 0) === active,
    );
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (const deadline = performance.now() + LIMIT_MS; performance.now() < deadline; await delay(50))
      if (await holds()) return;
    const logs = [...this.#processes.keys()].map(async (name) => `--- ${name}\n${(await this.log(name)).slice(-3000)}`);
    throw new Error(`not within ${LIMIT_MS / 1000} s: ${what}\n${(await Promise.all(logs)).join("\n")}`);
  }

  /** What Redis refused under the ACL rules so far. */
  async denied(): Promise<string> {
    const entries = (await this.redis.call("ACL", "LOG")) as unknown[];
    return JSON.stringify(entries);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((each) => each.stop(0)));
    this.#admin?.disconnect();
    const clusters = new Set([...(this.#hub === undefined ? [] : [this.#hub]), ...this.workers.values()]);
    await Promise.all([...clusters].map((cluster) => cluster.stop()));
    await this.#redis?.stop();
    await this.#directory.remove();
  }

  get #mirrorNamespace(): string {
    return `${this.#prefix}${NAMESPACE}`;
  }

  #path(name: string): string {
    return join(this.#directory.path, name);
  }
}

export interface SubmitOptions {
  namespace?: string;
  spec?: Partial<JobSpec>;
  annotations?: Record<string, string>;
  /** Annotations of the pods: how the stand-in kubelet runs them. */
  pod?: Record<string, string>;
}

async function find(api: KubeApi, name: string, namespace = NAMESPACE): Promise<Job | undefined> {
  try {
    return await api.get(jobs, { namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("the fleet has not been started");
  return part;
}

async function must(run: Promise<{ code: number; stdout: string; stderr: string }>): Promise<string> {
  const { code, stdout, stderr } = await run;
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  return stdout;
}
