import type { TestCluster } from "./test-cluster.ts";

export interface NodeOptions {
  name?: string;
  cpu?: string;
  memory?: string;
  pods?: number;
}

const LABELS = { "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" };

/** Registers ready nodes that no kubelet stands behind. */
export async function createNodes(cluster: Pick<TestCluster, "request">, nodes: readonly NodeOptions[]): Promise<void> {
  for (const [index, node] of nodes.entries()) {
    const name = node.name ?? `node-${index + 1}`;
    const resources = { cpu: node.cpu ?? "64", memory: node.memory ?? "256Gi", pods: String(node.pods ?? 100_000) };
    const status = {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: "Ready", status: "True", reason: "Test", lastTransitionTime: new Date().toISOString() }],
    };
    const send = async (method: string, path: string, type: string, body: object): Promise<void> => {
      const response = await cluster.request(path, {
        method,
        headers: { "content-type": type },
        body: JSON.stringify(body),
      });
      if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    };
    await send("POST", "/api/v1/nodes", "application/json", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { ...LABELS, "kubernetes.io/hostname": name } },
    });
    await send("PATCH", `/api/v1/nodes/${name}/status`, "application/merge-patch+json", { status });
  }
}
