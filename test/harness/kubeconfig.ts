import { writeFile } from "node:fs/promises";
import { parse } from "yaml";

export interface Access {
  server: string;
  /** PEM; absent means the server's certificate is not checked. */
  ca?: string;
  token: string;
  namespace?: string;
}

/** JSON is YAML too: what every client reads, without a YAML writer. */
export async function writeKubeconfig(path: string, access: Access): Promise<void> {
  const trust =
    access.ca === undefined
      ? { "insecure-skip-tls-verify": true }
      : { "certificate-authority-data": Buffer.from(access.ca).toString("base64") };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: access.server, ...trust } }],
    users: [{ name: "test", user: { token: access.token } }],
    contexts: [
      {
        name: "test",
        context: {
          cluster: "test",
          user: "test",
          ...(access.namespace === undefined ? {} : { namespace: access.namespace }),
        },
      },
    ],
    "current-context": "test",
  };
  await writeFile(path, JSON.stringify(config, null, 2), { mode: 0o600 });
}

/** The way in that a kubeconfig with one context describes. */
export function readAccess(kubeconfig: string): Access {
  const parsed = parse(kubeconfig) as {
    clusters: [{ cluster: { server: string; "certificate-authority-data"?: string } }];
    users: [{ user: { token?: string } }];
  };
  const { server, "certificate-authority-data": ca } = parsed.clusters[0].cluster;
  return {
    server,
    token: parsed.users[0].user.token ?? "",
    ...(ca === undefined ? {} : { ca: Buffer.from(ca, "base64").toString() }),
  };
}
