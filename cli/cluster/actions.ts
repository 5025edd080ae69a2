/** What `jobferry cluster ...` does on the hub. */

import { type WorkerCluster, workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { secrets } from "@jobferry/shared/kube/resources.ts";
import { parseOwnKeys, parsePublicKey } from "@jobferry/shared/protocol/keys.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { type Enrolment, enrol, type RedisPlace } from "./enrolment.ts";

const MANAGER_SECRET = { namespace: "jobferry-system", name: "jobferry-manager" };

export interface AddOptions {
  redis: RedisPlace;
  /** Else it is read from the manager's Secret. */
  managerKey?: string | undefined;
  labels: Readonly<Record<string, string>>;
  /** The cluster is enrolled already: new keys, and whatever cluster comes next under this name is the one. */
  renew: boolean;
}

export async function addCluster(api: KubeApi, name: ClusterName, options: AddOptions): Promise<Enrolment> {
  const existing = await find(api, name);
  if (existing !== undefined && !options.renew)
    throw new ConfigError(`cluster ${name} is enrolled already; --renew gives it new keys and forgets its identity`);
  const enrolment = enrol(name, options.managerKey ?? (await managerKey(api)), options.redis);
  const { publicKey } = enrolment;
  if (existing === undefined) {
    await api.create(workerClusters, undefined, {
      apiVersion: "jobferry.dev/v1alpha1",
      kind: "WorkerCluster",
      metadata: { name, labels: { ...options.labels } },
      spec: { publicKey },
    });
  } else {
    // The identity last: with the old key nobody can claim the place in between.
    const renewed = { metadata: { labels: options.labels }, spec: { publicKey, nextPublicKey: null } };
    await api.patch(workerClusters, { name }, { type: "merge", body: renewed });
    const body = { status: { clusterID: null } };
    await api.patch(workerClusters, { name }, { type: "merge", body }, { subresource: "status" });
  }
  return enrolment;
}

async function managerKey(api: KubeApi): Promise<string> {
  try {
    const { data } = await api.get(secrets, MANAGER_SECRET);
    const pem = Buffer.from(data?.["key.pem"] ?? "", "base64").toString();
    return parseOwnKeys(pem)[0].publicKey.text;
  } catch (cause) {
    const why = (cause as Error).message;
    throw new ConfigError(`give the manager's public key with --manager-key: its Secret cannot be used (${why})`, {
      cause,
    });
  }
}

export function checkManagerKey(text: string): string {
  parsePublicKey(text);
  return text;
}

export interface ClusterRow {
  name: string;
  connected: string;
  ready: string;
  cordoned: boolean;
  draining: boolean;
  jobs: number;
  lastContact: string;
  agent: string;
}

export async function listClusters(api: KubeApi): Promise<ClusterRow[]> {
  const { items } = await api.list(workerClusters);
  return items.map(rowOf).sort((one, other) => (one.name < other.name ? -1 : 1));
}

function rowOf({ metadata, spec, status }: WorkerCluster): ClusterRow {
  return {
    name: metadata.name ?? "",
    connected: conditionOf(status, "Connected"),
    ready: conditionOf(status, "Ready"),
    cordoned: spec.cordoned ?? false,
    draining: spec.drain ?? false,
    jobs: status?.runningJobs ?? 0,
    lastContact: status?.lastContactTime ?? "never",
    agent: status?.agentVersion ?? "unknown",
  };
}

const conditionOf = (status: WorkerCluster["status"], wanted: string): string =>
  status?.conditions?.find(({ type }) => type === wanted)?.status ?? "Unknown";

/** cordon: nothing new. drain: what runs is handed over too. uncordon: neither. */
const SETTINGS = {
  cordon: { cordoned: true },
  uncordon: { cordoned: false, drain: false },
  drain: { cordoned: true, drain: true },
} as const;
export type Setting = keyof typeof SETTINGS;

export async function setCluster(api: KubeApi, name: ClusterName, setting: Setting): Promise<ClusterRow> {
  const body = { spec: SETTINGS[setting] };
  return rowOf(await known(name, api.patch(workerClusters, { name }, { type: "merge", body })));
}

/** Its Jobs are placed anew at once, whatever their onClusterLost says: for a cluster that is known not to come back. */
export async function forgetCluster(api: KubeApi, name: ClusterName, force: boolean): Promise<ClusterRow> {
  const row = rowOf(await known(name, api.get(workerClusters, { name })));
  if (row.connected === "True" && !force)
    throw new ConfigError(
      `cluster ${name} is connected and would go on running its Jobs; drain it first, or say --force`,
    );
  await known(name, api.delete(workerClusters, { name }));
  return row;
}

async function known<T>(name: ClusterName, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ConfigError(`there is no cluster ${name}; jobferry cluster list shows those there are`, { cause: error });
  }
}

async function find(api: KubeApi, name: ClusterName): Promise<WorkerCluster | undefined> {
  try {
    return await api.get(workerClusters, { name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
