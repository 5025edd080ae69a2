/** The clusters that `jobferry up --hub ... --worker ...` is given: reached, told apart, and asked what we may do there. */
import { type ClusterAccess, findAccess } from "@jobferry/shared/kube/access.ts";
import { createClient, type KubeClient } from "@jobferry/shared/kube/client.ts";
import { namespaces } from "@jobferry/shared/kube/resources.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";

/** Answers come at once or not at all; nobody should stare at a silent terminal for half a minute. */
const ANSWER_MS = 8_000;
const OLDEST = { major: 1, minor: 32 };
/** Of the copies' namespaces where the hub is its own worker: they must not stand beside the originals. */
export const OWN_WORKER_PREFIX = "ferry-";

/** What `--hub` and `--worker` say. */
export interface ClusterFlag {
  /** For messages: `--hub`, or `--worker east`. */
  readonly flag: string;
  readonly name: string;
  readonly kubeconfig: string;
  readonly context: string | undefined;
}

export interface ReachedCluster {
  readonly flag: string;
  readonly name: string;
  readonly api: KubeClient;
  /** Such as `v1.36.3`. */
  readonly version: string;
  /** UID of its kube-system namespace: no two clusters share it. */
  readonly identity: string;
}

export interface ReachedClusters {
  readonly hub: ReachedCluster;
  readonly workers: readonly ReachedCluster[];
  close(): Promise<void>;
}

export function parseClusterFlags(hub: string, workers: readonly string[]): [ClusterFlag, ...ClusterFlag[]] {
  const parsed = workers.map((text) => {
    const [name = "", ...path] = text.split("=");
    if (path.length === 0)
      throw new ConfigError(`--worker: ${JSON.stringify(text)} must be NAME=KUBECONFIG, such as east=east.yaml`);
    return fileOf(`--worker ${checkedName(name)}`, name, path.join("="));
  });
  const names = parsed.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new ConfigError(`--worker: ${twice} is given twice; each worker needs its own name`);
  return [fileOf("--hub", "hub", hub), ...parsed];
}

function checkedName(name: string): string {
  try {
    return parseClusterName(name);
  } catch (cause) {
    throw new ConfigError(`--worker: ${(cause as Error).message}`, { cause });
  }
}

/** `KUBECONFIG` or `KUBECONFIG#CONTEXT`. */
function fileOf(flag: string, name: string, text: string): ClusterFlag {
  const [, kubeconfig = "", context] = /^([^#]*)(?:#(.*))?$/s.exec(text) ?? [];
  if (kubeconfig === "") throw new ConfigError(`${flag}: the path of a kubeconfig is missing`);
  return { flag, name, kubeconfig, context: context === "" ? undefined : context };
}

/** Reaches all of them or none. */
export async function reachClusters(flags: [ClusterFlag, ...ClusterFlag[]]): Promise<ReachedClusters> {
  const clients: KubeClient[] = [];
  const close = async (): Promise<void> => void (await Promise.all(clients.map((client) => client.close())));
  try {
    // All kubeconfigs are read before the first cluster is asked.
    const found = [];
    for (const flag of flags) found.push({ flag, access: await accessOf(flag) });
    const reached = await Promise.all(
      found.map(({ flag, access }) => {
        const client = createClient(access, { userAgent: "jobferry-up" });
        clients.push(client);
        return reach(flag, client);
      }),
    );
    const [hub, ...workers] = reached as [ReachedCluster, ...ReachedCluster[]];
    checkDistinct(workers);
    return { hub, workers, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function accessOf({ flag, kubeconfig, context }: ClusterFlag): Promise<ClusterAccess> {
  try {
    return await findAccess({ kubeconfig, context });
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    throw new ConfigError(`${flag}: ${cause.message}`, { cause });
  }
}

async function reach({ flag, name, kubeconfig }: ClusterFlag, api: KubeClient): Promise<ReachedCluster> {
  const why = (error: unknown): string => (error instanceof Error ? error.message : String(error));
  const version = await inTime(api.serverVersion()).catch((cause: unknown) => {
    const fix = `check that the cluster runs and that ${kubeconfig} has its address and a valid login`;
    throw new ConfigError(`${flag}: ${api.server} does not answer as an API server (${why(cause)}); ${fix}`, { cause });
  });
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) === OLDEST.major && Number(minor) < OLDEST.minor) {
    const oldest = `${OLDEST.major}.${OLDEST.minor}`;
    throw new ConfigError(`${flag}: ${api.server} runs Kubernetes ${version}; Jobferry needs ${oldest} or later`);
  }
  const system = await inTime(api.get(namespaces, { name: "kube-system" })).catch((cause: unknown) => {
    const fix = "use a kubeconfig that may get namespaces";
    throw new ConfigError(`${flag}: the namespace kube-system cannot be read (${why(cause)}); ${fix}`, { cause });
  });
  return { flag, name, api, version, identity: system.metadata.uid ?? "" };
}

function checkDistinct(workers: readonly ReachedCluster[]): void {
  const seen = new Map<string, ReachedCluster>();
  for (const worker of workers) {
    const other = seen.get(worker.identity);
    if (other !== undefined)
      throw new ConfigError(`${other.flag} and ${worker.flag} are the same cluster: leave one of them out`);
    seen.set(worker.identity, worker);
  }
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${ANSWER_MS / 1000} s`)), ANSWER_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
