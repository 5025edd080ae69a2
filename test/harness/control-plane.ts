import { execFile } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { Agent, fetch } from "undici";
import { buildEtcdSnapshot } from "../etcd-snapshot/build.ts";
import { type GuardedProcess, startGuarded } from "./guarded-process.ts";
import { type Access, writeKubeconfig } from "./kubeconfig.ts";
import { PortTakenError, saysPortTaken } from "./ports.ts";

/** A first start writes every bootstrap role; on a loaded machine that takes a while. */
const startLimitMs = 90_000;

export interface ControlPlaneOptions {
  /** What kube-controller-manager runs, as in its --controllers flag; an empty list starts none. */
  controllers?: readonly string[];
  controllerManagerArgs?: readonly string[];
  apiServerArgs?: readonly string[];
  featureGates?: Readonly<Record<string, boolean>>;
  /** Pods need their service account, as on every cluster that people use; `serviceaccount-controller` makes the default ones. */
  serviceAccounts?: boolean;
  /** Adds what realNode() asks of a control plane: tokens for pods, a way to kubelets, the controllers of nodes, a scheduler. */
  realNodes?: boolean;
}

/** What a kubelet and its pods wait for. */
const nodeControllers = [
  "serviceaccount-controller",
  "root-ca-certificate-publisher-controller",
  "node-lifecycle-controller",
  "taint-eviction-controller",
  "pod-garbage-collector-controller",
];

const BESIDE = new Set(["instant-pods", "kube-scheduler"]);

/** etcd, kube-apiserver and, where asked for, more, as processes of this machine with their state in one folder. */
export class ControlPlane {
  readonly url: string;
  readonly kubeconfigPath: string;
  readonly directory: string;
  readonly #assets: string;
  readonly #options: ControlPlaneOptions;
  readonly #ports: { api: number; etcd: number; peer: number };
  readonly #token = randomBytes(16).toString("hex");
  readonly #processes = new Map<string, GuardedProcess>();
  /** Programs that only watch the API server, and how they were started. */
  readonly #beside = new Map<string, { program: string; args: readonly string[] }>();
  #ca: string | undefined;

  constructor(assets: string, directory: string, ports: readonly number[], options: ControlPlaneOptions) {
    const [api = 0, etcd = 0, peer = 0] = ports;
    this.#assets = assets;
    this.#options = options;
    this.#ports = { api, etcd, peer };
    this.directory = directory;
    this.url = `https://127.0.0.1:${api}`;
    this.kubeconfigPath = join(directory, "kubeconfig");
  }

