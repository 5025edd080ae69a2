/**
 * Kubeconfigs, read by the Kubernetes project's own library, so that a new kind of login comes with a new version of it. What
 * kubectl does and the library does not is added here: several files at once, `tokenFile`, and impersonation beyond the user's name.
 */
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Cluster, Context, KubeConfig, User } from "@kubernetes/client-node";
import { parse } from "yaml";
import { z } from "zod";
import { ConfigError } from "../runtime/config-error.ts";

/** One context, and all that it needs. */
export interface Login {
  readonly cluster: Cluster;
  readonly user: User;
  readonly namespace: string;
  /** Sent beside what the library sends. */
  readonly headers: Readonly<Record<string, string | string[]>>;
}

interface Source {
  readonly text: string;
  /** What error messages call it. */
  readonly name: string;
  /** Relative paths in it start here. */
  readonly baseDir: string;
}

/** Reads kubeconfig files as kubectl does: of several, the first that names a thing wins. */
export async function readKubeconfigs(paths: readonly string[], context?: string): Promise<Login> {
  return chooseContext(paths.map(readSource), context);
}

function readSource(path: string): Source {
  try {
    return { text: readFileSync(path, "utf8"), name: `kubeconfig ${path}`, baseDir: dirname(resolve(path)) };
  } catch (cause) {
    throw new ConfigError(`kubeconfig ${path} cannot be read: give the path of one that can`, { cause });
  }
}

/** It takes a moment to load, so `--help` goes without it. */
export const newKubeConfig = async (): Promise<KubeConfig> =>
  new (await import("@kubernetes/client-node")).KubeConfig();

const ANONYMOUS: User = { name: "" };

async function chooseContext(sources: readonly Source[], wanted: string | undefined): Promise<Login> {
  const read = await Promise.all(sources.map(loadSource));
  const name = sources.map((source) => source.name).join(", ");
  const contextName = wanted ?? read.map(({ config }) => config.getCurrentContext()).find((current) => current);
  if (!contextName) throw new ConfigError(`${name} has no current-context: set one or name a context`);
  const context = first(read, ({ config }) => config.getContextObject(contextName));
  if (context === undefined) {
    const known = read.flatMap(({ config }) => config.getContexts().map((each: Context) => each.name));
    throw new ConfigError(
      `${name} has no context "${contextName}": choose one of ${known.slice(0, 20).join(", ") || "none"}`,
    );
  }
  const wants = (kind: string, missing: string): ConfigError =>
    new ConfigError(`${name}: context "${contextName}" wants ${kind} "${missing}", which is not there: add it`);
  const cluster = first(read, ({ config }) => config.getCluster(context.cluster));
  if (cluster === undefined) throw wants("cluster", context.cluster);
  const found = first(read, ({ config, headers }) => {
    const user = config.getUser(context.user);
    return user === null ? null : { user, headers: headers.get(user.name) ?? {} };
  });
  if (found === undefined && context.user) throw wants("user", context.user);
  checkAddress(name, cluster);
  return { cluster, namespace: context.namespace ?? "default", ...(found ?? { user: ANONYMOUS, headers: {} }) };
}

function first<S, T>(sources: readonly S[], find: (source: S) => T | null): T | undefined {
  for (const source of sources) {
    const found = find(source);
    if (found !== null) return found;
  }
  return undefined;
}

function checkAddress(name: string, { name: cluster, server, proxyUrl }: Cluster): void {
  const check = (field: string, url: string): void => {
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
      throw new ConfigError(
        `${name}: ${field} "${url}" of cluster "${cluster}" must be https://HOST:PORT or http://HOST:PORT`,
      );
  };
  check("the server", server);
  if (proxyUrl) check("the proxy-url", proxyUrl);
}

const userSchema = z.looseObject({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  "as-uid": z.string().optional(),
  "as-groups": z.array(z.string()).optional(),
  "as-user-extra": z.record(z.string(), z.array(z.string())).optional(),
  exec: z.looseObject({ command: z.string() }).nullish(),
});
const configSchema = z.looseObject({
  users: z.array(z.looseObject({ name: z.string(), user: userSchema.nullish() })).nullish(),
});
type ConfigUser = z.infer<typeof userSchema>;

interface LoadedSource {
  readonly config: KubeConfig;
  /** By the user's name. */
  readonly headers: ReadonlyMap<string, Login["headers"]>;
}

async function loadSource({ text, name, baseDir }: Source): Promise<LoadedSource> {
  const config = await newKubeConfig();
  const document = parseDocument(text, name);
  const users = (document.users ?? []).map((each) => ({ ...each, user: completed(each.user ?? {}, baseDir) }));
  try {
    config.loadFromString(JSON.stringify({ ...document, users }), { onInvalidEntry: "filter" });
  } catch (cause) {
    throw new ConfigError(`${name} is not a kubeconfig: ${firstLine(cause)}`, { cause });
  }
  config.makePathsAbsolute(baseDir);
  return { config, headers: new Map(users.map(({ name: userName, user }) => [userName, impersonation(user)])) };
}

function parseDocument(text: string, name: string): z.infer<typeof configSchema> {
  let data: unknown;
  try {
    data = parse(text);
  } catch (cause) {
    throw new ConfigError(`${name} is not YAML: ${firstLine(cause)}`, { cause });
  }
  const result = configSchema.safeParse(data);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new ConfigError(`${name}: ${issue?.path.join(".") || "the document"}: ${issue?.message ?? "not a kubeconfig"}`);
}

/** What the library would pass over, in words that it knows. */
function completed({ tokenFile, ...user }: ConfigUser, baseDir: string): ConfigUser {
  const absolute = (path: string): string => (isAbsolute(path) ? path : join(baseDir, path));
  if (tokenFile) {
    // The file wins over the token in place, as in client-go: it is the one that can be renewed.
    const { token: _, ...rest } = user;
    return { ...rest, "auth-provider": { name: "tokenFile", config: { tokenFile: absolute(tokenFile) } } };
  }
  const { exec } = user;
  // A plugin named with a path is found beside the kubeconfig; a bare name is looked up on PATH.
  return exec?.command.includes("/") ? { ...user, exec: { ...exec, command: absolute(exec.command) } } : user;
}

/** Leaving these out would act with other rights than the kubeconfig grants. The library knows `as` alone. */
function impersonation(user: ConfigUser): Login["headers"] {
  const headers: Record<string, string | string[]> = {};
  if (user["as-uid"] !== undefined) headers["impersonate-uid"] = user["as-uid"];
  if (user["as-groups"] !== undefined) headers["impersonate-group"] = user["as-groups"];
  for (const [name, values] of Object.entries(user["as-user-extra"] ?? {}))
    headers[`impersonate-extra-${encodeURIComponent(name.toLowerCase())}`] = values;
  return headers;
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
