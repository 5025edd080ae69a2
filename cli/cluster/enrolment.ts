import { createHash, randomBytes } from "node:crypto";
import type { KubeObject } from "@jobferry/shared/kube/api.ts";
import { formatPrivateKey, generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import { aclForCluster, clusterUser } from "@jobferry/shared/queue/acl.ts";

export interface Enrolment {
  /** For the WorkerCluster on the hub. */
  readonly publicKey: string;
  /** For the worker: `kubectl apply -f`, beside deploy/worker. */
  readonly secret: KubeObject & { stringData: Record<string, string> };
  /** For whoever administers Redis; holds the password's hash only. */
  readonly acl: string;
}

/** New keys and a new Redis password for one worker cluster. The private halves are nowhere but in the Secret. */
export function enrol(cluster: ClusterName, managerKey: string, redisUrl: string): Enrolment {
  const { privateKey, publicKey } = generateKeyPair();
  const password = randomBytes(24).toString("base64url");
  const url = new URL(redisUrl);
  url.username = clusterUser(cluster);
  url.password = "";
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
        "redis-url": url.href,
        "redis-password": password,
      },
    },
    acl: ["ACL SETUSER", clusterUser(cluster), ...aclForCluster(cluster), `#${hash}`].join(" "),
  };
}
