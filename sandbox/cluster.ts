import { randomBytes } from "node:crypto";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import type { PodLogs } from "@jobferry/shared/kube/pod-logs.ts";
import { namespaces, pods } from "@jobferry/shared/kube/resources.ts";
import { type Clock, realClock, sleep } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { ApiServer } from "./api-server.ts";
import { Controllers } from "./controllers/controllers.ts";
import { Faults } from "./faults.ts";
import { Gateway } from "./gateway.ts";
import { EventExpiry } from "./gc/event-expiry.ts";
import { GarbageCollector } from "./gc/garbage-collector.ts";
import { NamespaceController } from "./gc/namespaces.ts";
import { KUBELET_CLIENT } from "./http/kubelet-logs.ts";
import { ApiListener } from "./http/server.ts";
import type { ServiceAddress } from "./http/service-proxy.ts";
import { type Certificate, certificate } from "./http/tls.ts";
import { LocalClient } from "./local-client.ts";
import { NodePlane, type NodePlaneOptions } from "./nodes/node-plane.ts";
import { Random } from "./random.ts";
import type { Stored } from "./store/frozen.ts";
import type { ChangeListener } from "./store/store.ts";
import type { StoreLimits } from "./store/table.ts";

export interface SandboxOptions
  extends Pick<NodePlaneOptions, "nodes" | "behaviour" | "path" | "restartBackoff" | "logger"> {
  name?: string;
  /** The real clock unless told. */
  clock?: Clock;
  /** Makes uids and generated names repeatable. */
  seed?: number;
  /** What runs pods: local processes, virtual containers on the clock, or nothing (the default), and then there are no nodes. */
  kubelet?: "process" | "virtual" | "none";
  limits?: Partial<StoreLimits>;
}

const INITIAL_NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** A Kubernetes cluster in this process. */
export class SandboxCluster {
  readonly name: string;
  readonly clock: Clock;
  readonly api: KubeApi;
  /** What tests break on purpose. */
  readonly faults = new Faults();
  /** The nodes and what runs on them; undefined without a kubelet. */
  readonly nodes: NodePlane | undefined;
  readonly #server: ApiServer;
  readonly #gateway: Gateway;
  readonly #collector: GarbageCollector;
  readonly #namespaces: NamespaceController;
  readonly #expiry: EventExpiry;
  readonly #controllers: Controllers;
  readonly #services = new Map<string, ServiceAddress>();
  #listener: ApiListener | undefined;
  #kubeletClient: Promise<Certificate> | undefined;

