/** `jobferry cluster add/list/cordon/uncordon/drain/forget`: flags in, one call of cluster-actions.ts, text or JSON out. */
import { writeFileSync } from "node:fs";
import { createClient, type KubeClient } from "@jobferry/shared/kube/client.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { loadConfig } from "@jobferry/shared/runtime/config.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { stringify } from "yaml";
import {
  addCluster,
  type ClusterRow,
  checkManagerKey,
  forgetCluster,
  listClusters,
  type Setting,
  setCluster,
} from "./cluster-actions.ts";
import { addConfig, type ClusterVerb, clusterFlags, forgetConfig } from "./cluster-flags.ts";

export interface Surroundings {
  env: NodeJS.ProcessEnv;
  print(line: string): void;
}

export async function runCluster(
  verb: ClusterVerb,
  name: string | undefined,
  flags: Record<string, unknown>,
  { env, print }: Surroundings,
): Promise<void> {
  const { kubeconfig, context, output } = loadConfig(clusterFlags[verb], { flags, env });
  const api = createClient(
    { env, ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) },
    { userAgent: "jobferry-cli" },
  );
  try {
    const show = (rows: ClusterRow[]): void => print(output === "json" ? JSON.stringify(rows, null, 2) : table(rows));
    if (verb === "list") return show(await listClusters(api));
    if (verb === "add") return await add(api, name ?? "", flags, { env, print });
    const cluster = nameOf(name);
    if (verb !== "forget") return show([await setCluster(api, cluster, verb satisfies Setting)]);
    const { force } = loadConfig(forgetConfig, { flags, env });
    show([await forgetCluster(api, cluster, force)]);
  } catch (error) {
    if (error instanceof ApiError) throw new ConfigError(`${api.server}: ${error.message}`, { cause: error });
    throw error;
  } finally {
    await api.close();
  }
}

async function add(
  api: KubeClient,
  name: string,
  flags: Record<string, unknown>,
  { env, print }: Surroundings,
): Promise<void> {
  const config = loadConfig(addConfig, { flags, env });
  const cluster = nameOf(name);
  const managerKey =
    config.managerKey === undefined ? undefined : checked(() => checkManagerKey(config.managerKey ?? ""));
  const options = { redisUrl: config.redisUrl, managerKey, labels: labelsOf(config.labels), renew: config.renew };
  const { secret, acl, publicKey } = await addCluster(api, cluster, options);
  if (config.output === "json") return print(JSON.stringify({ cluster, publicKey, secret, acl }, null, 2));
  const manifest = [
    `# 1. In Redis:  ${acl}`,
    "# 2. On the worker cluster, apply this and then deploy/worker. It holds private keys: keep it secret, then delete it.",
    stringify(secret),
  ].join("\n");
  if (config.file === undefined) return print(manifest);
  writeFileSync(config.file, manifest, { mode: 0o600 });
  print(`cluster ${cluster} is enrolled; ${config.file} says what to do in Redis and on the worker`);
}

const nameOf = (text: string | undefined) => checked(() => parseClusterName(text ?? ""));

function checked<T>(parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new ConfigError((cause as Error).message, { cause });
  }
}

function labelsOf(text: string): Record<string, string> {
  const pairs = text.split(",").filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = "", value, ...rest] = pair.split("=");
      if (key === "" || value === undefined || rest.length > 0)
        throw new ConfigError(`--labels: ${JSON.stringify(pair)} is not key=value`);
      return [key, value];
    }),
  );
}

const COLUMNS = ["name", "connected", "ready", "cordoned", "draining", "jobs", "lastContact", "agent"] as const;

function table(rows: readonly ClusterRow[]): string {
  if (rows.length === 0) return "there is no worker cluster yet; jobferry cluster add NAME makes one";
  const heads = COLUMNS.map((column) => column.replaceAll(/[A-Z]/g, "-$&").toUpperCase());
  const lines = [heads, ...rows.map((row) => COLUMNS.map((column) => String(row[column])))];
  const widths = COLUMNS.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
