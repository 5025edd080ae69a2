import { createHash, randomBytes } from "node:crypto";
import type { KubeObject } from "@jobferry/shared/kube/api.ts";
import { formatPrivateKey, generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import { aclForCluster, clusterUser } from "@jobferry/shared/queue/acl.ts";
import { redisUrlFor } from "@jobferry/shared/queue/redis-url.ts";

export interface Enrolment {
  /** For the WorkerCluster on the hub. */
  readonly publicKey: string;
  /** For the worker: `kubectl apply -f`, beside deploy/worker. */
  readonly secret: KubeObject & { stringData: Record<string, string> };
  /** For whoever administers Redis; holds the password's hash only. */
  readonly acl: string;
}

/** Redis as the worker reaches it. */
export interface RedisPlace {
  readonly url: string;
  readonly mode?: "single" | "sentinel" | "cluster";
  readonly sentinelMaster?: string;
  /** The authority of its certificate, in PEM. */
  readonly ca?: string | undefined;
}

/** New keys and a new Redis password for one worker cluster. The private halves are nowhere but in the Secret. */
export function enrol(cluster: ClusterName, managerKey: string, redis: RedisPlace): Enrolment {
  const { privateKey, publicKey } = generateKeyPair();
  const password = randomBytes(24).toString("base64url");
  const hash = createHash("sha256").update(password).digest("hex");
  return {
    publicKey: publicKey.text,
    secret: {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "jobferry-agent", namespace: "jobferry-system" },
      stringData: {
        cluster,
        "manager-key": managerKey,
        "key.pem": formatPrivateKey(privateKey),
        "redis-url": redisUrlFor(redis.url, clusterUser(cluster)),
        ...(redis.mode === undefined || redis.mode === "single" ? {} : { "redis-mode": redis.mode }),
        ...(redis.mode === "sentinel" ? { "redis-sentinel-master": redis.sentinelMaster ?? "mymaster" } : {}),
        ...(redis.ca === undefined ? {} : { "redis-ca.crt": redis.ca, "redis-ca-file": "/etc/jobferry/redis-ca.crt" }),
        "redis-password": password,
      },
    },
    acl: ["ACL SETUSER", clusterUser(cluster), ...aclForCluster(cluster), `#${hash}`].join(" "),
  };
}