  constructor(options: SandboxOptions = {}) {
    this.name = options.name ?? "sandbox";
    this.clock = options.clock ?? realClock;
    const random = new Random(options.seed ?? randomBytes(4).readUInt32LE());
    this.#server = new ApiServer({ clock: this.clock, random, limits: options.limits });
    this.#gateway = new Gateway(this.clock, this.faults);
    this.api = this.apiFor("test");
    this.#createNamespaces();
    const { clock } = this;
    const { store, registry } = this.#server;
    this.#collector = new GarbageCollector({ api: this.apiFor("garbage-collector"), store, registry, clock });
    this.#namespaces = new NamespaceController({
      api: this.apiFor("namespace-controller"),
      server: this.#server,
      clock,
    });
    this.#expiry = new EventExpiry(this.#server);
    const common = {
      clock,
      random: () => random.next() / 2 ** 32,
      ...(options.logger === undefined ? {} : { logger: options.logger }),
    };
    this.nodes = this.#makeNodes(options, common);
    this.#controllers = new Controllers({
      ...common,
      api: this.apiFor("controllers"),
      ...(this.nodes === undefined ? {} : { shared: this.nodes.reflectors }),
    });
  }

  /** The API as one named client sees it, so that faults and observers can tell clients apart. */
  apiFor(client: string): KubeApi {
    return this.#clientFor(client);
  }

  /** Hears of every stored change at once, with the state before it, whatever becomes of watches. */
  onChange(listener: ChangeListener): () => void {
    return this.#server.store.onChange(listener);
  }

  /** Starts what acts by itself: garbage collection, namespaces, CronJobs, TTL, and the nodes. */
  async start(): Promise<void> {
    this.#collector.start();
    this.#namespaces.start();
    this.#expiry.start();
    await this.nodes?.start();
    await this.#controllers.start();
  }

  /** Reads what containers of this cluster's own nodes have written. */
  podLogs(): PodLogs {
    return {
      readLog: async (key, { container, follow, previous, timestamps, ...rest }, signal) => {
        const { metadata } = await this.api.get(pods, key);
        const log = this.nodes?.log(metadata.uid ?? "", container, previous === true);
        if (log === undefined)
          throw new ApiError(
            400,
            "BadRequest",
            `container "${container}" in pod "${key.name}" is waiting to start, or its output is not kept`,
          );
        const options = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
        const lines = log.read({ ...options, follow: follow === true, timestamps: timestamps === true }, signal);
        return (async function* () {
          for await (const line of lines) yield Buffer.from(line);
        })();
      },
    };
  }

  /** By this the kubelets of nodes outside of this process know the API server; it is its own authority. */
  async kubeletClient(): Promise<Certificate> {
    this.#kubeletClient ??= certificate(KUBELET_CLIENT);
    return await this.#kubeletClient;
  }

  /** The API server hands what is asked of this Service, through its proxy, to a program outside of this process's cluster. */
  exposeService(namespace: string, name: string, address: ServiceAddress): void {
    this.#services.set(`${namespace}/${name}`, address);
  }

  /** Opens the API on 127.0.0.1 with a certificate and a token of its own. */
  async serve(options: { port?: number } = {}): Promise<{ url: string; kubeconfig: string }> {
    if (this.#listener === undefined) {
      const listener = new ApiListener({
        name: this.name,
        token: randomBytes(16).toString("hex"),
        port: options.port,
        server: this.#server,
        gateway: this.#gateway,
        clientFor: (client) => this.#clientFor(client),
        logs: this.nodes,
        kubeletClient: await this.kubeletClient(),
        services: this.#services,
      });
      await listener.listen();
      this.#listener = listener;
    }
    return { url: this.#listener.url, kubeconfig: this.#listener.kubeconfig() };
  }

  /** Forgets all history, as etcd's compaction does: older watches and continue tokens get 410. */
  compact(): void {
    this.#server.compact();
  }

  /** Of the newest write: what a backup that is taken now will have. */
  get revision(): number {
    return this.#server.store.revision;
  }

  /** All objects of a kind as etcd has them. */
  stored(kind: string): Stored[] {
    return [...this.#server.store.tables()].flatMap((table) => (table.kind === kind ? table.sorted() : []));
  }

  /**
   * Puts etcd back to a backup of that `revision`; see `Store.restore`. For a cluster without nodes: what its kubelets run is not
   * in etcd.
   */
  restore(revision: number, bump = 0): void {
    this.#server.store.restore(revision, bump);
  }

  /** Ends every watch, as a server does that is about to stop. */
  cutWatches(): void {
    this.#server.store.closeWatches();
  }

  /** Stops the API server and starts it again after `downMs`: objects stay, connections, watches and history do not. */
  async restart(downMs = 0): Promise<void> {
    this.#gateway.isUp = false;
    this.#server.store.closeWatches();
    this.#listener?.dropConnections();
    this.#server.compact();
    if (downMs > 0) await sleep(this.clock, downMs);
    this.#gateway.isUp = true;
  }

  async stop(): Promise<void> {
    await this.#controllers.stop();
    await this.nodes?.stop();
    await Promise.all([this.#collector.stop(), this.#namespaces.stop()]);
    this.#expiry.stop();
    this.#server.close();
    await this.#listener?.close();
    this.#listener = undefined;
  }

  #clientFor(client: string): LocalClient {
    return new LocalClient(client, { server: this.#server, gateway: this.#gateway, faults: this.faults });
  }

  #createNamespaces(): void {
    const type = this.#server.type(namespaces);
    for (const name of INITIAL_NAMESPACES) this.#server.create(type, undefined, { metadata: { name } });
  }

  #makeNodes(
    { kubelet = "none", nodes, behaviour, path, restartBackoff }: SandboxOptions,
    common: { clock: Clock; random: () => number; logger?: Logger },
  ): NodePlane | undefined {
    if (kubelet === "none") return undefined;
    return new NodePlane({
      ...common,
      api: this.apiFor("nodes"),
      clusterName: this.name,
      kubelet,
      ...(nodes === undefined ? {} : { nodes }),
      ...(behaviour === undefined ? {} : { behaviour }),
      ...(path === undefined ? {} : { path }),
      ...(restartBackoff === undefined ? {} : { restartBackoff }),
    });
  }
}
