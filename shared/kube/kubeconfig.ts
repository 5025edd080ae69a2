import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ConfigError } from "../runtime/config-error.ts";

const clusterSchema = z.looseObject({
  server: z.url({ protocol: /^https?$/ }),
  "certificate-authority": z.string().optional(),
  "certificate-authority-data": z.base64().optional(),
  "insecure-skip-tls-verify": z.boolean().optional(),
  "tls-server-name": z.string().optional(),
  "proxy-url": z.url().optional(),
});

const userSchema = z.looseObject({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  "client-certificate": z.string().optional(),
  "client-certificate-data": z.base64().optional(),
  "client-key": z.string().optional(),
  "client-key-data": z.base64().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  as: z.string().optional(),
  "as-uid": z.string().optional(),
  "as-groups": z.array(z.string()).optional(),
  "as-user-extra": z.record(z.string(), z.array(z.string())).optional(),
  exec: z.looseObject({ command: z.string() }).optional(),
  "auth-provider": z.looseObject({ name: z.string() }).optional(),
});

const contextSchema = z.looseObject({
  cluster: z.string(),
  user: z.string().optional(),
  namespace: z.string().optional(),
});

const configSchema = z.looseObject({
  "current-context": z.string().optional(),
  clusters: z.array(z.looseObject({ name: z.string(), cluster: clusterSchema })).nullish(),
  users: z.array(z.looseObject({ name: z.string(), user: userSchema.nullish() })).nullish(),
  contexts: z.array(z.looseObject({ name: z.string(), context: contextSchema })).nullish(),
});

type KubeconfigCluster = z.infer<typeof clusterSchema>;
export type KubeconfigUser = z.infer<typeof userSchema>;

/** One context of a kubeconfig, with every file path absolute. */
export interface ChosenContext {
  context: string;
  namespace: string;
  cluster: KubeconfigCluster;
  user: KubeconfigUser;
}

interface Source {
  text: string;
  /** What error messages call it. */
  name: string;
  /** Relative paths in it start here. */
  baseDir: string;
}

const FILE_FIELDS = ["certificate-authority", "tokenFile", "client-certificate", "client-key"] as const;

/** Reads kubeconfig files as kubectl does: of several, the first that names a thing wins. */
export function readKubeconfigs(paths: readonly string[], context?: string): ChosenContext {
  const sources = paths.map((path) => {
    try {
      return { text: readFileSync(path, "utf8"), name: `kubeconfig ${path}`, baseDir: dirname(resolve(path)) };
    } catch (error) {
      throw new ConfigError(`kubeconfig ${path} cannot be read: give the path of one that can`, { cause: error });
    }
  });
  return chooseContext(sources, context);
}

export const parseKubeconfig = (text: string, options: { baseDir?: string; context?: string } = {}): ChosenContext =>
  chooseContext([{ text, name: "kubeconfig", baseDir: options.baseDir ?? "." }], options.context);

function chooseContext(sources: readonly Source[], wanted: string | undefined): ChosenContext {
  const configs = sources.map(parseSource);
  const name = sources.map((source) => source.name).join(", ");
  const context = wanted ?? configs.map((config) => config["current-context"]).find((current) => current);
  if (context === undefined) throw new ConfigError(`${name} has no current-context: set one or name a context`);
  const chosen = find(configs, "contexts", context)?.context;
  if (chosen === undefined) {
    const known = configs.flatMap((config) => (config.contexts ?? []).map((entry) => entry.name));
    throw new ConfigError(
      `${name} has no context "${context}": choose one of ${known.slice(0, 20).join(", ") || "none"}`,
    );
  }
  const cluster = find(configs, "clusters", chosen.cluster)?.cluster;
  if (cluster === undefined)
    throw new ConfigError(
      `${name}: context "${context}" wants cluster "${chosen.cluster}", which is not there: add it`,
    );
  const user = chosen.user === undefined ? {} : find(configs, "users", chosen.user)?.user;
  if (user === undefined || user === null)
    throw new ConfigError(`${name}: context "${context}" wants user "${chosen.user}", which is not there: add it`);
  return { context, namespace: chosen.namespace ?? "default", cluster, user };
}

type Config = z.infer<typeof configSchema>;

function find<K extends "clusters" | "users" | "contexts">(
  configs: readonly Config[],
  kind: K,
  name: string,
): NonNullable<Config[K]>[number] | undefined {
  for (const config of configs) {
    const entries: readonly NonNullable<Config[K]>[number][] = config[kind] ?? [];
    const entry = entries.find((candidate) => candidate.name === name);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

function parseSource({ text, name, baseDir }: Source): Config {
  let data: unknown;
  try {
    data = parse(text);
  } catch (error) {
    throw new ConfigError(`${name} is not YAML: ${firstLine(error)}`, { cause: error });
  }
  const result = configSchema.safeParse(data);
  if (!result.success) {
    const issue = result.error.issues[0];
    throw new ConfigError(
      `${name}: ${issue?.path.join(".") || "the document"}: ${issue?.message ?? "not a kubeconfig"}`,
    );
  }
  for (const { cluster } of result.data.clusters ?? []) absolute(cluster, baseDir);
  for (const { user } of result.data.users ?? []) if (user) absolute(user, baseDir);
  return result.data;
}

function absolute(entry: KubeconfigCluster | KubeconfigUser, baseDir: string): void {
  const paths: Record<string, unknown> = entry;
  for (const field of FILE_FIELDS) {
    const path = paths[field];
    if (typeof path === "string" && path !== "" && !isAbsolute(path)) paths[field] = join(baseDir, path);
  }
  // A plugin named with a path is found beside the kubeconfig; a bare name is looked up on PATH.
  const exec = paths.exec as { command: string } | undefined;
  if (exec?.command.includes("/") && !isAbsolute(exec.command)) exec.command = join(baseDir, exec.command);
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
