/**
 * A real Kubernetes node (kubelet, containerd, runc, real containers) as one process tree in namespaces of its own. What it is
 * and what can be done to it: README.md.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../fleet/until.ts";
import { type GuardedProcess, guardedDirectory, startGuarded } from "../harness/guarded-process.ts";
import { writeKubeconfig } from "../harness/kubeconfig.ts";
import type { LocalCluster } from "../harness/real-cluster.ts";
import { controlPlaneAssets } from "../harness/real-cluster-options.ts";
import { type CommandResult, outputOf, runCommand } from "../harness/run-command.ts";
import { type Hierarchy, hierarchies, makeCgroups, setFrozen, sweepCgroups } from "./cgroups.ts";
import { containerdToml, kubeletConfiguration } from "./configuration.ts";
import { nodeImages } from "./node-images.ts";
import { realNodesMissing } from "./requirements.ts";

/** Where a node and its pods find the loopback of the machine, port by port. */
export const machineAddress = "198.18.0.1";

const readyLimitMs = 120_000;
const machine = join(import.meta.dirname, "machine");
const linkPrefix = "jfnode";
const cutTable = `table inet cut {
  chain in { type filter hook prerouting priority -500; iifname eth0 drop; }
  chain out { type filter hook postrouting priority 500; oifname eth0 drop; }
}`;
let serial = 0;

export interface RealNodeOptions {
  name?: string;
  /** Archives of images, besides `busybox:1`. */
  images?: readonly string[];
  /** Fields of KubeletConfiguration that differ from configuration.ts. */
  kubelet?: object;
}

export interface RealNode {
  readonly name: string;
  /** Its InternalIP. */
  readonly address: string;
  /** State and logs. */
  readonly folder: string;
  /** Runs a command in the node's namespaces, such as `ctr` or `nft`. */
  run(command: string, ...args: string[]): Promise<CommandResult>;
  loadImage(archive: string): Promise<void>;
  /** Power failure: everything in it ends at once; its disk stays. */
  kill(): Promise<void>;
  /** Power is back: the node starts with the disk it had. */
  start(): Promise<void>;
  /** Holds every process of the node, containers too. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Drops every packet from and to the node. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Ends it and removes what it had. The Node object stays. */
  stop(): Promise<void>;
  logs(): Promise<string>;
}

/** Brings what nodes are made of, where they can run at all. */
export async function prepareRealNodes(report: (line: string) => void = console.error): Promise<void> {
  if ((await realNodesMissing(report)) === undefined) await nodeImages(report);
}

