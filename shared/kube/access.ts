import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Clock, realClock } from "../runtime/clock.ts";
import { ConfigError } from "../runtime/config-error.ts";
import { type CredentialSource, LoginCredentials } from "./credentials.ts";
import { type Login, newKubeConfig, readKubeconfigs } from "./kubeconfig.ts";

/** Where an API server is, how to know it, and how it knows us. */
export interface ClusterAccess {
  /** Without a trailing slash. */
  server: string;
  /** The namespace commands act on when none is named. */
  namespace: string;
  tls: { ca?: string; servername?: string; rejectUnauthorized?: boolean };
  proxyUrl?: string;
  credentials: CredentialSource;
}

export interface AccessOptions {
  /** Path from a flag or the configuration; comes before everything else. */
  kubeconfig?: string | undefined;
  context?: string | undefined;
  /** `KUBECONFIG`, `HOME` and `KUBERNETES_SERVICE_HOST` are read from here. */
  env?: NodeJS.ProcessEnv;
  clock?: Clock;
}

const SERVICE_ACCOUNT_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/** The given kubeconfig, else `KUBECONFIG`, else the pod's service account, else `~/.kube/config`; else `ConfigError`. */
export async function findAccess(options: AccessOptions = {}): Promise<ClusterAccess> {
  const { kubeconfig, context, env = {}, clock = realClock } = options;
  const read = async (paths: readonly string[]): Promise<ClusterAccess> =>
    accessOf(await readKubeconfigs(paths, context), clock);
  if (kubeconfig !== undefined && kubeconfig !== "") return read([kubeconfig]);
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((path) => path !== "" && existsSync(path));
  if (listed.length > 0) return read(listed);
  if (env.KUBERNETES_SERVICE_HOST !== undefined && existsSync(SERVICE_ACCOUNT_TOKEN))
    return serviceAccountAccess({ clock });
  const home = join(env.HOME ?? "", ".kube", "config");
  if (existsSync(home)) return read([home]);
  throw new ConfigError(
    "no cluster to talk to: give --kubeconfig, set KUBECONFIG, or run in a pod with a service account",
  );
}

/** Where the library looks in a pod, below `root`; it takes the address from the process's environment. */
export async function serviceAccountAccess({
  root = "",
  clock,
}: {
  root?: string;
  clock: Clock;
}): Promise<ClusterAccess> {
  const config = await newKubeConfig();
  config.loadFromCluster(root);
  const [cluster, user, namespace] = [
    config.getCurrentCluster(),
    config.getCurrentUser(),
    config.getContexts()[0]?.namespace,
  ];
  if (cluster === null || user === null)
    throw new ConfigError("the pod's service account cannot be used: give --kubeconfig");
  return accessOf({ cluster, user, namespace: namespace?.trim() || "default", headers: {} }, clock);
}

function accessOf(login: Login, clock: Clock): ClusterAccess {
  const { cluster, namespace } = login;
  const { tlsServerName: servername, proxyUrl } = cluster;
  const ca = caOf(cluster);
  return {
    server: cluster.server.replace(/\/+$/, ""),
    namespace,
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(servername ? { servername } : {}),
      ...(cluster.skipTLSVerify ? { rejectUnauthorized: false } : {}),
    },
    ...(proxyUrl ? { proxyUrl } : {}),
    credentials: new LoginCredentials(login, clock),
  };
}

function caOf({ caData, caFile }: Login["cluster"]): string | undefined {
  if (caData) return Buffer.from(caData, "base64").toString("utf8");
  if (!caFile) return undefined;
  try {
    return readFileSync(caFile, "utf8");
  } catch (cause) {
    throw new ConfigError(`certificate-authority ${caFile} cannot be read: correct the path in the kubeconfig`, {
      cause,
    });
  }
}
