import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { type GuardedProcess, startGuarded } from "../harness/guarded-process.ts";
import type { LocalCluster } from "../harness/real-cluster.ts";
import { pause } from "./side.ts";

export const OURS = "differential.jobferry.dev/agent";

/** The four controllers a Job's life needs; the node controllers would miss the kubelet's heartbeats. */
const NEIGHBOURS = [
  "job-controller",
  "garbage-collector-controller",
  "pod-garbage-collector-controller",
  "namespace-controller",
];

/** Both sides' controllers on one API server: the built-in one skips what `managedBy` gives to ours (CL-1). */
export class Controllers {
  readonly #cluster: LocalCluster;
  readonly #withOurs: boolean;
  #running: GuardedProcess[] = [];
  #canaries = 0;

  constructor(cluster: LocalCluster, withOurs: boolean) {
    this.#cluster = cluster;
    this.#withOurs = withOurs;
  }

  async start(): Promise<void> {
    this.#running = [this.#startBuiltIn(), ...(this.#withOurs ? [this.#startOurs()] : [])];
    await Promise.all([this.#canary(undefined), ...(this.#withOurs ? [this.#canary(OURS)] : [])]);
  }

  async stop(): Promise<void> {
    for (const process of this.#running) process.kill("SIGKILL");
    await Promise.all(this.#running.map(({ ended }) => ended));
    this.#running = [];
  }

  #startBuiltIn(): GuardedProcess {
    return this.#cluster.controlPlane.run("kube-controller-manager", [
      "--kubeconfig=kubeconfig",
      "--secure-port=0",
      "--leader-elect=false",
      "--service-account-private-key-file=sa.key",
      `--controllers=${NEIGHBOURS.join(",")}`,
      "--kube-api-qps=1000",
      "--kube-api-burst=2000",
      "--concurrent-job-syncs=20",
    ]);
  }

  #startOurs(): GuardedProcess {
    const main = fileURLToPath(new URL("../../worker-agent/main.ts", import.meta.url));
    return startGuarded({
      name: "jobferry-agent",
      command: process.execPath,
      args: [
        ...[main, "jobs", "--kubeconfig", this.#cluster.kubeconfigPath, "--managed-by", OURS, "--metrics-port", "0"],
        // The events of all cases are compared.
        ...["--event-qps", "10000", "--event-burst", "10000"],
      ],
      logFile: join(this.#cluster.controlPlane.directory, "jobferry-agent.log"),
    });
  }

  /** A Job of no pods completes as soon as its controller works (M-12). */
  async #canary(managedBy: string | undefined): Promise<void> {
    const { api } = this.#cluster;
    const name = `canary-${++this.#canaries}`;
    await api.create<Job>(jobs, "default", {
      metadata: { name },
      spec: {
        completions: 0,
        template: { spec: { restartPolicy: "Never", containers: [{ name: "none", image: "example.test/none" }] } },
        ...(managedBy === undefined ? {} : { managedBy }),
      },
    });
    const deadline = performance.now() + 60_000;
    while (!isFinished(await api.get(jobs, { namespace: "default", name }))) {
      if (performance.now() > deadline) throw new Error(await this.#whyDead(managedBy));
      await pause(100);
    }
  }

  async #whyDead(managedBy: string | undefined): Promise<string> {
    const logs = await Promise.all(
      this.#running.map(async (process) => `${process.name}:\n${(await process.log()).slice(-2_000)}`),
    );
    return `no controller completed an empty Job managed by ${managedBy ?? "the built-in controller"}\n${logs.join("\n")}`;
  }
}