/** A node that is Ready. The cluster needs the option `realNodes`; see realNodesMissing() for where this cannot work. */
export async function realNode(cluster: LocalCluster, options: RealNodeOptions = {}): Promise<RealNode> {
  const node = new Node(cluster, options);
  try {
    await node.prepare();
    await node.start();
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

class Node implements RealNode {
  readonly name: string;
  readonly folder: string;
  readonly #cluster: LocalCluster;
  readonly #options: RealNodeOptions;
  readonly #directory = guardedDirectory("node");
  #address = "";
  #images: string[] = [];
  #hierarchies: Hierarchy[] = [];
  #running: { process: GuardedProcess; cgroups: string[]; release: () => void } | undefined;

  constructor(cluster: LocalCluster, options: RealNodeOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.name = options.name ?? "node-1";
    this.folder = this.#directory.path;
  }

  get address(): string {
    return this.#address;
  }

  async prepare(): Promise<void> {
    this.#hierarchies = await hierarchies();
    await sweepCgroups(this.#hierarchies);
    this.#images = [...(await nodeImages()), ...(this.#options.images ?? [])];
    await writeFile(join(this.folder, "containerd.toml"), containerdToml);
    await writeFile(join(this.folder, "kubelet.json"), kubeletConfiguration(this.#options.kubelet ?? {}));
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) throw new Error(`node ${this.name} runs`);
    const clusterIP = await this.#apiService();
    await writeKubeconfig(join(this.folder, "kubeconfig"), {
      ...this.#cluster.controlPlane.access,
      server: `https://${clusterIP}:443`,
    });
    const cgroups = await makeCgroups(this.#hierarchies, ++serial);
    const since = Date.now();
    const process = startGuarded({
      name: `node ${this.name}`,
      command: join(machine, "outside.sh"),
      args: [],
      logFile: join(this.folder, "node.log"),
      env: {
        ...globalThis.process.env,
        NODE_NAME: this.name,
        NODE_FOLDER: this.folder,
        NODE_CGROUPS: cgroups.join(" "),
        NODE_HIERARCHIES: this.#hierarchies.map(({ controllers }) => controllers ?? "version-2").join(" "),
        NODE_LINK_PREFIX: linkPrefix,
        NODE_IMAGES: this.#images.join(" "),
        KUBELET: join(await controlPlaneAssets(), "kubelet"),
        API_ADDRESS: clusterIP,
        API_PORT: new URL(this.#cluster.url).port,
      },
    });
    this.#running = { process, cgroups, release: clearedOnOurDeath(cgroups) };
    await this.#untilReady(process, since);
    this.#images = []; // on its disk now
  }

  async kill(): Promise<void> {
    if (this.#running === undefined) return;
    const { process, cgroups, release } = this.#running;
    this.#running = undefined;
    await setFrozen(cgroups, false); // frozen processes do not die
    await process.stop(0);
    await outputOf(runCommand(join(machine, "clear.sh"), cgroups));
    release();
    await this.#untilLinkGone();
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.#directory.remove();
  }

  async freeze(): Promise<void> {
    await setFrozen(this.#alive().cgroups, true);
  }

  async thaw(): Promise<void> {
    await setFrozen(this.#alive().cgroups, false);
  }

  async cut(): Promise<void> {
    await outputOf(this.run("nft", cutTable));
  }

  async mend(): Promise<void> {
    await outputOf(this.run("nft", "delete", "table", "inet", "cut"));
  }

  async loadImage(archive: string): Promise<void> {
    await outputOf(this.run("ctr", "--namespace", "k8s.io", "images", "import", archive));
  }

  async run(command: string, ...args: string[]): Promise<CommandResult> {
    const { pid } = this.#alive().process;
    return runCommand("nsenter", ["--all", "--target", await firstProcess(pid), command, ...args]);
  }

  async logs(): Promise<string> {
    const files = ["node.log", "containerd.log", "kubelet.log"].map(async (name) => {
      const text = await readFile(join(this.folder, name), "utf8").catch(() => "");
      return [`--- ${this.name}: ${name}`, ...text.trimEnd().split("\n").slice(-20)].join("\n");
    });
    return (await Promise.all(files)).join("\n");
  }

  #alive(): { process: GuardedProcess; cgroups: string[] } {
    if (this.#running === undefined) throw new Error(`node ${this.name} does not run`);
    return this.#running;
  }

  /** The API server makes the Service of itself a moment after it is ready. */
  #apiService(): Promise<string> {
    return until("the Service `kubernetes` is there", async () => {
      const { json } = await this.#cluster.request("/api/v1/namespaces/default/services/kubernetes");
      return (json as { spec?: { clusterIP?: string } }).spec?.clusterIP;
    });
  }

  /** Ready, and that by a kubelet of this start: the Node object may be older. */
  async #untilReady(process: GuardedProcess, since: number): Promise<void> {
    const deadline = performance.now() + readyLimitMs;
    for (;;) {
      const answer = await this.#cluster.request(`/api/v1/nodes/${this.name}`).catch(() => undefined);
      const { conditions = [], addresses = [] } = (answer?.json as NodeObject | undefined)?.status ?? {};
      const ready = conditions.find(({ type }) => type === "Ready");
      const fresh = Date.parse(ready?.lastHeartbeatTime ?? "") >= since - (since % 1000);
      if (ready?.status === "True" && fresh) {
        this.#address = addresses.find(({ type }) => type === "InternalIP")?.address ?? "";
        return;
      }
      if (!process.running) throw new Error(`node ${this.name} ended while starting\n${await this.logs()}`);
      if (performance.now() > deadline)
        throw new Error(`node ${this.name} was not Ready after ${readyLimitMs / 1000} s\n${await this.logs()}`);
      await delay(50);
    }
  }

  /** The kernel takes the link away a moment after the last process; by its index, since its name may be another's by then. */
  async #untilLinkGone(): Promise<void> {
    const [name = "", index] = (await readFile(join(this.folder, "link"), "utf8").catch(() => "")).trim().split(" ");
    const file = `/sys/class/net/${name}/ifindex`;
    const deadline = performance.now() + 10_000;
    while (name !== "" && existsSync(file) && (await readFile(file, "utf8").catch(() => "")).trim() === index) {
      if (performance.now() > deadline) throw new Error(`node ${this.name}: the link ${name} is still there`);
      await delay(20);
    }
  }
}

interface NodeObject {
  status?: {
    addresses?: { type: string; address: string }[];
    conditions?: { type: string; status: string; lastHeartbeatTime: string }[];
  };
}

/** The pid of the node's process 1. The shell beside `outside.sh` is its child too, and in the machine's own namespaces. */
async function firstProcess(outside: number): Promise<string> {
  const machines = await readlink("/proc/self/ns/net");
  for (const child of (await readFile(`/proc/${outside}/task/${outside}/children`, "utf8")).trim().split(" "))
    if ((await readlink(`/proc/${child}/ns/net`)) !== machines) return child;
  throw new Error("the node has no namespaces of its own any more");
}

/** Clears these cgroups once our process has ended, however; `release` when there is nothing to clear any more. */
function clearedOnOurDeath(cgroups: readonly string[]): () => void {
  const script = 'read -r done; [ -n "$done" ] || exec "$0" "$@"';
  const watcher = spawn("/bin/sh", ["-c", script, join(machine, "clear.sh"), ...cgroups], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watcher.stdin.on("error", () => {});
  watcher.unref();
  (watcher.stdin as unknown as { unref(): void }).unref();
  return () => void watcher.stdin.end("done\n");
}
