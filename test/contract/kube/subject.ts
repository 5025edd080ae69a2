import { type ClusterAccess, findAccess } from "@jobferry/shared/kube/access.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import {
  type ClientOptions,
  createClient,
  type KubeClient,
  type RequestObservation,
} from "@jobferry/shared/kube/client.ts";
import { namespaces } from "@jobferry/shared/kube/resources.ts";
import { FlakyProxy } from "../../harness/flaky-proxy.ts";
import { localCluster } from "../../harness/real-cluster.ts";
import { sandboxCluster } from "../../harness/sandbox-cluster.ts";
import type { TestCluster } from "../../harness/test-cluster.ts";

interface Started {
  cluster: TestCluster;
  /** Makes every version seen so far too old to watch from. */
  forgetHistory(): Promise<void>;
  /** The server goes away and comes back with its state; absent where only its connections can. */
  restart?(): Promise<void>;
}

/** A cluster, a proxy in front of it that can be told to misbehave, and clients on either side. */
export class FlakyCluster {
  readonly #start: () => Promise<Started>;
  readonly #clients: KubeClient[] = [];
  #started: Started | undefined;
  #proxy: FlakyProxy | undefined;
  #access: ClusterAccess | undefined;
  #namespaces = 0;

  constructor(start: () => Promise<Started>) {
    this.#start = start;
  }

  async start(): Promise<void> {
    this.#started = await this.#start();
    this.#proxy = await FlakyProxy.to(this.#started.cluster.url);
    this.#access = await findAccess({ kubeconfig: this.#started.cluster.kubeconfigPath });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.#proxy?.close();
    await this.#started?.cluster.stop();
  }

  get proxy(): FlakyProxy {
    if (this.#proxy === undefined) throw new Error("the cluster did not start");
    return this.#proxy;
  }

  get #running(): Started {
    if (this.#started === undefined) throw new Error("the cluster did not start");
    return this.#started;
  }

  /** Untroubled by the proxy. */
  get direct(): KubeApi {
    return this.#running.cluster.api;
  }

  kubectl(...args: string[]): ReturnType<TestCluster["kubectl"]> {
    return this.#running.cluster.kubectl(...args);
  }

  forgetHistory(): Promise<void> {
    return this.#running.forgetHistory();
  }

  /** Runs `meanwhile` while the server is away. */
  async restart(meanwhile: () => Promise<void>): Promise<void> {
    this.proxy.refuse();
    await meanwhile();
    await this.#running.restart?.();
    this.proxy.restore();
  }

  /** The way in through the proxy. */
  access(): ClusterAccess {
    if (this.#access === undefined) throw new Error("the cluster did not start");
    return { ...this.#access, server: this.proxy.url };
  }

  /** A client through the proxy, and what it sends. */
  client(options: ClientOptions = {}, access = this.access()): { client: KubeClient; sent: RequestObservation[] } {
    const sent: RequestObservation[] = [];
    const client = createClient(access, { onRequest: (observation) => sent.push(observation), ...options });
    this.#clients.push(client);
    return { client, sent };
  }

  /** A namespace that no other test uses. */
  async newNamespace(): Promise<string> {
    this.#namespaces++;
    const name = `kube-${this.#namespaces}`;
    await this.direct.create(namespaces, undefined, { metadata: { name } });
    return name;
  }
}

export const flakyRealServer = (): FlakyCluster =>
  new FlakyCluster(async () => {
    const cluster = await localCluster();
    const restart = (): Promise<void> => cluster.restartApiServer(0);
    // What a real API server replays begins with its own start.
    return { cluster, restart, forgetHistory: restart };
  });

export const flakySandbox = (): FlakyCluster =>
  new FlakyCluster(async () => {
    const cluster = await sandboxCluster({ kubelet: "none" });
    return { cluster, forgetHistory: async () => cluster.sandbox.compact() };
  });
