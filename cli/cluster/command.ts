/** `jobferry cluster add/list/cordon/uncordon/drain/forget`: flags in, one call of actions.ts, text or JSON out. */
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { KubeClient } from "@jobferry/shared/kube/client.ts";
import { type ClusterName, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { clusterUser } from "@jobferry/shared/queue/acl.ts";
import { clusterPrefix } from "@jobferry/shared/queue/keys.ts";
import type { GivenConfig } from "@jobferry/shared/runtime/command.ts";
import { loadConfig } from "@jobferry/shared/runtime/config.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { stringify } from "yaml";
import { askHub } from "../hub/ask.ts";
import { table } from "../hub/table.ts";
import {
  addCluster,
  type ClusterRow,
  checkManagerKey,
  forgetCluster,
  listClusters,
  type Setting,
  setCluster,
} from "./actions.ts";
import type { Enrolment } from "./enrolment.ts";
import { addConfig, type ClusterVerb, clusterFlags, forgetConfig } from "./flags.ts";

export async function runCluster(
  verb: ClusterVerb,
  name: string | undefined,
  given: GivenConfig,
  print: (line: string) => void,
): Promise<void> {
  const config = loadConfig(clusterFlags[verb], given);
  const act = verb === "list" ? list : verb === "add" ? add(name, given) : change(verb, name, given);
  print(await askHub(config, given.env, (api) => act(api, config.output)));
}

/** What is left to do once the hub has answered; flags and names have been checked by then. */
type Action = (api: KubeClient, output: "text" | "json") => Promise<string>;

const list: Action = async (api, output) => show(await listClusters(api), output);

function change(verb: Exclude<ClusterVerb, "list" | "add">, name: string | undefined, given: GivenConfig): Action {
  const cluster = nameOf(name);
  if (verb !== "forget")
    return async (api, output) => show([await setCluster(api, cluster, verb satisfies Setting)], output);
  const { force } = loadConfig(forgetConfig, given);
  return async (api, output) => {
    const shown = show([await forgetCluster(api, cluster, force)], output);
    return output === "json" ? shown : `${shown}\n${leftOver(cluster)}`;
  };
}

/** What the hub cannot reach. */
const leftOver = (cluster: ClusterName): string =>
  [
    "",
    "What is left, for you to remove:",
    `  in Redis:       ACL DELUSER ${clusterUser(cluster)}, then ACL SAVE, and the keys that begin with ${clusterPrefix(cluster)}`,
    "  on the worker:  kubectl delete -k deploy/worker, then kubectl delete jobs -A -l jobferry.dev/hub-uid",
  ].join("\n");

function add(name: string | undefined, given: GivenConfig): Action {
  const { redisUrl, redisMode, redisSentinelMaster, redisCaFile, ...config } = loadConfig(addConfig, given);
  const { managerKey, labels, renew, file } = config;
  const cluster = nameOf(name);
  if (managerKey !== undefined) checked("--manager-key: ", () => checkManagerKey(managerKey));
  const flags = { redisUrl, redisMode, redisSentinelMaster, redisCaFile };
  const ca =
    redisCaFile === undefined ? undefined : checked("--redis-ca-file: ", () => readFileSync(redisCaFile, "utf8"));
  const redis = { url: redisUrl, mode: redisMode, sentinelMaster: redisSentinelMaster, ca };
  const options = { redis, managerKey, labels: labelsOf(labels), renew };
  return async (api, output) => {
    // What the agent would refuse is refused here.
    const { readRedisFlags } = await import("@jobferry/shared/queue/redis-flags.ts");
    readRedisFlags(flags);
    // The private key is nowhere else: make sure of its place before the hub knows the cluster.
    const secretFile = file === undefined ? undefined : createSecretFile(file);
    const enrolment = await addCluster(api, cluster, options).catch((error: unknown) => {
      secretFile?.remove();
      throw error;
    });
    const text = output === "json" ? jsonOf(cluster, enrolment) : manifestOf(enrolment);
    if (secretFile === undefined) return text;
    secretFile.write(text);
    if (output === "json") return JSON.stringify({ cluster, publicKey: enrolment.publicKey, file }, null, 2);
    return `cluster ${cluster} is enrolled; ${file} says what to do in Redis and on the worker`;
  };
}

const jsonOf = (cluster: string, { publicKey, secret, acl }: Enrolment): string =>
  JSON.stringify({ cluster, publicKey, secret, acl }, null, 2);

const manifestOf = ({ acl, secret }: Enrolment): string =>
  [
    `# 1. In Redis:  ${acl}`,
    "# 2. In Redis, so that it outlives a restart:  ACL SAVE",
    "# 3. On the worker cluster, apply deploy/worker and then this. It holds private keys: keep it secret, then delete it.",
    stringify(secret),
  ].join("\n");

interface SecretFile {
  write(text: string): void;
  remove(): void;
}

/** For its owner alone, and never one that was there before, whose readers we do not know. */
function createSecretFile(path: string): SecretFile {
  const descriptor = checked("--file: ", () => openSync(path, "wx", 0o600));
  return {
    write(text) {
      writeFileSync(descriptor, text);
      closeSync(descriptor);
    },
    remove() {
      closeSync(descriptor);
      rmSync(path, { force: true });
    },
  };
}

const nameOf = (text: string | undefined) => checked("", () => parseClusterName(text ?? ""));

function checked<T>(field: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new ConfigError(`${field}${(cause as Error).message}`, { cause });
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

const show = (rows: ClusterRow[], output: "text" | "json"): string =>
  output === "json" ? JSON.stringify(rows, null, 2) : textOf(rows);

function textOf(rows: readonly ClusterRow[]): string {
  if (rows.length === 0) return "there is no worker cluster yet; jobferry cluster add NAME makes one";
  const heads = COLUMNS.map((column) => column.replaceAll(/[A-Z]/g, "-$&").toUpperCase());
  return table(
    heads,
    rows.map((row) => COLUMNS.map((column) => String(row[column]))),
  );
}
