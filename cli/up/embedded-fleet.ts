import type { KubeletAddress } from "@jobferry/manager/pods/node.ts";
import { openLogDesk } from "@jobferry/manager/readings/log-desk.ts";
import { startLogService } from "@jobferry/manager/readings/log-service.ts";
import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { KUBELET_CLIENT } from "@jobferry/sandbox/http/kubelet-logs.ts";
import { KUBERNETES_VERSION } from "@jobferry/sandbox/version.ts";
import { LOG_SERVICE } from "@jobferry/shared/api/log-readings.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import type { Bus } from "@jobferry/shared/queue/bus.ts";
import type { Lanes } from "@jobferry/shared/queue/lanes.ts";
import { MemoryLanes } from "@jobferry/shared/queue/memory-lanes.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type RunningJobController, runJobController } from "@jobferry/worker-agent/job-controller/run.ts";
import { LocalFleet } from "../local-fleet.ts";
import { installEmbeddedHub } from "./install.ts";

const LOOPBACK = "127.0.0.1";

export interface EmbeddedFleetOptions {
  workers: number;
  /** The hub's port, the workers' follow; 0 takes free ones. */
  portBase: number;
  /** Where pods' commands are looked for. */
  path: string;
  bus: Bus;
  /** How long a worker may be silent before its Jobs move; the resource's default unless given. */
  lostAfter?: string | undefined;
  logger: Logger;
  /** A cluster answers. */
  onReady(cluster: EmbeddedCluster): void;
}

interface EmbeddedCluster {
  readonly name: string;
  readonly role: "hub" | "worker";
  readonly url: string;
  /** YAML */
  readonly kubeconfig: string;
  readonly startedInMs: number;
}

interface Running {
  sandbox: SandboxCluster;
  jobs: RunningJobController | undefined;
}

/**
 * A hub and its workers in this process: each a cluster with an API over TLS, a node that runs pods, and our Job controller for
 * Jobs that nobody else manages. A manager and an agent per worker run those of the hub that ask for it.
 */
export class EmbeddedFleet {
  readonly #options: EmbeddedFleetOptions;
  readonly #running: Running[] = [];
  #fleet: LocalFleet | undefined;
  #logs: { close(): Promise<void> } | undefined;

  constructor(options: EmbeddedFleetOptions) {
    this.#options = options;
  }

  /** The hub's API for one named client. */
  hub(client: string): KubeApi {
    const [hub] = this.#running;
    if (hub === undefined) throw new Error("the fleet does not run");
    return hub.sandbox.apiFor(client);
  }

  /** Starts all clusters at once; if anything cannot be started, nothing stays. */
  async start(): Promise<void> {
    const names = ["hub", ...Array.from({ length: this.#options.workers }, (_, index) => `worker-${index + 1}`)];
    const outcomes = await Promise.allSettled(names.map((name, index) => this.#startCluster(name, index)));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    try {
      if (failed !== undefined) throw failed.reason;
      await this.#startFleet();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Takes up contact with the hub again. */
  startAgent(worker: string): void {
    this.#fleet?.startAgent(worker);
  }

  /** Cuts a worker off: its pods go on, but nobody counts them or hears of them. */
  async stopAgent(worker: string): Promise<void> {
    await this.#fleet?.stopAgent(worker);
  }

  /** Ends the clusters and every process of their pods. */
  async stop(): Promise<void> {
    await this.#fleet?.stop();
    this.#fleet = undefined;
    await this.#logs?.close();
    this.#logs = undefined;
    const running = this.#running.splice(0);
    await Promise.all(
      running.map(async ({ sandbox, jobs }) => {
        await jobs?.stop();
        await sandbox.stop();
      }),
    );
  }

  async #startFleet(): Promise<void> {
    const { bus, lostAfter, logger } = this.#options;
    const hub = this.hub("manager");
    await installEmbeddedHub(hub);
    const workers = this.#running.slice(1).map(({ sandbox }) => {
      const worker = { api: sandbox.apiFor("agent"), version: KUBERNETES_VERSION, logs: sandbox.podLogs() };
      return [sandbox.name, worker] as const;
    });
    const lanes = new MemoryLanes();
    const kubelet = await this.#startLogs(hub, lanes);
    const options = {
      hub: { api: hub, version: KUBERNETES_VERSION },
      workers: new Map(workers),
      bus,
      lostAfter,
      logger,
      kubelet,
      lanes,
    };
    this.#fleet = new LocalFleet(options);
    await this.#fleet.start();
  }

  /** Where the hub's API server reads logs of pods on workers, and `jobferry logs` asks by the Service that deploy/hub has. */
  async #startLogs(api: KubeApi, lanes: Lanes): Promise<KubeletAddress> {
    const hub = this.#running[0]?.sandbox;
    const { logger } = this.#options;
    const isAllowed = async ({ user }: { user: string }): Promise<boolean> => user === KUBELET_CLIENT;
    const manager = () => this.#fleet?.manager;
    const desk = openLogDesk({ api, clock: realClock, logger, manager, isAllowed });
    const clientCa = (await hub?.kubeletClient())?.cert ?? "";
    const address = { host: LOOPBACK, port: 0 };
    const service = await startLogService({
      ...{ questions: desk, lanes, logger, endpoint: address, kubelet: { ...address, clientCa } },
    });
    this.#logs = {
      close: async () => {
        desk.close();
        await service.close();
      },
    };
    const { namespace, name } = LOG_SERVICE;
    hub?.exposeService(namespace, name, { host: LOOPBACK, port: service.endpointPort ?? 0 });
    return { address: LOOPBACK, port: service.kubeletPort ?? 0 };
  }

  async #startCluster(name: string, index: number): Promise<void> {
    const { path, portBase, onReady } = this.#options;
    const began = performance.now();
    const logger = this.#options.logger.child({ cluster: name });
    const sandbox = new SandboxCluster({ name, kubelet: "process", path, logger });
    const running: Running = { sandbox, jobs: undefined };
    this.#running.push(running);
    await sandbox.start();
    const { url, kubeconfig } = await this.#serve(sandbox, portBase === 0 ? 0 : portBase + index);
    const api = sandbox.apiFor("job-controller");
    running.jobs = runJobController({ api, clock: realClock, claim: "unmanaged", logger });
    await running.jobs.started;
    const role = index === 0 ? "hub" : "worker";
    onReady({ name, role, url, kubeconfig, startedInMs: Math.round(performance.now() - began) });
  }

  async #serve(sandbox: SandboxCluster, port: number): Promise<{ url: string; kubeconfig: string }> {
    try {
      return await sandbox.serve({ port });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
      const why = code === "EACCES" ? "may not be used by this user" : "is in use";
      throw new ConfigError(`--port-base: port ${port} ${why}: choose another, or leave it out to take free ones`);
    }
  }
}
