import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type RunningJobController, runJobController } from "@jobferry/worker-agent/job-controller/run.ts";

export interface FleetOptions {
  workers: number;
  /** The hub's port, the workers' follow; 0 takes free ones. */
  portBase: number;
  /** Where pods' commands are looked for. */
  path: string;
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

/** A hub and its workers in this process: each a cluster with an API over TLS, a node that runs pods, and our Job controller. */
export class EmbeddedFleet {
  readonly #options: FleetOptions;
  readonly #running: Running[] = [];

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  /** Starts all clusters at once; if one cannot be started, none stays. */
  async start(): Promise<void> {
    const names = ["hub", ...Array.from({ length: this.#options.workers }, (_, index) => `worker-${index + 1}`)];
    const outcomes = await Promise.allSettled(names.map((name, index) => this.#startCluster(name, index)));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed === undefined) return;
    await this.stop();
    throw failed.reason;
  }

  /** Ends the clusters and every process of their pods. */
  async stop(): Promise<void> {
    const running = this.#running.splice(0);
    await Promise.all(
      running.map(async ({ sandbox, jobs }) => {
        await jobs?.stop();
        await sandbox.stop();
      }),
    );
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