  get access(): Access {
    return { server: this.url, token: this.#token, ...(this.#ca === undefined ? {} : { ca: this.#ca }) };
  }

  async start(): Promise<void> {
    await mkdir(this.directory, { recursive: true });
    try {
      await this.#writeCredentials();
      this.#startEtcd();
      await this.startApiServer();
      this.#ca = await readFile(join(this.directory, "certs/apiserver.crt"), "utf8");
      await writeKubeconfig(this.kubeconfigPath, this.access);
      this.#startControllerManager();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Starts one of the programs beside the API server; a second one of its kind needs a name of its own. */
  run(program: string, args: readonly string[], name = program): GuardedProcess {
    const command = join(this.#assets, program);
    if (!existsSync(command))
      throw new Error(`${this.#assets} holds no ${program}: unset KUBEBUILDER_ASSETS to have one built from source`);
    const process = startGuarded({
      name,
      command,
      args,
      cwd: this.directory,
      logFile: join(this.directory, `${name}.log`),
    });
    this.#processes.set(name, process);
    if (BESIDE.has(program)) this.#beside.set(name, { program, args });
    return process;
  }

  process(program: string): GuardedProcess {
    const process = this.#processes.get(program);
    if (process === undefined) throw new Error(`this cluster has no ${program}: see the options of realCluster()`);
    return process;
  }

  async startApiServer(): Promise<void> {
    const gates = Object.entries(this.#options.featureGates ?? {}).map(([gate, on]) => `${gate}=${on}`);
    const { realNodes = false, serviceAccounts = realNodes } = this.#options;
    // Nodes without a kubelet stay free of the not-ready taint.
    const without = [...(serviceAccounts ? [] : ["ServiceAccount"]), ...(realNodes ? [] : ["TaintNodesByCondition"])];
    const apiServer = this.run("kube-apiserver", [
      `--etcd-servers=${this.#etcdUrl}`,
      `--secure-port=${this.#ports.api}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      "--cert-dir=certs",
      "--service-account-key-file=sa.pub",
      "--service-account-signing-key-file=sa.key",
      "--service-account-issuer=https://kubernetes.default.svc",
      "--token-auth-file=tokens.csv",
      "--authorization-mode=RBAC",
      "--service-cluster-ip-range=10.96.0.0/24",
      ...(without.length > 0 ? [`--disable-admission-plugins=${without.join(",")}`] : []),
      // By its name nobody finds a node.
      ...(realNodes ? ["--kubelet-preferred-address-types=InternalIP"] : []),
      ...(gates.length > 0 ? [`--feature-gates=${gates.join(",")}`] : []),
      ...(this.#options.apiServerArgs ?? []),
    ]);
    await this.#untilReady(apiServer);
  }

  /** Ends the API server at once, as a crash would, unless a grace time is given. */
  async stopApiServer(graceMs = 0): Promise<void> {
    await this.process("kube-apiserver").stop(graceMs);
  }

  /** A snapshot of what etcd has at this moment, taken from it while it runs. */
  async backUpEtcd(): Promise<void> {
    await rm(this.#backupFile, { force: true });
    await this.#snapshot("save", this.#etcdUrl, this.#backupFile);
  }

  /**
   * Puts the whole control plane back to that. `bump`: how many revisions etcd counts beyond the backup's, all of which before are
   * then compacted; 0: it goes on with the backup's own.
   */
  async restoreEtcd(bump: number): Promise<void> {
    // Who went on watching from a revision that is yet to come would see nothing: all start anew, as an operator has it.
    const beside = [...this.#beside].filter(([name]) => this.#processes.get(name)?.running === true);
    for (const program of [...beside.map(([name]) => name), "kube-controller-manager", "kube-apiserver", "etcd"])
      await this.#processes.get(program)?.stop(0);
    await rm(this.#etcdFolder, { recursive: true });
    await this.#snapshot("restore", this.#backupFile, ...this.#restoreFlags(bump));
    this.#startEtcd();
    await this.startApiServer();
    this.#startControllerManager();
    for (const [name, { program, args }] of beside) this.run(program, args, name);
  }

  #restoreFlags(bump: number): string[] {
    return [
      `--data-dir=${this.#etcdFolder}`,
      `--initial-advertise-peer-urls=${this.#peerUrl}`,
      `--initial-cluster=default=${this.#peerUrl}`,
      ...(bump > 0 ? [`--bump-revision=${bump}`, "--mark-compacted"] : []),
    ];
  }

  async #snapshot(...args: string[]): Promise<void> {
    await promisify(execFile)(await buildEtcdSnapshot(), args);
  }

  get #etcdFolder(): string {
    return join(this.directory, "etcd");
  }

  get #backupFile(): string {
    return join(this.directory, "etcd-backup.db");
  }

  /** All state is throw-away, so nobody is asked; an API server that has lost its etcd would linger, so it goes first. */
  async stop(): Promise<void> {
    const [etcd, ...others] = this.#processes.values();
    await Promise.all(others.map((process) => process.stop(0)));
    await etcd?.stop(0);
  }

  async logs(): Promise<string> {
    const logs = [...this.#processes.values()].map(async (process) => {
      const lines = (await process.log()).trimEnd().split("\n");
      return [`--- ${process.name}`, ...lines.slice(-20)].join("\n");
    });
    return (await Promise.all(logs)).join("\n");
  }

  get #peerUrl(): string {
    return `http://127.0.0.1:${this.#ports.peer}`;
  }

  get #etcdUrl(): string {
    return `http://127.0.0.1:${this.#ports.etcd}`;
  }

  async #writeCredentials(): Promise<void> {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await Promise.all([
      writeFile(join(this.directory, "sa.pub"), publicKey.export({ type: "spki", format: "pem" })),
      writeFile(join(this.directory, "sa.key"), privateKey.export({ type: "pkcs1", format: "pem" }), { mode: 0o600 }),
      writeFile(join(this.directory, "tokens.csv"), `${this.#token},admin,admin,system:masters\n`, { mode: 0o600 }),
    ]);
  }

  #startEtcd(): void {
    const peer = this.#peerUrl;
    this.run("etcd", [
      "--data-dir=etcd",
      "--unsafe-no-fsync",
      "--log-level=error",
      `--listen-client-urls=${this.#etcdUrl}`,
      `--advertise-client-urls=${this.#etcdUrl}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
    ]);
  }

  #startControllerManager(): void {
    const { realNodes = false } = this.#options;
    const controllers = new Set([...(this.#options.controllers ?? []), ...(realNodes ? nodeControllers : [])]);
    if (controllers.size === 0) return;
    this.run("kube-controller-manager", [
      "--kubeconfig=kubeconfig",
      "--secure-port=0",
      "--leader-elect=false",
      "--service-account-private-key-file=sa.key",
      "--use-service-account-credentials=false",
      `--controllers=${[...controllers].join(",")}`,
      ...(realNodes ? ["--root-ca-file=certs/apiserver.crt"] : []), // it ends with the authority, which pods trust
      ...(this.#options.controllerManagerArgs ?? []),
    ]);
  }

  /** Ready means that the namespaces every client assumes are there too. */
  async #untilReady(apiServer: GuardedProcess): Promise<void> {
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    const answers = async (path: string): Promise<boolean> =>
      fetch(`${this.url}${path}`, { dispatcher, headers: { authorization: `Bearer ${this.#token}` } }).then(
        async (response) => {
          await response.body?.cancel();
          return response.ok;
        },
        () => false,
      );
    const deadline = performance.now() + startLimitMs;
    try {
      for (const path of ["/readyz", "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system"])
        while (!(await answers(path))) {
          await this.#checkStarting(apiServer);
          if (performance.now() > deadline)
            throw new Error(`the control plane was not ready after ${startLimitMs / 1000} s\n${await this.logs()}`);
          await delay(50);
        }
    } finally {
      await dispatcher.destroy();
    }
  }

  async #checkStarting(apiServer: GuardedProcess): Promise<void> {
    for (const process of [apiServer, this.process("etcd")]) {
      if (process.running) continue;
      const logs = await this.logs();
      if (saysPortTaken(await process.log())) throw new PortTakenError(`${process.name} lost its port\n${logs}`);
      throw new Error(`${process.name} ended while starting\n${logs}`);
    }
  }
}
