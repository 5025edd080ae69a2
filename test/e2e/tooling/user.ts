/** Somebody who has a namespace on the hub, rights there on what the tools touch, and has never heard of Jobferry. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { jobs, namespaces } from "@jobferry/shared/kube/resources.ts";
import { controlPlaneAssets } from "../../harness/real-cluster-options.ts";
import { type CommandResult, followCommand, runCommand } from "../../harness/run-command.ts";
import type { FleetNamespace } from "../dispatch/fleet-namespace.ts";
import type { RealFleet } from "../dispatch/real-fleet.ts";
import type { Command } from "./tools.ts";

const LIMIT_MS = 250_000;
/** Of a tool that is asked for one thing after the other. */
const SESSION_MS = 900_000;
const rules = [
  { apiGroups: ["batch"], resources: ["jobs", "cronjobs"], verbs: ["*"] },
  // Where Helm keeps its releases.
  { apiGroups: [""], resources: ["secrets"], verbs: ["*"] },
  { apiGroups: ["batch"], resources: ["jobs/status"], verbs: ["get"] },
  { apiGroups: [""], resources: ["pods/log", "events"], verbs: ["get", "list", "watch"] },
  // Airflow marks the pods that it has seen, and removes them.
  { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch", "patch", "delete"] },
];

export type ToolProcess = ChildProcessWithoutNullStreams;

export class User {
  readonly at: FleetNamespace;
  readonly #kubectl: Command;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(at: FleetNamespace, kubectl: string, kubeconfig: string) {
    this.at = at;
    this.#kubectl = { command: kubectl, args: [], env: {} };
    const helm = {
      HELM_CACHE_HOME: `${kubeconfig}.helm`,
      HELM_CONFIG_HOME: `${kubeconfig}.helm`,
      HELM_DATA_HOME: `${kubeconfig}.helm`,
    };
    this.#env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: `${kubeconfig}.cache`, ...helm };
  }

  /** In a new namespace whose Jobs are dispatched. */
  static async on(fleet: RealFleet, namespace: string): Promise<User> {
    const at = await fleet.namespace(namespace);
    const labels = { "jobferry.dev/dispatch": "enabled" };
    await fleet.hub.api.patch(namespaces, { name: namespace }, { type: "merge", body: { metadata: { labels } } });
    const kubeconfig = await fleet.hub.serviceAccount({ name: "user", namespace, rules });
    await at.until("the admission policy is in force", async () => {
      const probe = { metadata: { name: "probe" }, spec: jobManifest("").spec };
      return (await fleet.hub.api.create(jobs, namespace, probe, { dryRun: true })).spec.managedBy !== undefined;
    });
    return new User(at, join(await controlPlaneAssets(), "kubectl"), kubeconfig);
  }

  kubectl(...args: string[]): Promise<CommandResult> {
    return this.run(this.#kubectl, args);
  }

  /** Runs a tool to its end. */
  run(tool: Command, args: readonly string[], input = ""): Promise<CommandResult> {
    const env = { ...this.#env, ...tool.env };
    return runCommand(tool.command, [...tool.args, ...args], { env, input, timeoutMs: LIMIT_MS });
  }

  /** Starts a tool that ends when its input does, or after the limit. */
  start(tool: Command, args: readonly string[]): ToolProcess {
    const env = { ...this.#env, ...tool.env };
    const started = spawn(tool.command, [...tool.args, ...args], { env, timeout: SESSION_MS, killSignal: "SIGKILL" });
    started.stdin.on("error", () => {}); // it has ended: its output ends, too
    return started;
  }

  /** Runs it, and what it said, if it succeeded. */
  async ok(tool: Command, args: readonly string[], input = ""): Promise<string> {
    const { code, stdout, stderr } = await this.run(tool, args, input);
    if (code !== 0) throw new Error(`${tool.command} ${args.join(" ")}: exit code ${code}\n${stdout}${stderr}`);
    return stdout;
  }

  async create(manifest: object): Promise<void> {
    await this.ok(this.#kubectl, ["create", "-f", "-"], JSON.stringify(manifest));
  }

  /** Lines of a kubectl that never ends by itself, up to the first that matches; `onLine` hears each of them. */
  kubectlUntil(until: RegExp, args: readonly string[], onLine: (line: string) => void): Promise<string[]> {
    return followCommand(this.#kubectl.command, args, { env: this.#env, timeoutMs: LIMIT_MS, until, onLine });
  }
}

interface ManifestOptions {
  spec?: object;
  /** Annotations of the pods: how the stand-in kubelet of the workers runs them. */
  pod?: Record<string, string>;
}

/** A Job such as anybody writes. */
export const jobManifest = (name: string, { spec = {}, pod = {} }: ManifestOptions = {}) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name },
  spec: {
    ...spec,
    template: {
      metadata: { annotations: pod },
      spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "none" }] },
    },
  },
});

export const runsFor = (time: string) => ({ "instant-pods/run": time });
export const exitsWith = (code: number) => ({ "instant-pods/exit-code": String(code) });
