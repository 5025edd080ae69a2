import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { namespaces } from "@jobferry/shared/kube/resources.ts";
import type { TestCluster } from "../harness/test-cluster.ts";

/** The cluster under test, once it has started. */
export class Subject {
  readonly kind: TestCluster["kind"];
  #cluster: TestCluster | undefined;
  #namespaces = 0;

  constructor(kind: TestCluster["kind"]) {
    this.kind = kind;
  }

  async start(start: () => Promise<TestCluster>): Promise<void> {
    this.#cluster = await start();
  }

  async stop(): Promise<void> {
    await this.#cluster?.stop();
  }

  get cluster(): TestCluster {
    if (this.#cluster === undefined) throw new Error("the cluster did not start");
    return this.#cluster;
  }

  get api(): KubeApi {
    return this.cluster.api;
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
