import { join } from "node:path";
import { type Access, writeKubeconfig } from "./kubeconfig.ts";
import type { TestCluster } from "./test-cluster.ts";

interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: string[];
}

export interface ServiceAccountOptions {
  name: string;
  namespace?: string;
  /** Granted in the account's namespace. */
  rules?: PolicyRule[];
  /** Granted in every namespace and on cluster-scoped resources. */
  clusterRules?: PolicyRule[];
  /** Names of roles that exist already, granted cluster-wide. */
  clusterRoles?: string[];
}

/** Creates a service account with just these rights and writes a kubeconfig that acts as it. */
export async function serviceAccountKubeconfig(
  cluster: Pick<TestCluster, "request">,
  admin: Access,
  directory: string,
  options: ServiceAccountOptions,
): Promise<string> {
  const { name, namespace = "default" } = options;
  const create = async (path: string, body: object): Promise<unknown> => {
    const response = await cluster.request(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (response.status >= 300) throw new Error(`POST ${path}: ${response.status} ${response.text}`);
    return response.json;
  };
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const unique = `${namespace}-${name}`;
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  const roleRef = (kind: string, role: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name: role });

  await create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  if (options.rules !== undefined) {
    await create(`${rbac}/namespaces/${namespace}/roles`, { metadata: { name }, rules: options.rules });
    const binding = { metadata: { name }, subjects, roleRef: roleRef("Role", name) };
    await create(`${rbac}/namespaces/${namespace}/rolebindings`, binding);
  }
  if (options.clusterRules !== undefined)
    await create(`${rbac}/clusterroles`, { metadata: { name: unique }, rules: options.clusterRules });
  const clusterRoles = [...(options.clusterRoles ?? []), ...(options.clusterRules === undefined ? [] : [unique])];
  for (const role of clusterRoles)
    await create(`${rbac}/clusterrolebindings`, {
      metadata: { name: `${unique}-${role}` },
      subjects,
      roleRef: roleRef("ClusterRole", role),
    });

  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } };
  const granted = await create(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, request);
  const path = join(directory, `kubeconfig-${unique}`);
  await writeKubeconfig(path, {
    ...admin,
    namespace,
    token: (granted as { status: { token: string } }).status.token,
  });
  return path;
}
