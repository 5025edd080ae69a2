import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { namespaces } from "@jobferry/shared/kube/resources.ts";
import { type Clock, realClock } from "@jobferry/shared/runtime/clock.ts";
import { ApiServer } from "./api/server.ts";
import { Faults } from "./faults.ts";
import { Gateway } from "./gateway.ts";
import { GarbageCollector } from "./gc/garbage-collector.ts";
import { NamespaceController } from "./gc/namespaces.ts";
import { LocalClient } from "./local-client.ts";
import { Random } from "./random.ts";
import type { StoreLimits } from "./store/table.ts";

export interface SandboxOptions {
  name?: string;
  /** The real clock unless told. */
  clock?: Clock;
  /** Makes uids and generated names repeatable. */
  seed?: number;
  nodes?: { name?: string; cpu?: string; memory?: string; pods?: number }[];
  kubelet?: "process" | "virtual" | "none";
  limits?: Partial<StoreLimits>;
}

const INITIAL_NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** A Kubernetes cluster in this process. */
export class SandboxCluster {
  readonly name: string;
  readonly clock: Clock;
  readonly api: KubeApi;
  readonly faults = new Faults();
  readonly #server: ApiServer;
  readonly #gateway: Gateway;
  readonly #collector: GarbageCollector;
  readonly #namespaces: NamespaceController;

  constructor(options: SandboxOptions = {}) {
    this.name = options.name ?? "sandbox";
    this.clock = options.clock ?? realClock;
    const seed = options.seed ?? Date.now() ^ (process.pid << 16);
    this.#server = new ApiServer({ clock: this.clock, random: new Random(seed), limits: options.limits });
    this.#gateway = new Gateway(this.clock, this.faults);
    this.api = this.apiFor("test");
    const { store, registry } = this.#server;
    const { clock } = this;
    this.#collector = new GarbageCollector({ api: this.apiFor("garbage-collector"), store, registry, clock });
    this.#namespaces = new NamespaceController({
      api: this.apiFor("namespace-controller"),
      server: this.#server,
      clock,
    });
    const type = this.#server.type(namespaces);
    for (const name of INITIAL_NAMESPACES) this.#server.create(type, undefined, { metadata: { name } });
  }

  /** The API as one named client sees it, so that faults and observers can tell clients apart. */
  apiFor(client: string): KubeApi {
    return new LocalClient(client, { server: this.#server, gateway: this.#gateway, faults: this.faults });
  }

  async start(): Promise<void> {
    this.#collector.start();
    this.#namespaces.start();
  }

  /** Forgets all history, as etcd's compaction does: older watches and continue tokens get 410. */
  compact(): void {
    this.#server.compact();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#collector.stop(), this.#namespaces.stop()]);
    this.#server.close();
  }
}
