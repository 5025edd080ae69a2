/** The two controllers, as the processes they are in production. Only one of them runs at a time. */
import { join } from "node:path";
import { type GuardedProcess, startGuarded } from "@jobferry/test/harness/guarded-process.ts";
import type { LocalCluster } from "@jobferry/test/harness/real-cluster.ts";
import type { ContenderName } from "./figures.ts";

/** The same limits for both. */
const QPS = 1_000;
const SYNCS = 10;

export type Contender = (cluster: LocalCluster) => GuardedProcess;

/** kube-controller-manager with the Job controller and nothing else, so that CPU time and writes are its own. */
const builtIn: Contender = ({ controlPlane }) =>
  controlPlane.run("kube-controller-manager", [
    "--kubeconfig=kubeconfig",
    "--secure-port=0",
    "--leader-elect=false",
    "--controllers=job-controller",
    `--kube-api-qps=${QPS}`,
    `--kube-api-burst=${QPS}`,
    `--concurrent-job-syncs=${SYNCS}`,
  ]);

const agentMain = join(import.meta.dirname, "../../worker-agent/main.ts");

const jobferry =
  (nodeArgs: readonly string[]): Contender =>
  ({ controlPlane, kubeconfigPath }) =>
    startGuarded({
      name: "jobferry-agent",
      command: process.execPath,
      args: [
        ...nodeArgs,
        ...[agentMain, "jobs", "--unmanaged", "--kubeconfig", kubeconfigPath, "--metrics-port", "0"],
        ...["--qps", String(QPS), "--burst", String(QPS), "--workers", String(SYNCS)],
      ],
      logFile: join(controlPlane.directory, "jobferry-agent.log"),
    });

export const contenders: Readonly<Record<ContenderName, Contender>> = {
  "built-in": builtIn,
  jobferry: jobferry([]),
};

/** Ours, writing a CPU profile into `directory` when it is stopped. */
export const profiledJobferry = (directory: string): Contender =>
  jobferry(["--cpu-prof", "--cpu-prof-interval=500", `--cpu-prof-dir=${directory}`]);
