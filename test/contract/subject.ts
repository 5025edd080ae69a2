import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { namespaces } from "@jobferry/shared/kube/resources.ts";
import type { TestCluster } from "../harness/test-cluster.ts";

interface SubjectOptions {
  kind: TestCluster["kind"];
  /** In-process subjects have no wire to look at. */
  speaksHttp: boolean;
  start(): Promise<{ cluster: TestCluster; api?: KubeApi; forgetHistory?(): void | Promise<void> }>;
}

/** The cluster under test, once it has started. */
export class Subject {
  readonly kind: TestCluster["kind"];
  readonly speaksHttp: boolean;
  readonly #options: SubjectOptions;
  #started: Awaited<ReturnType<SubjectOptions["start"]>> | undefined;
  #namespaces = 0;

  constructor(options: SubjectOptions) {
    this.kind = options.kind;
    this.speaksHttp = options.speaksHttp;
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#started = await this.#options.start();
  }

  async stop(): Promise<void> {
    await this.#started?.cluster.stop();
  }

  get #running() {
    if (this.#started === undefined) throw new Error("the cluster did not start");
    return this.#started;
  }

  get cluster(): TestCluster {
    return this.#running.cluster;
  }

  get api(): KubeApi {
    return this.#running.api ?? this.cluster.api;
  }

  /** Makes version 1 too old to watch from. */
  async forgetHistory(): Promise<void> {
    await this.#running.forgetHistory?.();
  }

  async createNamespace(name: string): Promise<string> {
    await this.api.create(namespaces, undefined, { metadata: { name } });
    return name;
  }

  /** A namespace that no other test uses. */
  newNamespace(): Promise<string> {
    this.#namespaces++;
    return this.createNamespace(`contract-${this.#namespaces}`);
  }
}
