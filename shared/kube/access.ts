import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Clock, realClock } from "../runtime/clock.ts";
import { ConfigError } from "../runtime/config-error.ts";
import { type CredentialSource, PlainCredentialSource, WatchedFile } from "./credentials.ts";
import { type ChosenContext, type KubeconfigUser, parseKubeconfig, readKubeconfigs } from "./kubeconfig.ts";
import { PluginCredentialSource } from "./plugin-credentials.ts";

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
  kubeconfig?: string;
  context?: string;
  /** `KUBECONFIG`, `HOME` and the in-cluster variables are read from here. */
  env?: NodeJS.ProcessEnv;
  clock?: Clock;
}

const SERVICE_ACCOUNT_DIR = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The given kubeconfig, else `KUBECONFIG`, else the pod's service account, else `~/.kube/config`. */
export function findAccess(options: AccessOptions = {}): ClusterAccess {
  const { kubeconfig, context, env = {}, clock = realClock } = options;
  if (kubeconfig !== undefined && kubeconfig !== "") return fromContext(readKubeconfigs([kubeconfig], context), clock);
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((path) => path !== "" && existsSync(path));
  if (listed.length > 0) return fromContext(readKubeconfigs(listed, context), clock);
  if (env.KUBERNETES_SERVICE_HOST !== undefined && existsSync(join(SERVICE_ACCOUNT_DIR, "token")))
    return serviceAccountAccess({ env, clock });
  const home = join(env.HOME ?? "", ".kube", "config");
  if (existsSync(home)) return fromContext(readKubeconfigs([home], context), clock);
  throw new ConfigError(
    "no cluster to talk to: give --kubeconfig, set KUBECONFIG, or run in a pod with a service account",
  );
}

/** The kubeconfig as text. */
export const kubeconfigAccess = (
  text: string,
  options: { baseDir?: string; context?: string; clock?: Clock } = {},
): ClusterAccess => fromContext(parseKubeconfig(text, options), options.clock ?? realClock);

export function serviceAccountAccess(options: { env: NodeJS.ProcessEnv; dir?: string; clock?: Clock }): ClusterAccess {
  const { env, dir = SERVICE_ACCOUNT_DIR, clock = realClock } = options;
  const host = env.KUBERNETES_SERVICE_HOST ?? "";
  const port = env.KUBERNETES_SERVICE_PORT ?? "443";
  const namespaceFile = join(dir, "namespace");
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: existsSync(namespaceFile) ? readFileSync(namespaceFile, "utf8").trim() : "default",
    tls: { ca: readFileSync(join(dir, "ca.crt"), "utf8") },
    credentials: new PlainCredentialSource({ token: new WatchedFile(join(dir, "token"), clock) }),
  };
}

function fromContext(chosen: ChosenContext, clock: Clock): ClusterAccess {
  const { cluster, namespace } = chosen;
  const ca = decoded(cluster["certificate-authority-data"]) ?? readCa(cluster["certificate-authority"]);
  const servername = cluster["tls-server-name"];
  const proxyUrl = cluster["proxy-url"];
  return {
    server: cluster.server.replace(/\/+$/, ""),
    namespace,
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(servername === undefined ? {} : { servername }),
      ...(cluster["insecure-skip-tls-verify"] === true ? { rejectUnauthorized: false } : {}),
    },
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    credentials: credentialsOf(chosen, clock),
  };
}

function credentialsOf({ context, cluster, user }: ChosenContext, clock: Clock): CredentialSource {
  const headers = impersonation(user);
  if (user.exec !== undefined || user["auth-provider"] !== undefined) {
    const single = {
      "current-context": context,
      clusters: [{ name: "cluster", cluster }],
      users: [{ name: "user", user }],
      contexts: [{ name: context, context: { cluster: "cluster", user: "user" } }],
    };
    return new PluginCredentialSource(JSON.stringify(single), clock, headers);
  }
  const file = (path: string | undefined): WatchedFile | undefined => (path ? new WatchedFile(path, clock) : undefined);
  // The file wins over the value in place, as in client-go: it is the one that can be renewed.
  const token = file(user.tokenFile) ?? user.token;
  const cert = decoded(user["client-certificate-data"]) ?? file(user["client-certificate"]);
  const key = decoded(user["client-key-data"]) ?? file(user["client-key"]);
  return new PlainCredentialSource({
    headers,
    ...(token === undefined ? {} : { token }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(user.username === undefined ? {} : { basic: { username: user.username, password: user.password ?? "" } }),
  });
}

/** Leaving these out would act with more rights than the kubeconfig grants. */
function impersonation(user: KubeconfigUser): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  if (user.as !== undefined) headers["impersonate-user"] = user.as;
  if (user["as-uid"] !== undefined) headers["impersonate-uid"] = user["as-uid"];
  if (user["as-groups"] !== undefined) headers["impersonate-group"] = user["as-groups"];
  for (const [name, values] of Object.entries(user["as-user-extra"] ?? {}))
    headers[`impersonate-extra-${encodeURIComponent(name.toLowerCase())}`] = values;
  return headers;
}

const decoded = (base64: string | undefined): string | undefined =>
  base64 ? Buffer.from(base64, "base64").toString("utf8") : undefined;

function readCa(path: string | undefined): string | undefined {
  if (!path) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(`certificate-authority ${path} cannot be read: correct the path in the kubeconfig`, {
      cause: error,
    });
  }
}
