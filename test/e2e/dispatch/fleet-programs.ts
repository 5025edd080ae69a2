/** The manager and the agents of a fleet as processes, each with its own rights on its cluster and in Redis. */
import { join } from "node:path";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { clusterUser, MANAGER_USER } from "@jobferry/shared/queue/acl.ts";
import { type GuardedProcess, startGuarded } from "../../harness/guarded-process.ts";

const root = join(import.meta.dirname, "../../..");
const MANAGER = "manager";

/** The files of a manager and an agent. */
export interface Build {
  readonly manager: string;
  readonly agent: string;
}

export const thisBuild: Build = { manager: join(root, "manager/main.ts"), agent: join(root, "worker-agent/main.ts") };

export interface FleetProgramsOptions {
  /** Holds NAME.pem and NAME.password of each of them, and gets their logs. */
  folder: string;
  /** As this program reaches it. */
  redisUrl(program: string): string;
  /** What a program acts with, made of what was installed for it; unchanged unless given. */
  kubeconfig?: ((program: string, path: string) => string) | undefined;
  namespacePrefix: string;
  managerFlags: readonly string[];
  agentFlags(cluster: string): readonly string[];
  logLevel: "debug" | "info";
  /** What the first manager and agents run; this version unless given. */
  build?: Build | undefined;
}

interface Program {
  name: string;
  args: readonly string[];
  kubeconfig: string | undefined;
  user: string;
  passwordFile: string;
}

export class FleetPrograms {
  readonly #options: FleetProgramsOptions;
  readonly #processes = new Map<string, GuardedProcess>();
  /** What each of them acts with on its cluster, by name; all managers share one. */
  readonly kubeconfigs = new Map<string, string>();
  /** What is started from now on. */
  build: Build;

  constructor(options: FleetProgramsOptions) {
    this.#options = options;
    this.build = options.build ?? thisBuild;
  }

  startManager(name: string, nodeFlags: readonly string[]): GuardedProcess {
    return this.#run({
      name,
      args: [
        ...nodeFlags,
        this.build.manager,
        ...["--key-file", this.#path(`${MANAGER}.pem`)],
        ...this.#options.managerFlags,
      ],
      kubeconfig: this.kubeconfigs.get(MANAGER),
      user: MANAGER_USER,
      passwordFile: this.#path(`${MANAGER}.password`),
    });
  }

  /** `as`: what the process is called, when it is not the cluster's only one. */
  startAgent(name: string, nodeFlags: readonly string[], managerKey: string, as = name): GuardedProcess {
    return this.#run({
      name: as,
      args: [
        ...nodeFlags,
        this.build.agent,
        ...["start", "--cluster", name, "--key-file", this.#path(`${name}.pem`)],
        ...["--manager-key", managerKey, "--retention-seconds", "2"],
        ...["--namespace-prefix", this.#options.namespacePrefix, "--namespaces", "*"],
        ...this.#options.agentFlags(name),
      ],
      kubeconfig: this.kubeconfigs.get(name),
      user: clusterUser(parseClusterName(name)),
      passwordFile: this.#path(`${name}.password`),
    });
  }

  #run({ name, args, kubeconfig, user, passwordFile }: Program): GuardedProcess {
    const url = new URL(this.#options.redisUrl(name));
    const { kubeconfig: change = (_: string, path: string) => path } = this.#options;
    url.username = user;
    const started = startGuarded({
      name,
      command: process.execPath,
      args: [...args, "--metrics-port", "0", "--log-level", this.#options.logLevel],
      logFile: this.#path(`${name}.log`),
      env: {
        ...process.env,
        JOBFERRY_KUBECONFIG: kubeconfig === undefined ? undefined : change(name, kubeconfig),
        // As a container that is restarted in its pod.
        JOBFERRY_IDENTITY: name,
        JOBFERRY_REDIS_URL: url.href,
        JOBFERRY_REDIS_PASSWORD_FILE: passwordFile,
      },
    });
    this.#processes.set(name, started);
    return started;
  }

  get(name: string): GuardedProcess {
    const found = this.#processes.get(name);
    if (found === undefined) throw new Error(`${name} has not been started`);
    return found;
  }

  /** The end of every log. */
  async logs(): Promise<string> {
    const logs = [...this.#processes].map(async ([name, each]) => `--- ${name}\n${(await each.log()).slice(-3000)}`);
    return (await Promise.all(logs)).join("\n");
  }

  async stop(graceMs: number): Promise<void> {
    await Promise.all([...this.#processes.values()].map((each) => each.stop(graceMs)));
  }

  #path(name: string): string {
    return join(this.#options.folder, name);
  }
}
