/**
 * Jobferry as its users install it: our images under kubelets, from deploy/ and by the commands of docs/install.md. What the
 * test does as an administrator it does with kubectl.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Enrolment } from "@jobferry/cli/cluster/enrolment.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { formatPrivateKey, generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { Redis } from "ioredis";
import { until } from "../../fleet/until.ts";
import { certificateAuthority, clientCertificate } from "../../harness/certificates.ts";
import { guardedDirectory } from "../../harness/guarded-process.ts";
import { type LocalCluster, localCluster } from "../../harness/real-cluster.ts";
import { startRedis, type TestRedis } from "../../harness/redis.ts";
import { outputOf, runCommand } from "../../harness/run-command.ts";
import { machineAddress, type RealNode, realNode } from "../../real-node/real-node.ts";
import { jobferry } from "../dispatch/installation.ts";

const root = join(import.meta.dirname, "../../..");
const registry = "registry.example.com/jobferry-";
export const SYSTEM = "jobferry-system";
const NODES = ["node-1", "node-2"];
/** Of a cluster that people use, as far as our manifests and kubectl drain need it. */
const controllers = [
  ...["namespace-controller", "garbage-collector-controller", "deployment-controller", "replicaset-controller"],
  ...["disruption-controller", "job-controller", "cronjob-controller", "ttl-after-finished-controller"],
];

/** A cluster with its nodes, by name. */
export interface Site {
  readonly cluster: LocalCluster;
  readonly nodes: ReadonlyMap<string, RealNode>;
}

export class DeployedFleet {
  readonly workers = new Map<string, Site>();
  readonly #directory = guardedDirectory("deployed");
  readonly #parts: { stop(): Promise<void> }[] = [];
  #hub: Site | undefined;
  #redis: TestRedis | undefined;
  #admin: Redis | undefined;

