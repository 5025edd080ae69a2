/** Enrols clusters that are made up for a measure, without a process of the command line for each. */
import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { formatPrivateKey, generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { aclForCluster, clusterUser } from "@jobferry/shared/queue/acl.ts";
import type { RealFleet } from "@jobferry/test/e2e/dispatch/real-fleet.ts";

const PASSWORD = "for-benchmarks-only";

/** All that an agent needs, as plain data: it may run in another process. */
export interface Enrolled {
  readonly name: string;
  readonly key: string;
  readonly managerKey: string;
  /** With user and password. */
  readonly redisUrl: string;
}

export async function enrol(fleet: RealFleet, name: string, spec: { maxJobs?: number } = {}): Promise<Enrolled> {
  const cluster = parseClusterName(name);
  const user = clusterUser(cluster);
  const keys = generateKeyPair();
  await fleet.redis.acl("SETUSER", user, ...aclForCluster(cluster), `>${PASSWORD}`);
  await fleet.hub.api.create(workerClusters, undefined, {
    apiVersion: "jobferry.dev/v1alpha1",
    kind: "WorkerCluster",
    metadata: { name },
    spec: { publicKey: keys.publicKey.text, ...spec },
  });
  const url = new URL(fleet.redisUrl);
  url.username = user;
  url.password = PASSWORD;
  const key = formatPrivateKey(keys.privateKey);
  return { name, key, managerKey: fleet.managerKey, redisUrl: url.href };
}