  async start(workers: readonly string[]): Promise<this> {
    await this.#startRedis();
    await outputOf(
      runCommand(
        process.execPath,
        [join(root, "scripts/images.ts"), "--output", this.#path("images"), "--prefix", registry],
        {
          timeoutMs: 300_000,
        },
      ),
    );
    this.#hub = await this.#site("manager", await this.#kubeletClient());
    await this.#installHub();
    for (const name of workers) {
      this.workers.set(name, await this.#site("agent"));
      await this.#installWorker(name);
    }
    await this.untilDeployed(this.hub, "jobferry-manager");
    for (const name of workers) {
      await this.untilDeployed(this.worker(name), "jobferry-agent");
      const ready = ["wait", "--for=condition=Ready", `workercluster/${name}`, "--timeout=2m"];
      await outputOf(this.hub.cluster.kubectl(...ready));
    }
    return this;
  }

  get hub(): Site {
    if (this.#hub === undefined) throw new Error("the fleet has not been started");
    return this.#hub;
  }

  worker(name: string): Site {
    const site = this.workers.get(name);
    if (site === undefined) throw new Error(`there is no worker ${name}`);
    return site;
  }

  /** Applies a folder of deploy/ as install.md says: from a kustomization of our own that names our images. */
  async apply({ cluster }: Site, folder: string): Promise<void> {
    const own = this.#path(`kustomization-${folder}`);
    const images = ["manager", "agent"].map((name) => ({ name: `jobferry/${name}`, newName: `${registry}${name}` }));
    await mkdir(own, { recursive: true });
    const kustomization = { resources: [relative(own, join(root, "deploy", folder))], images };
    await writeFile(join(own, "kustomization.yaml"), JSON.stringify(kustomization));
    await outputOf(cluster.kubectl("apply", "-k", own));
  }

  /** All replicas are new, Ready and alone. */
  async untilDeployed({ cluster }: Site, deployment: string): Promise<void> {
    const status = await cluster.kubectl("rollout", "status", `deployment/${deployment}`, "-n", SYSTEM, "--timeout=4m");
    if (status.code === 0) return;
    const pods = await cluster.kubectl("describe", "pods", "-n", SYSTEM);
    throw new Error([status.stderr, pods.stdout, await this.logs(cluster)].join("\n"));
  }

  async logs(cluster: LocalCluster): Promise<string> {
    return (await cluster.kubectl("logs", "-n", SYSTEM, "-l", "app.kubernetes.io/part-of=jobferry", "--tail=40"))
      .stdout;
  }

  /** What Redis refused under the ACL rules so far. */
  async denied(): Promise<unknown[]> {
    return (await this.#admin?.call("ACL", "LOG")) as unknown[];
  }

  async stop(): Promise<void> {
    // Nodes before their clusters.
    await Promise.all([...this.#sites()].flatMap(({ nodes }) => [...nodes.values()]).map((node) => node.stop()));
    this.#admin?.disconnect();
    for (const part of this.#parts.reverse()) await part.stop();
    await this.#redis?.stop();
    await this.#directory.remove();
  }

  *#sites(): Generator<Site> {
    if (this.#hub !== undefined) yield this.#hub;
    yield* this.workers.values();
  }

  #path(name: string): string {
    return join(this.#directory.path, name);
  }

  /** How our clusters' pods reach it. */
  get #redisFromPods(): string {
    return `${machineAddress}:${new URL(this.#redis?.url ?? "").port}`;
  }

  /** With the users of deploy/redis/users.acl, of which `default` is off. */
  async #startRedis(): Promise<void> {
    this.#redis = await startRedis();
    const first = new Redis(this.#redis.url);
    const password = randomBytes(16).toString("hex");
    await first.call("ACL", "SETUSER", "admin", "on", "~*", "&*", "+@all", `>${password}`);
    await writeFile(this.#path("redis-password"), randomBytes(24).toString("hex"));
    const hash = createHash("sha256")
      .update(await readFile(this.#path("redis-password")))
      .digest("hex");
    const users = await readFile(join(root, "deploy/redis/users.acl"), "utf8");
    this.#admin = new Redis(this.#redis.url, { username: "admin", password });
    for (const line of users.replace("SHA256_OF_THE_MANAGERS_PASSWORD", hash).trim().split("\n")) {
      const [, name = "", ...rule] = line.split(" ");
      await this.#admin.call("ACL", "SETUSER", name, "reset", ...rule); // as from a file
    }
    first.disconnect();
  }

  /** The API server has a certificate for kubelets, as every cluster's has: by it the manager knows who asks for logs. */
  async #kubeletClient(): Promise<string[]> {
    const authority = await certificateAuthority("cluster");
    const { key, cert } = await clientCertificate(authority, "kube-apiserver-kubelet-client", "system:masters");
    const files = { "client-ca-file": authority.cert, "kubelet-client-certificate": cert, "kubelet-client-key": key };
    for (const [name, content] of Object.entries(files)) await writeFile(this.#path(name), content, { mode: 0o600 });
    return Object.keys(files).map((name) => `--${name}=${this.#path(name)}`);
  }

  async #site(image: string, apiServerArgs: readonly string[] = []): Promise<Site> {
    const cluster = await localCluster({ realNodes: true, controllers, apiServerArgs });
    this.#parts.push(cluster);
    const nodes = new Map<string, RealNode>();
    const images = [join(this.#path("images"), `${image}.tar`)];
    for (const name of NODES) nodes.set(name, await realNode(cluster, { name, images }));
    return { cluster, nodes };
  }

  async #installHub(): Promise<void> {
    await this.apply(this.hub, "hub");
    await writeFile(this.#path("key.pem"), formatPrivateKey(generateKeyPair().privateKey));
    const files = ["key.pem", "redis-password"].map((name) => `--from-file=${this.#path(name)}`);
    const url = `--from-literal=redis-url=redis://jobferry-manager@${this.#redisFromPods}`;
    await outputOf(
      this.hub.cluster.kubectl("create", "secret", "generic", "jobferry-manager", "-n", SYSTEM, ...files, url),
    );
  }

  async #installWorker(name: string): Promise<void> {
    const { cluster } = this.worker(name);
    const where = ["--kubeconfig", this.hub.cluster.kubeconfigPath, "--redis-url", `redis://${this.#redisFromPods}`];
    const added = await jobferry("cluster", "add", name, ...where, "--output", "json");
    const { secret, acl } = JSON.parse(added) as Enrolment;
    const [command = "", ...rule] = acl.split(" ");
    await this.#admin?.call(command, ...rule);
    await this.apply(this.worker(name), "worker");
    await outputOf(cluster.kubectlWith(JSON.stringify(secret), "apply", "-f", "-"));
    await outputOf(cluster.kubectl("label", "namespace", "default", "jobferry.dev/accept=enabled"));
  }
}

/** The name of a pod of ours that is Ready. */
export async function readyPod({ cluster }: Site, app: string): Promise<string> {
  return until(`a pod of ${app} is Ready`, async () => {
    const labelSelector = `app.kubernetes.io/name=${app}`;
    const { items } = await cluster.api.list(pods, { namespace: SYSTEM, labelSelector });
    const ready = items.find(({ status }) => status?.containerStatuses?.[0]?.ready === true);
    return ready?.metadata.name;
  });
}
